"""The nominal distribution: what the data say, before any distrust of them.

Samples are rows. Covariances are divided by N, not N - 1: only then is the second moment
``Θ = Σ + μμᵀ`` that of the samples, on which the paper's propositions rest.

Adding a constant to all entries of a signal changes no model, since ``L1 = 0``, but costs digits
wherever second moments are formed. So every signal is kept less a level of its own, taken off once,
here, where it costs no digits at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx.errors import DataError
from wdro_cvx.validation import Array, covariance_matrix, finite_array, ordinary_size

_EPS = float(np.finfo(float).eps)
# A vertex whose variance exceeds the typical one by more than this has no say in the level of a
# covariance: taking its share off the others would cost them digits.
_ORDINARY = 1e4
_MANY = 4  # samples per vertex, from which a triangular factor is smaller by enough


@dataclass(frozen=True, eq=False)
class Nominal:
    """A nominal distribution known by its samples or by its first two moments.

    Build it with :meth:`from_samples` or :meth:`from_moments`; both check their input. What it
    keeps are signals less their level, a number per signal that no graph model sees.

    Attributes
    ----------
    mean : array (d,)
    known_covariance : array (d, d) or None
        The covariance where it was given. Of samples it is computed when first asked for: with
        many vertices no array of d × d numbers should be made that nobody needs.
    samples : array (N, d) or None
        The samples less the median of each, one per row; None where only moments are known.
    known_rows : array (r, d) or None
        ``R`` with ``RᵀR = Θ`` where the second moment was given so.
    """

    mean: Array
    known_covariance: Array | None = None
    samples: Array | None = None
    known_rows: Array | None = None

    @classmethod
    def from_samples(cls, samples: ArrayLike, weights: ArrayLike | None = None) -> Nominal:
        """Build from a table with one signal per row and one vertex per column.

        Parameters
        ----------
        samples : array (N, d)
        weights : array (N,), optional
            How much every signal counts, in any unit. Signals that do not count alike are known by
            their moments: sets that reweigh samples start from equal weights, and refuse them.
        """
        table = finite_array("samples", samples, 2)
        _check_vertices("samples", table.shape[1])
        ordinary_size("samples", table)
        # Numbers close to the median lose nothing when it is taken off (their difference is exact),
        # and those far from it one rounding of their own size. The mean would be at the mercy of
        # one large entry.
        table -= np.median(table, axis=1, keepdims=True)
        shares = None if weights is None else sample_shares(weights, len(table))
        if shares is None or np.ptp(shares) == 0.0:
            return cls(_column_means(table), None, table)._frozen()
        counted = shares > 0.0
        rows = table[counted] * np.sqrt(shares[counted])[:, np.newaxis]
        return cls.from_rows(shares @ table, rows)

    @classmethod
    def from_rows(cls, mean: ArrayLike, rows: ArrayLike) -> Nominal:
        """Build from a mean and rows ``R`` (r, d) of which ``RᵀR`` is the second moment."""
        centre, factor = finite_array("mean", mean, 1), finite_array("rows", rows, 2)
        if factor.shape[1] != centre.size:
            raise DataError(f"rows must have {centre.size} columns; they have {factor.shape[1]}.")
        _check_vertices("mean", centre.size)
        if len(factor) > centre.size:
            factor = np.asarray(np.linalg.qr(factor, mode="r"))
        return cls(centre, None, None, factor)._frozen()

    @classmethod
    def from_moments(cls, mean: ArrayLike, covariance: ArrayLike) -> Nominal:
        """Build from a mean vector and a covariance matrix (divisor N)."""
        centre = finite_array("mean", mean, 1)
        _check_vertices("mean", centre.size)
        ordinary_size("mean", centre)
        matrix = covariance_matrix("covariance", covariance, centre.size)
        return cls(centre - np.median(centre), _levelled(matrix))._frozen()

    def _frozen(self) -> Nominal:
        for array in (self.mean, self.known_covariance, self.samples, self.known_rows):
            if array is not None:
                array.flags.writeable = False
        return self

    def __repr__(self) -> str:
        """Return sizes instead of arrays."""
        if self.samples is None:
            return f"Nominal(moments of {self.d} vertices)"
        return f"Nominal({len(self.samples)} samples of {self.d} vertices)"

    @property
    def d(self) -> int:
        """The number of vertices."""
        return int(self.mean.size)

    @cached_property
    def covariance(self) -> Array:
        """The covariance (d, d), with divisor N."""
        if self.known_covariance is not None:
            return self.known_covariance
        if self.samples is None:
            covariance = self.second_moment - np.outer(self.mean, self.mean)
            covariance.flags.writeable = False
            return covariance
        centred = self.samples - self.mean
        covariance = centred.T @ centred / len(self.samples)
        covariance.flags.writeable = False
        return np.asarray(covariance)

    @cached_property
    def second_moment(self) -> Array:
        """``Θ = E[x xᵀ]``, the only thing about the data that any model's value depends on."""
        rows = self.samples if self.samples is not None else self.factor
        moment = rows.T @ rows
        if self.samples is not None:
            moment /= len(self.samples)
        moment.flags.writeable = False
        return moment

    @cached_property
    def factor(self) -> Array:
        """A matrix ``F`` of at most d rows with ``FᵀF = Θ``.

        From samples it is ``X/√N`` or its triangular factor, so that directions in which the data
        have no mass are exactly that, which rounding in ``Θ`` would blur. Of moments it is a root,
        less what is rounding in a covariance; it *is* the distribution that is meant.
        """
        if self.known_rows is not None:
            return self.known_rows
        if self.samples is not None:
            rows = self.samples / np.sqrt(self.samples.shape[0])
            factor = rows if rows.shape[0] <= self.d else np.asarray(np.linalg.qr(rows, mode="r"))
        else:
            factor = root_rows(self.covariance + np.outer(self.mean, self.mean))
        factor.flags.writeable = False
        return factor

    @cached_property
    def rows(self) -> Array:
        """A matrix ``R`` with ``RᵀR = Θ`` that costs nothing to make.

        The samples themselves, over ``√N``, unless there are so many that triangular ones are worth
        their price; for sets that only ever look at ``Θ``.
        """
        if self.samples is None or not self.d < len(self.samples) <= _MANY * self.d:
            return self.factor
        rows = self.samples / np.sqrt(len(self.samples))
        rows.flags.writeable = False
        return rows

    def holds(self, rows: Array) -> bool:
        """Say whether these are the :attr:`rows` or the :attr:`factor` of this distribution."""
        if rows is self.rows or (rows.shape == self.rows.shape and np.array_equal(rows, self.rows)):
            return True
        return len(rows) <= self.d and np.array_equal(rows, self.factor)

    @cached_property
    def lengths(self) -> Array:
        """The root of ``Θ_ii``, for every vertex."""
        return np.asarray(np.linalg.norm(self.rows, axis=0))

    def scaled(self, factor: float | Array) -> Nominal:
        """Return the distribution of ``factor·x``, with one factor or one per vertex."""
        samples = None if self.samples is None else self.samples * factor
        covariance = self.known_covariance
        if covariance is not None:
            covariance = covariance * np.multiply.outer(factor, factor)
        rows = None if self.known_rows is None else self.known_rows * factor
        scaled = Nominal(self.mean * factor, covariance, samples, rows)._frozen()
        # What is known need not be computed again.
        for name, degree in (("factor", 1), ("rows", 1), ("covariance", 2), ("second_moment", 2)):
            if name in self.__dict__ and np.ndim(factor) == 0:
                known = self.__dict__[name] * factor**degree
                known.flags.writeable = False
                scaled.__dict__[name] = known
        return scaled


