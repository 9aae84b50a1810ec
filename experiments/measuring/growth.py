"""Fit how run time grows with d, with a confidence interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from wdro_cvx.validation import Array

#: Sizes count from the first one whose time is this many times that of the smallest size.
_ABOVE_OVERHEAD = 3.0
_FEWEST_SIZES = 3
_LEAST_SPAN = 2.0  # least ratio of the largest to the smallest size that counts
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Growth:
    """A fitted power law ``seconds ∝ d^exponent``.

    Attributes
    ----------
    exponent : float
    low, high : float
        The 95 % confidence interval of the exponent.
    first, last : float
        The sizes between which it was fitted.
    """

    exponent: float
    low: float
    high: float
    first: float
    last: float

    def __str__(self) -> str:
        return (
            f"d^{self.exponent:.1f} ({self.low:.1f} to {self.high:.1f}; "
            f"d = {self.first:g} to {self.last:g})"
        )


def fit_growth(sizes: Array, seconds: Array, overhead: bool = True) -> Growth | None:
    """Return the fitted growth of times by size, or None if too few sizes are left.

    The fit is a straight line through the logarithms of median times by size: the deviations from
    a power law are common to all data sets of a size. It uses the sizes from the first one that
    takes three times as long as the smallest; smaller ones mostly measure overheads.

    Parameters
    ----------
    sizes, seconds : array (k,)
        One entry per run; sizes repeat if several data sets were measured.
    overhead : bool
        Whether the times contain overheads; if not, all sizes are used.

    Returns
    -------
    Growth or None
        None with fewer than three sizes, or sizes within a factor of two.

    Examples
    --------
    >>> sizes = np.array([10.0, 20.0, 40.0, 80.0, 160.0, 320.0])
    >>> print(fit_growth(sizes, 1e-3 + 1e-6 * sizes**2))  # a millisecond of overhead
    d^1.9 (1.5 to 2.3; d = 80 to 320)
    """
    good = seconds > 0.0
    sizes, seconds = sizes[good], seconds[good]
    different = np.unique(sizes)
    medians = np.array([np.median(seconds[sizes == d]) for d in different])
    if overhead and different.size:
        above = np.flatnonzero(medians >= _ABOVE_OVERHEAD * medians[0])
        first = int(above[0]) if above.size else different.size
        different, medians = different[first:], medians[first:]
    if different.size < _FEWEST_SIZES or different[-1] < _LEAST_SPAN * different[0]:
        return None
    fit = stats.linregress(np.log(different), np.log(medians))
    quantile = float(stats.t.ppf((1 + _CONFIDENCE) / 2, different.size - 2))
    slope, reach = float(fit.slope), quantile * float(fit.stderr)
    return Growth(slope, slope - reach, slope + reach, float(different[0]), float(different[-1]))
