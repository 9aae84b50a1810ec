"""Prepare a table: units, signs, and outliers.

A Laplacian compares levels in one unit. Column means and columns in different units therefore
decide the graph unless they are removed. Outlying rows and cells decide the second moment; if row
lengths vary more than those of Gaussian signals, entries and rows are clipped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solvers.selection.signals import Signals
from wdro_cvx import ProblemError
from wdro_cvx.moments.holes import pair_squares
from wdro_cvx.validation import Array

MOMENTS = ("auto", "clipped", "sample")
#: Columns are in unlike units if the logarithms of their deviations have a larger deviation than
#: the first, or if one differs from their median by more than the factor of the second.
UNLIKE = 0.35, 10.0**0.5
ENOUGH = 10  # rows; the deviations of fewer differ by chance
_HEAVY = 1.1  # kurtosis of row lengths, relative to Gaussian signals, above which rows are clipped
_COMPARED = 2  # cells; a row with fewer has no length
_PASSES = 3  # to estimate usual lengths of rows that lack different cells
_FAR = 3.0 * 1.4826  # three deviations of a Gaussian column, in median absolute deviations
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Preparation:
    """A change of units, ``(x - centre)·scale`` by column.

    Attributes
    ----------
    centre, scale : arrays (d,)
        A negative scale reverses the sign of a column.
    """

    centre: Array
    scale: Array

    @property
    def scales(self) -> bool:
        """Whether columns are divided by different numbers."""
        return bool(np.any(np.abs(self.scale) != 1.0))

    def apply(self, table: Array) -> Array:
        """Return the prepared table."""
        return np.asarray((table - self.centre) * self.scale)

    def undo(self, table: Array) -> Array:
        """Return a prepared table in its original units."""
        return np.asarray(table / self.scale + self.centre)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Prepared signals.

    Attributes
    ----------
    signals : Signals
        The signals to learn from.
    entries : Signals
        The same before rows were clipped, which the test for structure uses.
    change : Preparation
    clipped : bool
        Whether outliers were clipped.
    spread : array (d,)
        The deviations of the columns in their original units, after clipping.
    """

    signals: Signals
    entries: Signals
    change: Preparation
    clipped: bool
    spread: Array

    @property
    def description(self) -> str:
        """What was done to the columns, in words."""
        plain = "centred" if self.change.centre.any() else "raw"
        if self.change.scales:
            plain = "standardised"
        return f"{plain}, outlying cells and rows clipped" if self.clipped else plain


def check_preparation(standardise: bool | str, moment: str, absolute: bool = False) -> None:
    """Check the options of :func:`prepare`.

    Raises
    ------
    ProblemError
        If one is unknown.
    """
    if not (isinstance(standardise, (bool, np.bool_)) or standardise == "auto"):
        raise ProblemError(f"standardise must be 'auto', True or False; it is {standardise!r}.")
    if not (isinstance(moment, str) and moment in MOMENTS):
        raise ProblemError(f"moment must be one of {', '.join(MOMENTS)}; it is {moment!r}.")
    if not isinstance(absolute, (bool, np.bool_)):
        raise ProblemError(f"absolute must be True or False; it is {absolute!r}.")


def prepare(
    signals: Signals,
    standardise: bool | str = "auto",
    moment: str = "auto",
    absolute: bool = False,
) -> Prepared:
    """Return signals in comparable units, without outliers.

    Parameters
    ----------
    signals : Signals
    standardise : "auto" or bool
        True: columns get mean zero and deviation one. False: they stay as they are. ``"auto"``:
        mean zero, and deviation one if the columns are in different units.
    moment : "auto", "clipped" or "sample"
        Whether to clip outliers; ``"auto"`` clips if :func:`has_heavy_rows` is true.
    absolute : bool
        Whether to reverse the sign of columns such that as many as possible vary alike.

    Returns
    -------
    Prepared

    Examples
    --------
    >>> import numpy as np
    >>> from solvers.selection.preparation import prepare
    >>> from solvers.selection.signals import Signals
    >>> table = np.random.default_rng(0).standard_normal((40, 3)) * [1.0, 1.0, 1000.0]
    >>> prepare(Signals(table)).signals.table.std(axis=0).round(6).tolist()
    [1.0, 1.0, 1.0]
    """
    change = _change(signals, standardise, absolute)
    entries = replace(signals, table=change.apply(signals.table))
    if moment == "sample" or (moment == "auto" and not has_heavy_rows(entries)):
        return Prepared(entries, entries, change, False, column_spread(signals)[1])
    bounded = replace(signals, table=_clip_entries(signals))
    change = _change(bounded, standardise, absolute)
    entries = replace(signals, table=change.apply(bounded.table))
    return Prepared(_clip_rows(entries), entries, change, True, column_spread(bounded)[1])


