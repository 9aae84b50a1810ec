"""Recognise columns that hold the time of an observation, which are no vertices.

Text is recognised by its form. Numbers are recognised by the name of their column and by their
values: a column ``time`` with measured durations is a vertex.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import product

import numpy as np
import pandas as pd

from experiments.learn.numbers import MISSING, is_dressed
from experiments.measuring.text import parse_number
from wdro_cvx.validation import Array

#: Names of columns that may hold the time of an observation.
TIME_COLUMNS = frozenset(
    ("date", "time", "datetime", "timestamp", "year", "quarter", "month", "week", "week_start",
     "week_end", "day", "hour", "period", "datum", "zeit", "jahr", "monat", "tag", "stunde")
)  # fmt: skip
#: What whole numbers of such columns are if they are in a range.
_PARTS = (
    (("year", "jahr", "date", "datum"), "years", 1000, 3000),
    (("quarter",), "quarters", 1, 4),
    (("month", "monat"), "months", 1, 12),
    (("week",), "weeks", 0, 53),
    (("day", "tag"), "days", 0, 366),
    (("hour", "stunde"), "hours", 0, 24),
)
_DAYS = (
    "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d-%b-%Y", "%d %b %Y", "%d %B %Y",
    "%b %d, %Y", "%B %d, %Y",
)  # fmt: skip
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_FORMS = tuple(day + clock for day, clock in product(_DAYS, _CLOCKS))
_QUARTER = re.compile(r"\d{4}[ -]?Q[1-4]|Q[1-4][ -]?\d{4}", re.IGNORECASE)
_MONTH = re.compile(r"(0?[1-9]|1[0-2])\.(19|20)\d\d")
_LONGEST = 40  # characters of a date
# Seconds since 1970, from 1973 to 2100, and the same in milli-, micro- and nanoseconds.
_EPOCH, _UNITS = (1e8, 4.2e9), (1.0, 1e3, 1e6, 1e9)
_RISING = 10  # rows from which decimals that always rise are a clock
_DIGITS = ("%Y%m%d", 19000101, 21001231), ("%Y%m", 190001, 210012)


def text_reason(name: str, cells: Sequence[str]) -> str:
    """Return why a column of text is no vertex, such as ``dates``; empty if it may be one.

    Parameters
    ----------
    name : str
        A name of :data:`TIME_COLUMNS` is enough for text, and empty if there is no name.
    cells : sequence of str
        The first cells.
    """
    first = [cell for cell in cells if cell.lower() not in MISSING]
    named = name.lower() in TIME_COLUMNS
    if not first:
        return ""
    if named and all(map(_MONTH.fullmatch, first)):
        return "dates"
    if any(parse_number(cell) is not None for cell in first):
        return ""
    if _are_dates(first):
        return "dates"
    return "text" if named and not any(map(is_dressed, first)) else ""


def number_reason(name: str, values: Array) -> str:
    """Return why a column of numbers is no vertex, such as ``years``; empty if it may be one.

    Parameters
    ----------
    name : str
    values : array (N,)
        The whole column; missing values are NaN.

    Examples
    --------
    >>> import numpy as np
    >>> number_reason("month", np.array([11.0, 12.0, 1.0]))
    'months'
    >>> number_reason("time", np.array([0.31, 0.17, 0.25]))
    ''
    """
    name, values = name.lower(), values[~np.isnan(values)]
    if name not in TIME_COLUMNS:
        return ""
    if not values.size:
        return "no values"
    low, high = float(values.min()), float(values.max())
    if any(_EPOCH[0] * unit <= low and high <= _EPOCH[1] * unit for unit in _UNITS):
        return "times since 1970"
    steps = np.diff(values)
    if np.any(values != np.round(values)):
        clock = values.size >= _RISING and (np.all(steps > 0.0) or np.all(steps < 0.0))
        return "times that rise or fall with every row" if clock else ""
    if _are_digits(values):
        return "dates"
    for names, what, least, most in _PARTS:
        if name in names and least <= low and high <= most:
            return what
    return "whole numbers that count" if _counts(values, steps) else ""


def _are_dates(cells: Sequence[str]) -> bool:
    """Return whether all cells are dates of one form."""
    if not all(len(cell) <= _LONGEST and any(map(str.isdigit, cell)) for cell in cells):
        return False
    if all(map(_QUARTER.fullmatch, cells)):
        return True
    if pd.to_datetime(pd.Series(cells), errors="coerce", format="ISO8601").notna().all():
        return True
    return any(all(_is_of_form(cell, form) for cell in cells) for form in _FORMS)


def _is_of_form(cell: str, form: str) -> bool:
    try:
        datetime.strptime(cell, form)
    except ValueError:
        return False
    return True


def _are_digits(values: Array) -> bool:
    """Return whether whole numbers are dates such as 20240131 or 202401."""
    return any(
        least <= values.min()
        and values.max() <= most
        and all(_is_of_form(f"{value:.0f}", form) for value in np.unique(values))
        for form, least, most in _DIGITS
    )


def _counts(values: Array, steps: Array) -> bool:
    """Return whether whole numbers never fall, or never rise, or count and begin again."""
    if not np.any(steps):
        return False
    if np.all(steps >= 0.0) or np.all(steps <= 0.0):
        return True
    low, high = values.min(), values.max()
    again = (values[:-1] == high) & (values[1:] == low)
    return bool(high > low + 1.0 and np.all(again | (steps == 1.0)))
