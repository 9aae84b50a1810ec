"""Monthly temperatures of the 48 contiguous states (NOAA nClimDiv), as the paper's Figure 9 has it.

The tables are package data; data/README.md tells their source, and loading checks them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from experiments.learn.loading import Layout, SignalTable, load_signals
from experiments.learn.places import load_places
from experiments.learn.reading import open_rows
from experiments.studies.temperature.stations import Stations
from wdro_cvx import DataError

_FOLDER = Path(__file__).parent / "data"
TEMPERATURES = _FOLDER / "us48_nclimdiv_monthly_tavgF_2000_2024.csv"
CENTROIDS = _FOLDER / "us48_state_centroids.csv"
DIGESTS = {
    TEMPERATURES.name: "b3e66b74408f18467c5d6ab53acd69b10bd269eca54d42021a2c158ea0c75937",
    CENTROIDS.name: "62f04dfe967d3aadaca1aef6b069f9a8ada46dccdaf02dd3a489bebc28b341a6",
}
#: As many signals as the paper has; its own are weeks of 2019 and 2020.
MONTHS = 60
_STATES = 48
#: What monthly means (°F) and places (degrees) of the contiguous states lie within.
_COLDEST, _WARMEST = -20.0, 100.0
_SOUTH, _NORTH, _WEST, _EAST = 25.0, 49.0, -125.0, -67.0


def load_states(temperatures: Path = TEMPERATURES, centroids: Path = CENTROIDS) -> Stations:
    """Return the latest 60 months of the 48 states, checked."""
    for path in (temperatures, centroids):
        if path.parent == _FOLDER and digest(path) != DIGESTS[path.name]:
            raise DataError(f"{path} is not what it was packed as. Install the package again.")
    table = load_signals(temperatures, Layout(ignore=("year", "month"), missing="error"))
    places = load_places(centroids, table.names)
    check_months(temperatures)
    signals = table.signals
    if signals.shape[1] != _STATES or not (
        (signals >= _COLDEST).all() and (signals <= _WARMEST).all()
    ):
        raise DataError(
            f"{temperatures} has {signals.shape[1]} columns between {signals.min():g} and "
            f"{signals.max():g} °F; {_STATES} states between {_COLDEST:g} and {_WARMEST:g} are "
            "expected. Restore the file from the package."
        )
    inside = (places.latitude >= _SOUTH) & (places.latitude <= _NORTH)
    inside &= (places.longitude >= _WEST) & (places.longitude <= _EAST)
    if not inside.all():
        name = table.names[int(np.argmin(inside))]
        raise DataError(
            f"{centroids} puts {name} outside the contiguous states. Restore the file from the "
            "package."
        )
    return Stations(SignalTable(table.names, signals[-MONTHS:]), places, None)


def check_months(path: Path) -> None:
    """Refuse a table that leaves out a month."""
    header, numbered = open_rows(path)
    rows = [row for _, row in numbered]
    year, month = header.index("year"), header.index("month")
    months = np.array([12 * int(row[year]) + int(row[month]) for row in rows])
    if (np.diff(months) != 1).any():
        gap = rows[int(np.argmax(np.diff(months) != 1))]
        raise DataError(
            f"{path} does not go on by one month after {gap[year]}-{gap[month]}. Restore the file "
            "from the package."
        )


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
