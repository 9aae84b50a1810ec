"""The nominal distribution, estimated from the data.

Samples are rows. Covariances are divided by N, not N - 1, so that ``Θ = Σ + μμᵀ`` is the second
moment of the samples, as the paper's propositions require.

Adding a constant to all entries of a signal changes no model, since ``L1 = 0``, but costs digits
when second moments are formed. Each signal is therefore stored less a level, if the subtraction is
exact for all of its entries. The level is the median, or the median rounded to a multiple of the
last digit of the largest entry, or else zero. The stored table thus equals the given one without
any rounding, up to a constant per signal that no model depends on.

Certificates refer to the following exact definition. Samples define the moments of the table with
the given weights, ``Θ = Σ w xxᵀ / Σ w`` and ``μ = Σ w x / Σ w``. Rows, moments and tables with
missing values define ``Θ = FᵀF`` and ``Σ = FᵀF - μμᵀ``, with ``F`` the :attr:`Nominal.factor` and μ
the :attr:`Nominal.mean` as stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx.errors import DataError
from wdro_cvx.moments.robust import robust_table
from wdro_cvx.summation import BLOCK_ROWS, exact_levels, gram, mean_of, roundings, triangular
from wdro_cvx.validation import Array, covariance_matrix, finite_array, ordinary_size

_EPS = float(np.finfo(float).eps)
# Vertices whose variance exceeds the median by more than this factor are left out of a
# covariance's level: subtracting their share would cost the others digits.
_ORDINARY = 1e4
_MANY = 4  # samples per vertex from which a triangular factor pays off
_STACKED = 2**17  # entries of the tables in a stack


@dataclass(frozen=True, eq=False)
class Nominal:
    """A nominal distribution, given by samples or by its first two moments.

    Build it with :meth:`from_samples` or :meth:`from_moments`; both check their input. Signals are
    stored less a level, a number per signal that no graph model depends on.

    Attributes
    ----------
    mean : array (d,)
    known_covariance : array (d, d) or None
        The covariance if it was given. For samples it is computed on first use, because it has
        d × d entries.
    samples : array (N, d) or None
        The :attr:`table` if all signals have equal weights and no missing values, for sets that
        reweight them; None otherwise.
    known_rows : array (r, d) or None
        ``R`` with ``RᵀR = Θ`` if the second moment was given in this form.
    table : array (N, d) or None
        The given signals, each less an exact level, NaN if a value is missing; None if rows or
        moments were given.
    weights : array (N,) or None
        The given weights of the signals; None if they are equal.
    count : int
        The number of rows that were summed for the factor; it bounds the rounding error.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Nominal
    >>> Nominal.from_samples([[5.0, 6.0], [7.0, 6.0]]).second_moment.tolist()  # less 5.5 and 6.5
    [[0.25, -0.25], [-0.25, 0.25]]
    >>> Nominal.from_samples(np.eye(3), weights=[1.0, 1.0, 2.0]).shares.tolist()
    [0.25, 0.25, 0.5]
    >>> Nominal.from_moments(mean=np.zeros(4), covariance=np.eye(4))
    Nominal(moments of 4 vertices)
    """

    mean: Array
    known_covariance: Array | None = None
    samples: Array | None = None
    known_rows: Array | None = None
    table: Array | None = None
    weights: Array | None = None
    count: int = 0

    def __post_init__(self) -> None:
        if self.table is None and self.samples is not None:
            object.__setattr__(self, "table", self.samples)
        if self.table is not None:
            object.__setattr__(self, "count", len(self.table))

    @classmethod
    def from_samples(
        cls, samples: ArrayLike, weights: ArrayLike | None = None, moment: str = "sample"
    ) -> Nominal:
        """Build from a table with one signal per row and one vertex per column.

        Parameters
        ----------
        samples : array (N, d)
        weights : array (N,), optional
            The weight of every signal, in any unit. With unequal weights the sets that reweight
            samples cannot be used, because they start from equal weights.
        moment : {"sample", "sign", "kendall", "trimmed"}
            A second moment that resists outliers (:func:`wdro_cvx.moments.robust.robust_table`).
            It replaces the table, and certificates refer to the table as stored.

        Raises
        ------
        DataError
            If the table has other than two axes, fewer than two columns, or values that are not
            finite; if there is no such moment, or if it is asked for together with weights.
        """
        table = finite_array("samples", samples, 2)
        _check_vertices("samples", table.shape[1])
        ordinary_size("samples", table)
        if moment != "sample":
            if weights is not None:
                raise DataError(f"moment={moment!r} takes no weights; repeat the rows instead.")
            table = robust_table(table, moment)
        table -= exact_levels(table)[:, np.newaxis]
        counts = None if weights is None else checked_weights(weights, len(table))
        if counts is None or np.ptp(counts) == 0.0:
            return cls(mean_of(table), None, table)._frozen()
        return cls(mean_of(table, _shares(counts)), table=table, weights=counts)._frozen()

    @classmethod
    def from_rows(cls, mean: ArrayLike, rows: ArrayLike) -> Nominal:
        """Build from a mean and rows ``R`` (r, d) with the second moment ``RᵀR``."""
        centre, factor = finite_array("mean", mean, 1), finite_array("rows", rows, 2)
        if factor.shape[1] != centre.size:
            raise DataError(f"rows must have {centre.size} columns; they have {factor.shape[1]}.")
        _check_vertices("mean", centre.size)
        return cls(centre, None, None, triangular(factor), count=len(factor))._frozen()

    def with_table(self, table: Array, weights: Array | None) -> Nominal:
        """Return the same distribution with the incomplete table that its rows come from."""
        return replace(self, table=table, weights=weights)._frozen()

    @classmethod
    def from_moments(cls, mean: ArrayLike, covariance: ArrayLike) -> Nominal:
        """Build from a mean vector and a covariance matrix (divisor N).

        A level is removed, as in :meth:`from_samples`. Use :meth:`transformed` for other
        coordinates.
        """
        centre = finite_array("mean", mean, 1)
        _check_vertices("mean", centre.size)
        ordinary_size("mean", centre)
        matrix = covariance_matrix("covariance", covariance, centre.size)
        return cls(centre - np.median(centre), _levelled(matrix))._frozen()

    def _frozen(self) -> Nominal:
        kept = self.mean, self.known_covariance, self.known_rows, self.table, self.weights
        for array in kept:
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

    @property
    def signals(self) -> Array | None:
        """The table if it defines the distribution; None if rows or moments do."""
        return self.table if self.known_rows is None else None

    @cached_property
    def shares(self) -> Array | None:
        """The weights divided by their sum; None if all signals have equal weights."""
        return None if self.weights is None else _shares(self.weights)

    @cached_property
    def mean_error(self) -> Array:
        """A bound of the rounding error of every entry of the mean."""
        if self.signals is None:
            return np.zeros(self.d)
        # Summed pairwise; a share has about thirty roundings. The mean of |x_i| is at most √Θ_ii.
        return np.asarray((np.log2(len(self.signals)) + 32) * _EPS * self.lengths)

    @cached_property
    def covariance(self) -> Array:
        """The covariance (d, d), with divisor N."""
        if self.known_covariance is not None:
            return self.known_covariance
        table = self.signals
        if table is None:
            covariance = self.second_moment - np.outer(self.mean, self.mean)
        elif self.shares is None:
            covariance = gram(table - self.mean) / len(table)
        else:
            covariance = gram(table - self.mean, self.shares)
        covariance.flags.writeable = False
        return covariance

    @cached_property
    def second_moment(self) -> Array:
        """``Θ = E[x xᵀ]``; most models depend on the data through it alone."""
        table = self.signals
        moment = gram(self.factor) if table is None else gram(table, self.shares)
        if table is not None and self.shares is None:
            moment /= len(table)
        moment.flags.writeable = False
        return moment

    @cached_property
    def factor(self) -> Array:
        """A matrix ``F`` of at most d rows with ``FᵀF = Θ``.

        For samples it is ``X/√N`` or its triangular factor, which keeps directions without mass
        exactly empty; rounding in ``Θ`` would not. For moments it is a matrix root without the
        eigenvalues at rounding level, and it defines the distribution.
        """
        if self.known_rows is not None:
            return self.known_rows
        if self.table is None:
            factor = root_rows(self.covariance + np.outer(self.mean, self.mean))
        elif self.shares is None:
            factor = triangular(self.table / np.sqrt(len(self.table)))
        else:
            counted = self.shares > 0.0
            roots = np.sqrt(self.shares[counted])
            factor = triangular(self.table[counted] * roots[:, np.newaxis])
        factor.flags.writeable = False
        return factor

    @cached_property
    def accumulation(self) -> float:
        """A bound of the relative rounding error of sums over vertices and samples.

        For the second moment it is relative to ``√(Θ_ii Θ_jj)``, entry by entry. For the factor it
        is relative to the length of each column.
        """
        return (self.d + 16 + roundings(self.count, self.d)) * _EPS

    @cached_property
    def rows(self) -> Array:
        """A matrix ``R`` with ``RᵀR = Θ`` that is cheap to compute, for sets that only use ``Θ``.

        These are the samples over ``√N``, or the triangular factor if there are many more samples
        than vertices.
        """
        if self.samples is None or not self.d < len(self.samples) <= _MANY * self.d:
            return self.factor
        rows = self.samples / np.sqrt(len(self.samples))
        rows.flags.writeable = False
        return rows

    def holds(self, rows: Array) -> bool:
        """Say whether the given rows are :attr:`rows` or :attr:`factor` of this distribution."""
        if rows is self.rows or (rows.shape == self.rows.shape and np.array_equal(rows, self.rows)):
            return True
        return len(rows) <= self.d and np.array_equal(rows, self.factor)

    @cached_property
    def lengths(self) -> Array:
        """``√Θ_ii`` for every vertex."""
        return _lengths(self.rows)

    @cached_property
    def trace(self) -> float:
        """``Tr Θ``, the mean square length of the signals."""
        return float(np.trace(self.second_moment))

    @cached_property
    def factor_error(self) -> float:
        """A bound of the rounding error of the factor in the Frobenius norm."""
        return self.accumulation * float(np.linalg.norm(self.lengths))

    def scaled(self, factor: float | Array) -> Nominal:
        """Return the distribution of ``factor·x``, with one factor or one per vertex."""
        if np.ndim(factor) == 0 and factor == 1.0:
            return self
        covariance = self.known_covariance
        if covariance is not None:
            _ = self.factor  # it defines the distribution, and is scaled below
            covariance = covariance * np.multiply.outer(factor, factor)
        rows = None if self.known_rows is None else self.known_rows * factor
        table = None if self.table is None else self.table * factor
        samples = None if self.samples is None else table
        scaled = Nominal(
            self.mean * factor, covariance, samples, rows, table, self.weights, self.count
        )._frozen()
        # Cached properties are scaled instead of recomputed.
        for name, degree in _KNOWN.items():
            if name in self.__dict__ and np.ndim(factor) == 0:
                known = self.__dict__[name] * factor**degree
                known.flags.writeable = False
                scaled.__dict__[name] = known
        return scaled

    def transformed(self, matrix: Array) -> Nominal:
        """Return the distribution of ``Ax`` for a matrix A (k, d), with no level removed.

        In other coordinates a constant signal may matter. :meth:`from_samples` and
        :meth:`from_moments` would remove it.

        Examples
        --------
        >>> import numpy as np
        >>> from wdro_cvx import Nominal
        >>> nominal = Nominal.from_moments(mean=[1.0, -1.0], covariance=np.eye(2))
        >>> print(nominal.transformed(np.array([[2.0, 0.0], [0.0, -2.0]])).mean)
        [2. 2.]
        """
        mean = self.mean @ matrix.T
        if self.samples is not None:
            return Nominal(mean, None, self.samples @ matrix.T)._frozen()
        return Nominal(mean, known_rows=self.factor @ matrix.T, count=self.count)._frozen()


# Cached properties, with the power by which they scale with the data.
_KNOWN = {
    "factor": 1, "rows": 1, "lengths": 1, "mean_error": 1, "covariance": 2, "second_moment": 2,
}  # fmt: skip


def prepare(nominals: Sequence[Nominal]) -> None:
    """Compute second moments, rows and lengths of many nominals as stacks, for later use.

    It covers short tables without weights. With few vertices this is much faster than one nominal
    after the other.
    """
    groups: dict[tuple[int, ...], list[Nominal]] = {}
    for nominal in nominals:
        table = nominal.samples
        if table is not None and len(table) <= BLOCK_ROWS and nominal.known_rows is None:
            groups.setdefault(table.shape, []).append(nominal)
    for (count, d), group in groups.items():
        size = max(_STACKED // (count * d), 1)
        for first in range(0, len(group), size):
            _prepare(group[first : first + size])


def _prepare(nominals: Sequence[Nominal]) -> None:
    tables = np.stack([np.asarray(nominal.samples) for nominal in nominals])
    count, d = tables.shape[1:]
    rows = tables / np.sqrt(count)
    found = {"second_moment": gram(tables) / count, "lengths": _lengths(rows)}
    if d < count <= _MANY * d:
        found["rows"] = rows
    for name, stack in found.items():
        stack.flags.writeable = False
        for nominal, part in zip(nominals, stack, strict=True):
            nominal.__dict__.setdefault(name, part)


def _lengths(rows: Array) -> Array:
    """Return the lengths of the columns."""
    return np.asarray(np.sqrt(np.square(rows).sum(axis=-2)))


def checked_weights(weights: ArrayLike, count: int) -> Array:
    """Return the weights of samples as an array, or raise DataError."""
    values = finite_array("weights", weights, 1)
    if values.size != count:
        raise DataError(f"weights must have one entry for each of the {count} samples; there are "
                        f"{values.size}.")  # fmt: skip
    if values.min() < 0.0 or values.max() == 0.0:
        raise DataError(
            "weights must be nonnegative, and not all zero; they lie between "
            f"{values.min():g} and {values.max():g}."
        )
    return values


def sample_shares(weights: ArrayLike, count: int) -> Array:
    """Return the weights of samples, checked and divided by their sum."""
    return _shares(checked_weights(weights, count))


def _shares(weights: Array) -> Array:
    values = weights / weights.max()  # so that the sum does not overflow
    return np.asarray(values / values.sum())


def symmetric_root(matrix: Array) -> Array:
    """Return the symmetric square root of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    # Eigenvalues at rounding level count as zero; their roots would be large noise.
    floor = matrix.shape[0] * _EPS * max(float(values[-1]), 0.0)
    roots = np.sqrt(np.where(values > floor, values, 0.0))
    return np.asarray((vectors * roots) @ vectors.T)


def root_rows(matrix: Array) -> Array:
    """Return rows ``R`` with ``RᵀR`` equal to a positive semidefinite matrix.

    The error of an entry is at rounding level relative to ``√(M_ii M_jj)``, because the root is
    taken after the diagonal has been scaled to one. Negative eigenvalues are dropped.
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


def _levelled(covariance: Array) -> Array:
    """Return the covariance of the signals less their mean over vertices of ordinary variance."""
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
