"""Read the places of the vertices: degrees on the globe, or x and y."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from experiments.learn.numbers import read_numbers
from experiments.learn.reading import open_rows, some
from experiments.measuring.text import parse_number
from wdro_cvx import DataError
from wdro_cvx.validation import Array

#: Accepted names of the columns; the first complete pair is used.
_PAIRS = (
    (("lat", "latitude"), ("lon", "lng", "long", "longitude")),
    (("y", "northing"), ("x", "easting")),
)


@dataclass(frozen=True, eq=False)
class Places:
    """Coordinates of the vertices: degrees on the globe or, if ``degrees`` is false, y and x.

    ``columns`` holds the other columns of numbers, by name.
    """

    latitude: Array
    longitude: Array
    degrees: bool = True
    columns: Mapping[str, Array] = field(default_factory=dict)

    @property
    def points(self) -> Array:
        """The positions of the vertices (d, 2): longitude and latitude, or x and y."""
        return np.column_stack([self.longitude, self.latitude])

    @property
    def arrays(self) -> tuple[Array, Array]:
        """Latitudes and longitudes."""
        return self.latitude, self.longitude


def load_places(path: Path, names: Sequence[str], decimal: str = ".") -> Places:
    """Read the coordinates of vertices.

    Parameters
    ----------
    path : Path
        A table with a column of names, and lat and lon or x and y.
    names : sequence of str
        The vertices. Each must have one row; other rows are ignored.
    decimal : str
        The decimal mark.

    Returns
    -------
    Places

    Raises
    ------
    DataError
        If a column or a vertex is missing, or a coordinate is impossible.
    """
    header, rows = open_rows(path, decimal)
    columns, degrees = _columns(path, header)
    others = [place for place in range(len(header)) if place not in columns]
    if not others:
        raise DataError(f"{path} needs the columns name, lat, lon; there is no name.")
    label = others[0]
    lines: dict[str, tuple[int, list[str]]] = {}
    for number, row in rows:
        if row[label] in lines:
            raise DataError(f"{path} has two rows for {row[label]!r}; a vertex has one place.")
        lines[row[label]] = number, row
    cells = ((number, [row[place] for place in columns]) for number, row in lines.values())
    found = read_numbers(path, [header[place] for place in columns], cells, decimal, options=())
    absent = [name for name in names if name not in lines]
    if absent:
        raise DataError(
            f"{path} has no coordinates for {len(absent)} of {len(names)} vertices: "
            f"{some(absent)}. Names must match the table's header exactly."
        )
    at = {name: place for place, name in enumerate(lines)}
    points = found[[at[name] for name in names]]
    if np.isnan(points).any():
        raise DataError(f"{path} lacks a coordinate; fill it in.")
    if degrees and (np.abs(points[:, 0]).max() > 90 or np.abs(points[:, 1]).max() > 360):
        raise DataError(f"{path} has a latitude beyond ±90 or a longitude beyond ±360 degrees.")
    if not degrees and np.abs(points).max() > 1e12:
        raise DataError(f"{path} has a coordinate beyond 1e12; measure it in another unit.")
    further = {}
    for place in others[1:]:
        values = [parse_number(lines[name][1][place]) for name in names]
        # These columns are optional, so words or missing values are not errors.
        if all(value is not None and np.isfinite(value) for value in values):
            further[header[place]] = np.array(values, float)
    return Places(points[:, 0], points[:, 1], degrees, further)


def _columns(path: Path, header: Sequence[str]) -> tuple[tuple[int, int], bool]:
    """Return the columns of the coordinates, north first, and whether they are degrees."""
    lower = [name.lower() for name in header]
    for pair in _PAIRS:
        found = [[lower.index(name) for name in names if name in lower] for names in pair]
        if all(found):
            return (found[0][0], found[1][0]), pair is _PAIRS[0]
    half = [names[0] for names in _PAIRS[0] if not any(name in lower for name in names)]
    missing = "lat" if len(half) == 2 else half[0]
    raise DataError(
        f"{path} needs the columns name, lat, lon (or name, x, y); there is no {missing!r}."
    )
