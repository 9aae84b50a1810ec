"""Draw graphs with coloured communities, and maps to draw them on."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from experiments.drawing.style import COLOURS, GREY
from solvers.learned import drawing
from wdro_cvx.validation import Array

#: The number of communities with a colour; smaller communities are grey.
_COLOURED = 7
#: The margin of a map: a share of the larger side, plus degrees. The coast must fit inside.
MARGIN, DEGREES = 0.08, 0.5
#: A box around the contiguous United States: south, north, west, east.
_STATES = (24.0, 50.0, -126.0, -66.0)
#: Packages with outlines, and the files in them.
_STATE_FILES = ("hvsampledata", "_data/us_states.geojson")
_COUNTRY_FILES = ("countryinfo", "data/*.json")

Weights: TypeAlias = Array | sparse.csr_array


def match_labels(labels: Array, reference: Array) -> Array:
    """Rename communities so that a colour has the same meaning in two pictures.

    Parameters
    ----------
    labels, reference : arrays (d,)
        Communities of the same vertices.

    Returns
    -------
    array (d,)
        ``labels``, renamed to the reference communities that share most vertices with them. A
        community without a partner gets a new name.

    Examples
    --------
    >>> import numpy as np
    >>> match_labels(np.array([0.0, 0.0, 1.0]), np.array([1.0, 1.0, 0.0]))
    array([1., 1., 0.])
    """
    own, others = np.unique(labels), np.unique(reference)
    shared = np.array([[np.sum((labels == a) & (reference == b)) for b in others] for a in own])
    rows, columns = linear_sum_assignment(-shared)
    paired = {own[r]: others[c] for r, c in zip(rows, columns, strict=True) if shared[r, c]}
    fresh = iter(range(int(others.max()) + 1, int(others.max()) + 1 + len(own)))
    names = {label: paired[label] if label in paired else float(next(fresh)) for label in own}
    return np.array([names[label] for label in labels])


def community_colour(label: float) -> str:
    """Return the colour of a community; from the eighth on it is grey."""
    return COLOURS[int(label)] if label < _COLOURED else GREY


def draw_edges(axes: Axes, adjacency: Weights, labels: Array, points: Array) -> None:
    """Draw vertices in the colours of their communities, and edges as wide as their weights.

    Parameters
    ----------
    axes : matplotlib axes
    adjacency : array or sparse array (d, d)
    labels : array (d,)
        The community of every vertex.
    points : array (d, 2)
    """
    drawing.draw_edges(axes, adjacency, points, [community_colour(label) for label in labels])


def frame_map(
    axes: Axes, points: Array, outlines: Sequence[Array] = (), degrees: bool = True
) -> None:
    """Set up a map around the points, in the equirectangular projection at its middle latitude.

    Points that are not in ``degrees`` are x and y coordinates in a plane.
    """
    margin = MARGIN * np.ptp(points, axis=0).max() + (DEGREES if degrees else 0.0)
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    for outline in outlines:
        axes.plot(*outline.T, color="#BBBBBB", linewidth=0.6, zorder=1)
    words = ("longitude (degrees)", "latitude (degrees)") if degrees else ("x", "y")
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel=words[0], ylabel=words[1])
    if not degrees:
        axes.set_aspect("equal")
        return
    # Stay away from the poles, where a degree of longitude has no length.
    middle = np.radians(np.clip((low[1] + high[1]) / 2, -85.0, 85.0))
    axes.set_aspect(1.0 / np.cos(middle))
    axes.grid(color="#EEEEEE", linewidth=0.5)


def nearby_outlines(latitude: Array, longitude: Array) -> list[Array]:
    """Return outlines near the places: US states if all places are there, otherwise countries.

    They come from optional packages; without them there are none.
    """
    south, north = float(latitude.min()), float(latitude.max())
    west, east = float(longitude.min()), float(longitude.max())
    in_states = (
        _STATES[0] <= south and north <= _STATES[1] and _STATES[2] <= west and east <= _STATES[3]
    )
    low, high = np.array([west - 2, south - 2]), np.array([east + 2, north + 2])
    return [
        shape
        for shape in _shapes(*(_STATE_FILES if in_states else _COUNTRY_FILES))
        if (shape.max(axis=0) >= low).all() and (shape.min(axis=0) <= high).all()
    ]


def _shapes(package: str, pattern: str) -> list[Array]:
    """Return the outlines in the files of a package, without importing it."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        return []
    files = sorted(Path(found.submodule_search_locations[0]).glob(pattern))
    contents = [json.loads(path.read_text("utf-8")) for path in files]
    return [ring for content in contents for ring in _rings(content.get("geoJSON", content))]


def _rings(collection: dict[str, Any]) -> list[Array]:
    """Return the rings of all polygons of a GeoJSON collection."""
    rings: list[Array] = []
    for feature in collection.get("features", []):
        geometry = feature.get("geometry") or {}
        polygons = geometry.get("coordinates", [])
        if geometry.get("type") == "Polygon":
            polygons = [polygons]
        rings += [np.asarray(ring, dtype=float)[:, :2] for polygon in polygons for ring in polygon]
    return rings
