"""Load outlines of states and countries for maps from optional packages."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np

from wdro_cvx.validation import Array

#: A box around the contiguous United States: south, north, west, east.
_STATES = (24.0, 50.0, -126.0, -66.0)


def nearby_outlines(latitude: Array, longitude: Array) -> list[Array]:
    """Return outlines near the places: US states if all places are there, otherwise countries."""
    south, north = float(latitude.min()), float(latitude.max())
    west, east = float(longitude.min()), float(longitude.max())
    in_states = (
        _STATES[0] <= south and north <= _STATES[1] and _STATES[2] <= west and east <= _STATES[3]
    )
    shapes = _state_shapes() if in_states else _country_shapes()
    low, high = np.array([west - 2, south - 2]), np.array([east + 2, north + 2])
    return [
        shape
        for shape in shapes
        if (shape.max(axis=0) >= low).all() and (shape.min(axis=0) <= high).all()
    ]


def _state_shapes() -> list[Array]:
    folder = _folder("hvsampledata")
    if folder is None:
        return []
    return _rings(json.loads((folder / "_data" / "us_states.geojson").read_text("utf-8")))


def _country_shapes() -> list[Array]:
    folder = _folder("countryinfo")
    if folder is None:
        return []
    shapes: list[Array] = []
    for path in sorted((folder / "data").glob("*.json")):
        shapes += _rings(json.loads(path.read_text("utf-8")).get("geoJSON", {}))
    return shapes


def _folder(package: str) -> Path | None:
    """Return the folder of a package without importing it; only its data are needed."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0])


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
