"""Recognise numbers that stand for missing values, such as -999."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.validation import Array

#: Numbers that often stand for a missing value.
_CODES = (-99999.0, -9999.0, -999.0, -99.0, 9999.0, 99999.0)
_OFTEN = 3  # occurrences from which a number far outside the rest is reported as a code


def suspected_codes(table: Array) -> dict[float, int]:
    """Return common codes that are the smallest or largest number and occur repeatedly.

    Parameters
    ----------
    table : array (N, d)
        Missing values are NaN.

    Returns
    -------
    dict of float to int
        The codes, and how often each occurs.
    """
    if np.isnan(table).all():
        return {}
    ends = {float(np.nanmin(table)), float(np.nanmax(table))}
    counts = {code: int(np.count_nonzero(table == code)) for code in _CODES if code in ends}
    return {code: count for code, count in counts.items() if count > 1}


def say_code(code: float, count: int, remedy: str) -> str:
    """Return a sentence about a suspected code."""
    return (
        f"{code:g} is there {count} times and was read as a number; if it stands for a missing "
        f"value, use {remedy}."
    )


def describe_codes(table: Array) -> list[str]:
    """Return remarks on codes that occur often and lie far outside the rest."""
    return [
        say_code(code, count, f"X.replace({code:g}, np.nan)")
        for code, count in suspected_codes(table).items()
        if count >= _OFTEN and _lies_outside(table, table == code)
    ]


def _lies_outside(table: Array, coded: NDArray[np.bool_]) -> bool:
    """Return whether, in some column, codes are further away than the other values are apart."""
    for place in np.flatnonzero(coded.any(axis=0)):
        column = table[:, place]
        others = column[~coded[:, place] & ~np.isnan(column)]
        if others.size and np.abs(others - column[coded[:, place]][0]).min() > np.ptp(others):
            return True
    return False