def has_heavy_rows(signals: Signals) -> bool:
    """Return whether row lengths vary more than those of Gaussian signals with this covariance.

    The kurtosis of Gaussian row lengths is ``1 + 2 tr K²/(tr K)²``; K is estimated from rows of
    length one, which outliers do not dominate. With missing values every row has its own K.
    """
    signals = signals.take(np.flatnonzero(signals.present.sum(axis=1) >= _COMPARED))
    signals = signals.divided(signals.unit())  # fourth powers of extreme data stay within range
    squares, shares = _squares(signals), signals.shares
    mean = float(shares @ squares)
    if len(signals) < 2 or not mean > 0.0:
        return False
    if signals.complete:
        lengths = np.sqrt(squares)
        rows = signals.centred * (np.sqrt(shares) / np.where(lengths > 0.0, lengths, 1.0))[:, None]
        gram = rows @ rows.T if len(rows) < signals.d else rows.T @ rows
        trace = float(np.trace(gram))
        usual = 1.0 + 2.0 * float(np.vdot(gram, gram)) / trace**2
    else:
        usual = float(shares @ _usual_lengths(signals)[1])
    return float(shares @ squares**2) / mean**2 > _HEAVY * usual


def column_spread(signals: Signals) -> tuple[Array, Array]:
    """Return mean and deviation of every column; a deviation that is rounding is zero."""
    weigh = signals.present * signals.shares[:, np.newaxis]
    total = np.maximum(weigh.sum(axis=0), 1e-300)
    values = np.where(signals.present, signals.table, 0.0)
    mean = np.sum(weigh * values, axis=0) / total
    far = np.abs(np.where(signals.present, values - mean, 0.0))
    peak = far.max(axis=0)
    scaled = far / np.where(peak > 0.0, peak, 1.0)  # squares of extreme data stay within range
    spread = peak * np.sqrt(np.sum(weigh * scaled**2, axis=0) / total)
    size = np.abs(values).max(axis=0, initial=0.0)
    return mean, np.where(spread > _ROUNDING * size, spread, 0.0)


def in_unlike_units(spread: Array, n: int) -> bool:
    """Return whether the deviations of columns of n rows differ more than in most graphs.

    On graphs whose vertices share a unit, the deviations say something about the edges. Columns in
    unlike units are standardised, because most edges found without that would be false.
    """
    logs = np.log(spread[spread > 0.0])
    if n < ENOUGH or logs.size < 2:
        return False
    chance = 1.0 / (2 * n)  # the variance of the logarithm of a Gaussian column's deviation
    vary, one = UNLIKE
    far = float(np.abs(logs - np.median(logs)).max())
    return bool(logs.var() - chance > vary**2 or far > np.log(one))


def _change(signals: Signals, standardise: bool | str, absolute: bool) -> Preparation:
    """Return the change of units that the options ask for."""
    d = signals.d
    centre, scale = np.zeros(d), np.ones(d)
    if standardise is not False and len(signals) > 1:
        centre, spread = column_spread(signals)
        if standardise != "auto" or in_unlike_units(spread, len(signals)):
            scale = 1.0 / np.where(spread > 0.0, spread, 1.0)
    if absolute:
        table = (signals.table - centre) * scale
        scale = scale * _signs(np.where(signals.present, table - np.nanmean(table, axis=0), 0.0))
    return Preparation(centre, scale)


