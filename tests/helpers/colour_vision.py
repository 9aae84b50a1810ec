"""How colours look to normal and to colour-blind eyes, and how far apart they are."""

import numpy as np
from matplotlib.colors import to_rgb

# Machado, Oliveira and Fernandes (2009), severity 1, in linear RGB.
_SEEN = {
    "normal": np.eye(3),
    "deuteranopia": np.array([
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]),
    "protanopia": np.array([
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ]),
}  # fmt: skip
_TO_XYZ = np.array([
    [0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505],
])  # fmt: skip
_WHITE = _TO_XYZ.sum(axis=1)


def lab(colour, sight="normal"):
    """Return a colour in CIELAB, as seen with a kind of colour vision."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    share = _TO_XYZ @ np.clip(_SEEN[sight] @ linear, 0.0, 1.0) / _WHITE
    x, y, z = np.where(share > 0.008856, np.cbrt(share), 7.787 * share + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def apart(first, second, sight="normal"):
    """Return the distance of two colours; 2 is just noticeable, more than 10 is obvious."""
    return float(np.linalg.norm(lab(first, sight) - lab(second, sight)))
