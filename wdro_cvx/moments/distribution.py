"""Distributions in the open: what a worst case looks like, as samples or as a Gaussian."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.validation import Array


@dataclass(frozen=True, eq=False)
class Discrete:
    """Finitely many signals with their probabilities.

    Attributes
    ----------
    points : array (n, d)
    weights : array (n,)
        Nonnegative, with sum one.
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
    """A normal distribution, perhaps with a singular covariance.

    Attributes
    ----------
    mean : array (d,)
    covariance : array (d, d)
    """

    mean: Array
    covariance: Array

    @property
    def second_moment(self) -> Array:
        """``E[x xᵀ]``."""
        return self.covariance + np.outer(self.mean, self.mean)


Distribution = Discrete | Gaussian


def uniform(points: Array) -> Discrete:
    """Return the distribution that gives every row the same probability."""
    return Discrete(points, np.full(points.shape[0], 1.0 / points.shape[0]))


def nominal_distribution(nominal: Nominal) -> Distribution:
    """Return the nominal distribution: its samples, or the Gaussian with its moments."""
    if nominal.samples is not None:
        return uniform(nominal.samples)
    return Gaussian(nominal.mean, nominal.covariance)
