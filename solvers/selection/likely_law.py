"""A model of the signals with variance in all directions.

Resampled rows have no variance in directions that the sample lacks. With more vertices than
signals, these are most directions of the truth. This module therefore draws new tables from a
shrunk covariance (Ledoit and Wolf, J. Multivariate Anal. 2004). Their shrinkage minimises the
squared error, which leaves the eigenvalues too much alike. The distance between a table and its
truth depends on the spread of the eigenvalues. They are therefore raised to the power at which the
trace of the squared covariance equals its unbiased estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg, optimize

from wdro_cvx.validation import Array

_LEAST = 1e-9  # least eigenvalue relative to the largest; keeps logarithms finite
_STEEPEST = 64.0
# The level of the test for heavy tails. A false alarm only enlarges the radius a little; with few
# signals a stricter level would miss many heavy tails.
_RARE = 0.2


@dataclass(frozen=True, eq=False)
class LikelyLaw:
    """A Gaussian scale mixture fitted to the signals.

    Attributes
    ----------
    axes : array (d - 1, d)
        A root of the covariance ``axesᵀ·axes``, with rows that sum to zero.
    shares : array (N,)
        The weight of each signal.
    factors : array (N,)
        Squared norms of the signals relative to those of Gaussian ones; their mean is about 1.
    heavy : bool
        Whether the norms vary more than in 80 % of Gaussian tables.
    """

    axes: Array
    shares: Array
    factors: Array
    heavy: bool

    @cached_property
    def covariance(self) -> Array:
        """The second moment of the model."""
        return self.axes.T @ self.axes

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw a table of Gaussian signals, scaled by resampled factors if tails are heavy."""
        table = rng.standard_normal((len(self.shares), len(self.axes))) @ self.axes
        if self.heavy:
            table *= np.sqrt(rng.choice(self.factors, size=(len(table), 1)))
        return table


def likely_law(
    rows: Array, shares: Array, rng: np.random.Generator, resamples: int
) -> LikelyLaw | None:
    """Return the law of centred rows; None if fewer than two rows contribute."""
    d = rows.shape[1]
    weighted = rows * np.sqrt(shares)[:, np.newaxis]
    size = float(np.sum(weighted**2))
    single = float(shares @ shares)
    squares = np.sum(rows**2, axis=1)
    products = size**2 - float(shares**2 @ squares**2)  # of two different rows
    if d < 2 or products <= 1e-12 * size**2 or single >= 1.0 - 1e-12:
        return None
    basis = linalg.helmert(d)
    values, vectors = linalg.eigh(basis @ (weighted.T @ weighted) @ basis.T)
    values = np.maximum(values, 0.0) * ((d - 1) / size)
    # Σ_{i≠j} sᵢsⱼ(xᵢᵀxⱼ)² estimates the trace of the square without bias, for any tails.
    inner = size**2 * float(np.mean(values**2)) / (d - 1) - float(shares**2 @ squares**2)
    target = max((d - 1) * inner / products, 1.0)
    values = spread_spectrum(values, target)
    found = kurtosis(squares, shares)
    usual = [
        kurtosis(rng.standard_normal((len(rows), d - 1)) ** 2 @ values, shares)
        for _ in range(resamples)
    ]
    excess = (found / (products / size**2 / (1.0 - single))) / (1.0 + 2.0 * target / (d - 1)) - 1.0
    # Use the symmetric root. Rounding decides the sign of an eigenvector and the basis of a double
    # eigenvalue; with another root, it would also decide which tables are drawn.
    root = (vectors * np.sqrt(values * (size / (d - 1)))) @ vectors.T
    return LikelyLaw(
        root @ basis,
        shares,
        _size_factors(squares / size, shares, excess),
        bool(np.mean(np.array(usual) >= found) < _RARE),
    )


def spread_spectrum(values: Array, target: float) -> Array:
    """Return eigenvalues with mean one whose squares have the mean ``target``.

    The sample's eigenvalues, with mean one, are first shrunk towards their mean, to remove the
    dispersion that is not the truth's.
    """
    dispersion = float(np.mean(values**2)) - 1.0
    share = min((target - 1.0) / dispersion, 1.0) if dispersion > 0.0 else 0.0
    shrunk = 1.0 + share * (values - 1.0)
    logs = np.log(np.maximum(shrunk / shrunk.max(), _LEAST))

    def mean_square(power: float) -> float:
        raised = np.exp(power * logs)
        return float(np.mean(raised**2) / np.mean(raised) ** 2)

    if target <= 1.0 or mean_square(_STEEPEST) <= target:
        return np.asarray(shrunk)
    power = optimize.brentq(lambda power: mean_square(power) - target, 0.0, _STEEPEST)
    raised = np.exp(power * logs)
    return np.asarray(raised / np.mean(raised))


def kurtosis(squares: Array, shares: Array) -> float:
    """Return the mean of the squared ``squares``, divided by their squared mean."""
    return float(shares @ squares**2) / float(shares @ squares) ** 2


def _size_factors(sizes: Array, shares: Array, excess: float) -> Array:
    """Return the sizes, shrunk to their excess variance over Gaussian signals."""
    variance = float(shares @ (sizes - 1.0) ** 2)
    share = np.sqrt(min(max(excess, 0.0) / variance, 1.0)) if variance > 0.0 else 0.0
    return np.asarray(1.0 + share * (sizes - 1.0))
