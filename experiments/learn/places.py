"""Where the vertices are: degrees on the globe, or x and y."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from experiments.learn.numbers import Cells, some
from experiments.learn.reading import open_rows
from experiments.measuring.text import parse_number
from wdro_cvx import DataError
from wdro_cvx.validation import Array

#: What the columns may be called; the first pair of which both are there is taken.
_PAIRS = (
    (("lat", "latitude"), ("lon", "lng", "long", "longitude")),
    (("y", "northing"), ("x", "easting")),
)


@dataclass(frozen=True, eq=False)
class Places:
    """Coordinates of the vertices in their order, in degrees or, ``degrees`` false, y and x.

    ``columns`` are the other columns of numbers, by name.
    """

    latitude: Array
    longitude: Array
    degrees: bool = True
    columns: Mapping[str, Array] = field(default_factory=dict)

    @property
    def arrays(self) -> tuple[Array, Array]:
        """Latitudes and longitudes."""
        return self.latitude, self.longitude


def load_places(path: Path, names: Sequence[str], decimal: str = ".") -> Places:
    """Read coordinates: a column with names, and lat and lon or x and y; every vertex its row."""
    header, rows = open_rows(path, decimal)
    columns, degrees = _columns(path, header)
    others = [place for place in range(len(header)) if place not in columns]
    if not others:
        raise DataError(f"{path} needs the columns name, lat, lon; there is no name.")
    label = others[0]
    cells = Cells(path, [header[place] for place in columns], decimal)
    by_name: dict[str, Array] = {}
    further: dict[str, list[float | None]] = {}
    for number, row in rows:
        if row[label] in by_name:
            raise DataError(f"{path} has two rows for {row[label]!r}; a vertex has one place.")
        by_name[row[label]] = cells.numbers(number, [row[place] for place in columns])
        further[row[label]] = [parse_number(row[place]) for place in others[1:]]
    cells.check()
    absent = [name for name in names if name not in by_name]
    if absent:
        raise DataError(
            f"{path} has no coordinates for {len(absent)} of {len(names)} vertices: "
            f"{some(absent)}. Names must match the table's header exactly."
        )
    points = np.array([by_name[name] for name in names])
    if np.isnan(points).any():
        raise DataError(f"{path} lacks a coordinate; fill it in.")
    if degrees and (np.abs(points[:, 0]).max() > 90 or np.abs(points[:, 1]).max() > 360):
        raise DataError(f"{path} has a latitude beyond ±90 or a longitude beyond ±360 degrees.")
    if not degrees and np.abs(points).max() > 1e12:
        raise DataError(f"{path} has a coordinate beyond 1e12; measure it in another unit.")
    # Words and gaps are no numbers, and no error: nobody asked for these columns.
    kept = {
        header[place]: np.array(cells, float)
        for place, *cells in zip(others[1:], *(further[name] for name in names), strict=True)
        if None not in cells and np.isfinite(np.array(cells, float)).all()
    }
    return Places(points[:, 0], points[:, 1], degrees, kept)


def _columns(path: Path, header: Sequence[str]) -> tuple[tuple[int, int], bool]:
    """Return where the coordinates are, north first, and whether they are degrees."""
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