def sample_shares(weights: ArrayLike, count: int) -> Array:
    """Return the weights of samples, checked and divided by their sum."""
    values = finite_array("weights", weights, 1)
    if values.size != count:
        raise DataError(f"weights must have one entry for each of the {count} samples; there are "
                        f"{values.size}.")  # fmt: skip
    if values.min() < 0.0 or values.max() == 0.0:
        raise DataError("weights must be nonnegative, and not all zero.")
    values /= values.max()  # sums of large numbers stay numbers
    return values / values.sum()


def symmetric_root(matrix: Array) -> Array:
    """Return the symmetric square root of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    # Eigenvalues at rounding level are zeros; their roots would be noise of half the digits.
    floor = matrix.shape[0] * _EPS * max(float(values[-1]), 0.0)
    roots = np.sqrt(np.where(values > floor, values, 0.0))
    return np.asarray((vectors * roots) @ vectors.T)


def root_rows(matrix: Array) -> Array:
    """Return rows ``R`` with ``RᵀR`` equal to a positive semidefinite matrix, entry by entry.

    The error of an entry is rounding of ``√(M_ii M_jj)``, however different the diagonal entries
    are: the root is taken after they are scaled to one. What is negative in the matrix is dropped.
    """
    sizes = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    # Powers of two, so that scaling is exact.
    scales = np.exp2(np.round(np.log2(np.where(sizes > 0.0, sizes, 1.0))))
    values, vectors = np.linalg.eigh(matrix / np.outer(scales, scales))
    floor = matrix.shape[0] * _EPS * max(float(values[-1]), 0.0)
    kept = values > floor
    if not kept.any():
        return np.zeros((1, matrix.shape[0]))
    rows = np.sqrt(values[kept])[:, np.newaxis] * vectors[:, kept].T
    return np.asarray(rows * scales)


def _column_means(table: Array) -> Array:
    """Return the mean of every column, added up in blocks, so that many rows cost few digits."""
    starts = np.arange(0, len(table), 512)
    return np.asarray(np.add.reduceat(table, starts, axis=0).sum(axis=0) / len(table))


def _levelled(covariance: Array) -> Array:
    """Return the covariance of the signals less their mean over the ordinary vertices."""
    sizes = np.diagonal(covariance)
    ordinary = sizes <= _ORDINARY * float(np.median(sizes))
    share = ordinary / np.count_nonzero(ordinary)
    along = covariance @ share
    levelled = covariance - along[:, np.newaxis]
    levelled -= along[np.newaxis, :]
    levelled += float(share @ along)
    return (levelled + levelled.T) / 2


def _check_vertices(name: str, d: int) -> None:
    if d < 2:
        raise DataError(f"{name} describes {d} vertex; a graph needs at least 2 (columns).")