def _signs(table: Array) -> Array:
    """Return signs of columns that make the sum of their covariances large."""
    lengths = np.linalg.norm(table, axis=0)
    columns = table / np.where(lengths > 0.0, lengths, 1.0)
    signs = np.where(np.linalg.svd(columns, full_matrices=False)[2][0] < 0.0, -1.0, 1.0)
    for _ in range(10 * len(signs)):
        # A column with a negative covariance with the sum of the others is reversed.
        gain = signs * (columns.T @ (columns @ signs)) - 1.0
        worst = int(np.argmin(gain))
        if gain[worst] >= -_ROUNDING:
            break
        signs[worst] = -signs[worst]
    return np.asarray(signs * (signs[0] if len(signs) else 1.0))


def _squares(signals: Signals) -> Array:
    """Return the squared lengths of centred rows; if cells are missing, relative to usual ones."""
    squares = np.sum(signals.centred**2, axis=1)
    if signals.complete:
        return np.asarray(squares)
    usual, _ = _usual_lengths(signals)
    return np.asarray(squares / np.where(usual > 0.0, usual, np.inf))


def _usual_lengths(signals: Signals) -> tuple[Array, Array]:
    """Return the mean and the kurtosis that Gaussian rows with the same cells have.

    The mean is that of the squared length, ``tr K``, where K is the covariance of the centred cells
    that the row has; the kurtosis is that of the length, ``1 + 2 tr K²/(tr K)²``. ``K = -½JDJ``,
    where D are mean squared differences. They are estimated from clipped cells, which gives usual
    lengths, and then from rows that were brought to these lengths.
    """
    present = signals.present.astype(float)
    counts = np.maximum(present.sum(axis=1), 1.0)
    squares = np.sum(signals.centred**2, axis=1)
    squares = np.where(squares > 0.0, squares, np.inf)
    table = _clip_entries(signals)
    for _ in range(_PASSES):
        differences = pair_squares(table, signals.weights).squares
        ends = (present @ differences) * present
        mean = ends.sum(axis=1) / (2.0 * counts)
        table = signals.table * np.sqrt(mean / squares)[:, np.newaxis]
    whole = np.sum((present @ differences**2) * present, axis=1)
    trace = (whole - 2.0 * np.sum(ends**2, axis=1) / counts) / 4.0 + mean**2
    return mean, 1.0 + 2.0 * trace / np.where(mean > 0.0, mean, np.inf) ** 2


def _clip_entries(signals: Signals) -> Array:
    middle = weighted_median(signals.table, signals.shares)
    far = _FAR * weighted_median(np.abs(signals.table - middle), signals.shares)
    far = np.where(far > 0.0, far, np.inf)  # more than half of the column is one value
    return np.clip(signals.table, middle - far, middle + far)


def _clip_rows(signals: Signals) -> Signals:
    lengths = np.sqrt(_squares(signals.divided(signals.unit())))
    shares = signals.shares * (signals.present.sum(axis=1) >= _COMPARED)
    usual = float(weighted_median(lengths[:, np.newaxis], shares)[0])
    factor = np.minimum(1.0, usual / np.where(lengths > 0.0, lengths, np.inf))
    factor = np.where(lengths > 0.0, factor, 1.0)[:, np.newaxis]
    return replace(signals, table=np.where(signals.present, signals.centred * factor, np.nan))


def weighted_median(values: Array, shares: Array) -> Array:
    """Return the median of every column; missing values have no weight."""
    order = np.argsort(values, axis=0, kind="stable")
    ranked = np.take_along_axis(values, order, axis=0)
    weigh = np.where(np.isnan(ranked), 0.0, shares[order])
    summed = np.cumsum(weigh, axis=0) / np.maximum(weigh.sum(axis=0), 1e-300)
    low = np.argmax(summed >= 0.5 - 1e-9, axis=0)
    high = np.argmax(summed > 0.5 + 1e-9, axis=0)
    columns = np.arange(values.shape[1])
    return np.asarray((ranked[low, columns] + ranked[high, columns]) / 2.0)
