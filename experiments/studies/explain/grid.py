"""What the paper leaves open, as a grid; and the conditions of its tables and figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wdro_cvx import AmbiguitySet, GaussianBall, MomentBall, Singleton

SIMILARITY, BLOCKS = "similarity", "blocks"
SAA, GAUSSIAN, GENERAL = "SAA", "WDRO Gaussian", "p = 2"
#: What the figures and Table 3 compare; Table 2 has the other norms.
COMPARED = (SAA, GAUSSIAN, GENERAL)
NORMS = {
    "p = 1": 1.0, "p = 4/3": 4 / 3, "p = 3/2": 1.5, "p = 2": 2.0, "p = 3": 3.0, "p = 4": 4.0,
}  # fmt: skip

#: ``scaled``: Tr L = d before the signals are drawn; ``raw``: the weights as the kernel gives them.
SCALES = ("scaled", "raw")
ETAS = (0.03, 0.06, 0.1, 0.2, 0.3, 0.6)
#: One set of candidates for every norm, as the paper's words suggest; a setting may cut it short.
RADII = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
#: Small norms need larger radii for the same effect; the cap ``inf`` lets them have these too.
_FURTHER = {"p = 1": (50.0, 100.0, 200.0), "p = 4/3": (50.0,), "p = 3/2": (50.0,)}
#: Of signals, not of moments: beyond 5 the Gaussian scenario hardly looks at the data.
_GAUSSIAN_RADII = RADII[2:7]
CAPS = (0.5, 1.0, 2.0, 5.0, 20.0, np.inf)
THRESHOLDS = (1e-4, 1e-3, 1e-2)

NOISE = 0.1
D = 20
SIZES = (20, 50, 100, 200, 1000)
TABLE_2_SIZES = (50, 100, 200, 1000)
NOISES = (0.4, 0.8)
NOISE_N = 100
BLOCK_SIZES = (80, 100, 150, 200, 500, 1000)
PLANTED = (15, 15, 15)
RELIABILITY_N = 50


@dataclass(frozen=True)
class Condition:
    """How many samples, and how noisy."""

    n: int
    noise: float = NOISE

    @property
    def key(self) -> str:
        """A name that a file can hold."""
        return f"{self.n}/{self.noise:g}"


@dataclass(frozen=True)
class Job:
    """One random graph with everything that is tried on it.

    Attributes
    ----------
    kind : str
        ``similarity`` (RBF, 20 vertices) or ``blocks`` (45 vertices).
    trial, seed : int
    scale : str
    etas, norm_etas : tuple of float
        The etas that the Gaussian scenario and p = 2, and the other norms, are tried with; SAA is
        tried with all.
    blind : bool
        Whether to learn from two thirds of the signals too, for choices that see no truth.
    """

    kind: str
    trial: int
    seed: int
    scale: str
    etas: tuple[float, ...]
    norm_etas: tuple[float, ...]
    blind: bool


def radii(model: str) -> tuple[float, ...]:
    """Return the candidates of a model, ascending; SAA has none."""
    if model == SAA:
        return (0.0,)
    return _GAUSSIAN_RADII if model == GAUSSIAN else RADII + _FURTHER.get(model, ())


def ball(model: str, radius: float) -> AmbiguitySet:
    """Return the ambiguity set of a model."""
    if model == SAA:
        return Singleton()
    return GaussianBall(radius) if model == GAUSSIAN else MomentBall(radius, p=NORMS[model])


def conditions(kind: str) -> list[Condition]:
    """Return the conditions under which graphs of a kind are learned."""
    if kind == BLOCKS:
        return [Condition(n) for n in BLOCK_SIZES]
    return [Condition(n) for n in SIZES] + [Condition(NOISE_N, noise) for noise in NOISES]


def models(kind: str, condition: Condition) -> list[str]:
    """Return the models that a condition is about: Table 2 has every norm."""
    table_2 = kind == SIMILARITY and condition.noise == NOISE and condition.n in TABLE_2_SIZES
    return [SAA, GAUSSIAN, *(NORMS if table_2 else [GENERAL])]
