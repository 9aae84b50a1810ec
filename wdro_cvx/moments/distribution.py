"""Distributions of signals: discrete or Gaussian."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.validation import Array


@dataclass(frozen=True, eq=False)
class Discrete:
    """A distribution on finitely many signals.

    Attributes
    ----------
    points : array (n, d)
        The signals.
    weights : array (n,)
        Their probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Discrete
    >>> coin = Discrete(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.25, 0.75]))
    >>> coin.mean.tolist(), coin.second_moment.tolist()
    ([0.25, 0.75], [[0.25, 0.0], [0.0, 0.75]])
    """

    points: Array
    weights: Array

    @property
    def mean(self) -> Array:
        """``E[x]``."""
        return self.weights @ self.points

    @property
    def second_moment(self) -> Array:
        """``E[x xᵀ]``."""
        return (self.points.T * self.weights) @ self.points


@dataclass(frozen=True, eq=False)
class Gaussian:
    """A normal distribution; the covariance may be singular.

    Attributes
    ----------
    mean : array (d,)
    covariance : array (d, d)

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Gaussian
    >>> Gaussian(np.array([1.0, 2.0]), np.eye(2)).second_moment.tolist()
    [[2.0, 2.0], [2.0, 5.0]]
    """

    mean: Array
    covariance: Array

    @property
    def second_moment(self) -> Array:
        """``E[x xᵀ]``."""
        return self.covariance + np.outer(self.mean, self.mean)


Distribution = Discrete | Gaussian


def uniform(points: Array) -> Discrete:
    """Return the distribution with the same probability for every row."""
    return Discrete(points, np.full(points.shape[0], 1.0 / points.shape[0]))


def nominal_distribution(nominal: Nominal) -> Distribution:
    """Return the nominal distribution: its samples, or the Gaussian with its moments."""
    if nominal.samples is not None:
        return uniform(nominal.samples)
    return Gaussian(nominal.mean, nominal.covariance)
