"""Recognise tables of numbers that may not suit a graph, and say what to do.

Row numbers, constant or equal columns, and columns in different units cause warnings: a graph can
be learned, but it may not be the intended one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from solvers.selection.preparation import ENOUGH, Prepared, column_spread
from solvers.selection.signals import Signals
from wdro_cvx.validation import Array

_COUNTED = 10  # rows from which a rising sequence of integers is a row number
#: Columns up to which all correlations are computed.
MOST_COMPARED = 1000
# A pair is opposite if its correlation is below minus the first number and one of two things holds:
# given all other columns, the correlation is below minus the second, or no correlation of one of
# the two is stronger. The ridge stabilises the inverse if there are few rows.
_OPPOSITE, _DIRECTLY, _RIDGE = 0.6, 0.4, 0.1
_NAMED, _PAIRS = 5, 3  # names and pairs that a sentence lists
_BALANCED = 0.1  # row sums count as equal below this share of the variance of independent columns
_MOVED = 0.005  # the change of the second moment from which it is mentioned
_FAR_APART = 10.0  # the ratio of two deviations from which units must differ
_MOSTLY = 0.9  # the share of missing or equal cells from which a column says little


class TableWarning(UserWarning):
    """The table may not suit a graph."""


def describe_table(signals: Signals, spread: Array, standardise: bool | str) -> list[str]:
    """Return remarks on a table before it is used.

    Parameters
    ----------
    signals : Signals
        As given.
    spread : array (d,)
        The deviations of the columns, without outliers if these are clipped.
    standardise : "auto" or bool

    Returns
    -------
    list of str
    """
    if len(signals) < 2:
        return []
    names = signals.labels
    said = []
    counting = [names[place] for place in np.flatnonzero(_row_numbers(signals))]
    if counting:
        said.append(
            f"{_listed(counting)} rises or falls by whole numbers with every row, like a row "
            "number or a year; drop it if it is not a vertex."
        )
    still = [names[place] for place in np.flatnonzero(spread == 0.0)]
    if still:
        one = len(still) == 1
        said.append(
            f"{_listed(still)} never {'changes, so it gets' if one else 'change, so they get'} no "
            f"edge; drop {'it' if one else 'them'}."
        )
    said += _describe_empty(signals, spread)
    ratio, low, high = _extremes(spread, names)
    if ratio > _FAR_APART and len(signals) >= ENOUGH and standardise is not True:
        done = (
            "all columns were divided by their standard deviations."
            if standardise == "auto"
            else "columns with large numbers dominate the graph. Use standardise=True."
        )
        said.append(
            f"The columns are in different units, or one is faulty: {high!r} varies "
            f"{ratio:.3g} times as much as {low!r}; {done}"
        )
    return said


def _extremes(spread: Array, names: Sequence[object]) -> tuple[float, object, object]:
    """Return the ratio of the largest to the smallest deviation, and the names of both columns."""
    moving = np.where(spread > 0.0, spread, np.nan)
    if np.isnan(moving).all():
        return 1.0, names[0], names[0]
    low, high = int(np.nanargmin(moving)), int(np.nanargmax(moving))
    return float(moving[high] / moving[low]), names[low], names[high]


def describe_scaling(signals: Signals, prepared: Prepared, standardise: bool | str) -> list[str]:
    """Return a remark if columns were standardised, though not far apart, because they vary."""
    ratio, low, high = _extremes(prepared.spread, signals.labels)
    if standardise != "auto" or not prepared.change.scales or ratio > _FAR_APART:
        return []
    return [
        f"The columns vary unequally ({high!r} {ratio:.3g} times as much as {low!r}), so all were "
        "divided by their standard deviations. If the sizes of their changes can be compared, "
        "standardise=False with X - X.mean() may give better edges."
    ]


def _describe_empty(signals: Signals, spread: Array) -> list[str]:
    """Return remarks on columns that are mostly missing, or mostly one value."""
    names, said = signals.labels, []
    missing = np.flatnonzero(signals.present.mean(axis=0) < 1.0 - _MOSTLY)
    if missing.size:
        fewest = int(signals.present[:, missing].sum(axis=0).min())
        said.append(
            f"{_listed([names[place] for place in missing])}: more than {_MOSTLY:.0%} of the cells "
            f"are missing ({fewest} are not). Their edges are unreliable; drop such "
            "columns, or check their edges."
        )
    same = (signals.table == np.median(signals.filled, axis=0)).mean(axis=0)
    rare = np.flatnonzero((same > _MOSTLY) & (spread > 0.0))
    if rare.size:
        said.append(
            f"{_listed([names[place] for place in rare])}: more than {_MOSTLY:.0%} of the cells "
            f"are the same. Their edges depend on a few rows, and the test for structure may be "
            "wrong; drop such columns, or check their edges."
        )
    return said


def describe_copies(signals: Signals) -> list[str]:
    """Return a remark on columns that are copies of each other."""
    if len(signals) < 3 or signals.d > MOST_COMPARED:
        return []
    moving = moving_columns(signals)
    alike = correlations(signals) * np.outer(moving, moving)
    copies = np.argwhere(np.triu(alike, 1) >= 1.0 - 1e-9)
    if not len(copies):
        return []
    names = signals.labels
    first, second = (names[place] for place in copies[0])
    more = f" (and {len(copies) - 1} more pairs)" if len(copies) > 1 else ""
    return [f"{first!r} and {second!r} are copies of each other{more}; drop one."]


def correlations(signals: Signals) -> Array:
    """Return the correlations of columns; zero for constant ones."""
    table = signals.divided(signals.unit()).filled
    values = table - table.mean(axis=0)
    lengths = np.linalg.norm(values, axis=0)
    values = values / np.where(lengths > 1e-12 * lengths.max(initial=0.0), lengths, np.inf)
    return np.asarray(values.T @ values)


def describe_opposites(signals: Signals) -> list[str]:
    """Return a remark on columns that vary in opposite directions.

    A pair with a strongly negative correlation is named if one of the two columns has no stronger
    correlation with any other, or if the correlation remains given all others. Distant vertices of
    a graph are negatively correlated too, but hardly fulfil one of these conditions. Rows that sum
    to zero cause negative correlations, and shift all entries of the inverse. For such rows the
    first condition does not count; the shift is always removed.
    """
    n, d = len(signals), signals.d
    if n < 3 or d > MOST_COMPARED:
        return []
    alike, pairs = correlations(signals), np.triu_indices(d, 1)
    ridge = (_RIDGE * min(1.0, d / n) + 1e-3) * np.eye(d)
    np.fill_diagonal(alike, 1.0)
    inverse = np.linalg.inv(alike + ridge)
    shift = float(np.median(inverse[pairs])) if d > 3 else 0.0
    size = np.sqrt(np.diag(inverse))
    given = (shift - inverse) / np.outer(size, size)
    strong = -max(_OPPOSITE, 4.0 / np.sqrt(n))
    directly = np.column_stack(pairs)[(alike[pairs] < strong) & (given[pairs] < -_DIRECTLY)]
    np.fill_diagonal(alike, 0.0)
    partner = np.argmax(np.abs(alike), axis=1)  # of every column, the one that says most about it
    lone = np.flatnonzero(alike[np.arange(d), partner] < strong)
    lone = lone[: 0 if _sums_are_equal(signals) else None]
    ends = np.sort(np.vstack([directly, np.column_stack([lone, partner[lone]])]), axis=1)
    opposed = np.unique(ends, axis=0).astype(np.intp)
    if not len(opposed):
        return []
    opposed = opposed[np.argsort(alike[opposed[:, 0], opposed[:, 1]], kind="stable")]
    return [_opposed([(signals.labels[i], signals.labels[j], alike[i, j]) for i, j in opposed])]


def _sums_are_equal(signals: Signals) -> bool:
    """Return whether the sums of the rows vary much less than those of independent columns."""
    table = signals.divided(signals.unit()).filled
    return bool(table.sum(axis=1).var() < _BALANCED * table.var(axis=0).sum())


def describe_moved(moved: float) -> list[str]:
    """Return a remark if the estimates from pairs of columns did not fit together."""
    if moved < _MOVED:
        return []
    return [
        "Missing values: the pairwise estimates did not fit together and were changed by "
        f"{moved:.1%}."
    ]


def _opposed(pairs: Sequence[tuple[object, object, float]]) -> str:
    """Return a sentence that names the first pairs and counts the others."""
    if len(pairs) == 1:
        ((first, second, alike),) = pairs
        return (
            f"{first!r} and {second!r} vary in opposite directions (correlation {alike:.2f}). An "
            "edge joins columns that vary alike, so these two get none; absolute=True joins both."
        )
    shown = [
        f"{first!r} and {second!r} ({'' if place else 'correlation '}{alike:.2f})"
        for place, (first, second, alike) in enumerate(pairs[:_PAIRS])
    ]
    more = len(pairs) - len(shown)
    if more:
        shown.append(f"{more} more {'pair' if more == 1 else 'pairs'}")
    return (
        f"{', '.join(shown[:-1])} and {shown[-1]} vary in opposite directions. An edge joins "
        "columns that vary alike, so there is none within these pairs; absolute=True joins them."
    )


def say_clipped(given: Signals, prepared: Prepared) -> str:
    """Return how many cells were clipped, in brackets, by the columns with the most of them.

    Empty if nothing was clipped. Rows are not counted: all that are longer than usual are clipped.

    Parameters
    ----------
    given : Signals
        The signals as given.
    prepared : Prepared
    """
    if not prepared.clipped:
        return ""
    changed = (prepared.entries.table != prepared.change.apply(given.table)) & given.present
    counts = changed.sum(axis=0)
    most = np.argsort(-counts, kind="stable")[:_NAMED]
    shown = [f"{counts[place]} in {given.labels[place]!r}" for place in most if counts[place]]
    if not shown:
        return " (no cell)"
    more = ", …" if np.count_nonzero(counts) > len(shown) else ""
    total = int(counts.sum())
    return f" ({total} {'cell' if total == 1 else 'cells'}: {', '.join(shown)}{more})"


def moving_columns(signals: Signals) -> NDArray[np.bool_]:
    """Return which columns change at all."""
    return np.asarray(column_spread(signals)[1] > 0.0)


def _row_numbers(signals: Signals) -> NDArray[np.bool_]:
    table = signals.table
    if len(table) < _COUNTED:
        return np.zeros(signals.d, dtype=bool)
    steps = np.diff(table, axis=0)
    whole = np.all(table == np.round(table), axis=0)  # False if a cell is missing
    return np.asarray(whole & (np.all(steps > 0.0, axis=0) | np.all(steps < 0.0, axis=0)))


def _listed(names: Sequence[object]) -> str:
    shown = ", ".join(repr(name) for name in names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more columns"
