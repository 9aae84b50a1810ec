"""Example tables: monthly temperatures of the 48 contiguous US states, and where the states are.

README.md beside this file names the sources. Loading checks that the files are unchanged.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from wdro_cvx.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

_FOLDER = Path(__file__).parent
#: Monthly means in °F, with the columns ``year`` and ``month``.
TEMPERATURES = _FOLDER / "us48_nclimdiv_monthly_tavgF_2000_2024.csv"
#: Names, latitudes and longitudes.
CENTROIDS = _FOLDER / "us48_state_centroids.csv"
_DIGESTS = {
    TEMPERATURES: "b3e66b74408f18467c5d6ab53acd69b10bd269eca54d42021a2c158ea0c75937",
    CENTROIDS: "62f04dfe967d3aadaca1aef6b069f9a8ada46dccdaf02dd3a489bebc28b341a6",
}


def check_files() -> None:
    """Raise DataError if a packaged file has changed."""
    for path, expected in _DIGESTS.items():
        if hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            raise DataError(f"{path} differs from the packaged file. Install the package again.")


def state_anomalies() -> pd.DataFrame:
    """Return how much warmer each month was than usual, by state, in °F.

    The mean of each calendar month is subtracted, so seasons do not dominate.

    Returns
    -------
    DataFrame (299, 48)
        January 2000 to November 2024, one month per row and one state per column.

    Raises
    ------
    DataError
        If a packaged file has changed.

    Examples
    --------
    >>> from wdro_cvx.examples import state_anomalies
    >>> X = state_anomalies()
    >>> X.shape, round(float(X["Ohio"].iloc[0]), 1)  # January 2000 was cold in Ohio
    ((299, 48), -2.2)
    """
    import pandas as pd  # slow to import, and only needed here

    check_files()
    table = pd.read_csv(TEMPERATURES)
    days = table[["year", "month"]].assign(day=1)
    table = table.drop(columns=["year", "month"]).set_index(pd.to_datetime(days).rename("month"))
    return table - table.groupby(pd.DatetimeIndex(table.index).month).transform("mean")


def state_places() -> pd.DataFrame:
    """Return the latitude and longitude of each state's centroid, in degrees.

    Returns
    -------
    DataFrame (48, 2)
        The columns ``lat`` and ``lon``, by the name of the state.

    Raises
    ------
    DataError
        If a packaged file has changed.

    Examples
    --------
    >>> from wdro_cvx.examples import state_places
    >>> state_places().loc["Ohio"].round(1).tolist()
    [40.4, -82.7]
    """
    import pandas as pd  # slow to import, and only needed here

    check_files()
    return pd.read_csv(CENTROIDS, index_col="state")
