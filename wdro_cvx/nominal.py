"""The nominal distribution: what the data say, before any distrust of them.

Samples are rows. Covariances are divided by N, not N - 1: only then is the second moment
``Θ = Σ + μμᵀ`` that of the samples, on which the paper's propositions rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx.errors import DataError
from wdro_cvx.validation import Array, covariance_matrix, finite_array


@dataclass(frozen=True, eq=False)
class Nominal:
    """A nominal distribution known by its samples or by its first two moments.

    Build it with :meth:`from_samples` or :meth:`from_moments`; both check their input.

    Attributes
    ----------
    mean : array (d,)
    covariance : array (d, d)
        With divisor N.
    samples : array (N, d) or None
        The samples, one per row; None where only moments are known.
    """

    mean: Array
    covariance: Array
    samples: Array | None = None

    @classmethod
    def from_samples(cls, samples: ArrayLike) -> Nominal:
        """Build from a table with one signal per row and one vertex per column."""
        table = finite_array("samples", samples, 2)
        _check_vertices("samples", table.shape[1])
        mean = table.mean(axis=0)
        centred = table - mean
        return cls(mean, centred.T @ centred / table.shape[0], table)._frozen()

    @classmethod
    def from_moments(cls, mean: ArrayLike, covariance: ArrayLike) -> Nominal:
        """Build from a mean vector and a covariance matrix (divisor N)."""
        centre = finite_array("mean", mean, 1)
        _check_vertices("mean", centre.size)
        return cls(centre, covariance_matrix("covariance", covariance, centre.size))._frozen()

    def _frozen(self) -> Nominal:
        for array in (self.mean, self.covariance, self.samples):
            if array is not None:
                array.flags.writeable = False
        return self

    @property
    def d(self) -> int:
        """The number of vertices."""
        return int(self.mean.size)

    @cached_property
    def second_moment(self) -> Array:
        """``Θ = E[x xᵀ]``, the only thing about the data that any model's value depends on."""
        if self.samples is not None:
            return self.samples.T @ self.samples / self.samples.shape[0]
        return self.covariance + np.outer(self.mean, self.mean)

    @cached_property
    def factor(self) -> Array:
        """A matrix ``F`` of at most d rows with ``FᵀF = Θ``.

        From samples it is ``X/√N`` or its triangular factor, so that directions in which the data
        have no mass are exactly that, which rounding in ``Θ`` would blur.
        """
        if self.samples is not None:
            rows = self.samples / np.sqrt(self.samples.shape[0])
            return rows if rows.shape[0] <= self.d else np.asarray(np.linalg.qr(rows, mode="r"))
        return symmetric_root(self.second_moment)

    def scaled(self, factor: float | Array) -> Nominal:
        """Return the distribution of ``factor·x``, with one factor or one per vertex."""
        samples = None if self.samples is None else self.samples * factor
        covariance = self.covariance * np.multiply.outer(factor, factor)
        return Nominal(self.mean * factor, covariance, samples)._frozen()


def symmetric_root(matrix: Array) -> Array:
    """Return the symmetric square root of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    # Eigenvalues at rounding level are zeros; their roots would be noise of half the digits.
    floor = matrix.shape[0] * np.finfo(float).eps * max(float(values[-1]), 0.0)
    roots = np.sqrt(np.where(values > floor, values, 0.0))
    return np.asarray((vectors * roots) @ vectors.T)


def _check_vertices(name: str, d: int) -> None:
    if d < 2:
        raise DataError(f"{name} describes {d} vertex; a graph needs at least 2 (columns).")
