"""Second moments with the pieces they were built of, as evidence of membership in a set.

To test from the matrix alone whether it is in a Wasserstein ball takes matrix roots, which lose
digits. If the transported rows are known, a subtraction is enough.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx.errors import ProblemError
from wdro_cvx.summation import gram
from wdro_cvx.validation import Array, finite_array


class Moment(ABC):
    """A second moment; subclasses store the pieces that it was built of."""

    @property
    @abstractmethod
    def d(self) -> int:
        """The number of vertices."""

    @property
    @abstractmethod
    def second_moment(self) -> Array:
        """The matrix (d, d)."""

    @property
    @abstractmethod
    def rows(self) -> Array | None:
        """Rows ``R`` (r, d) such that ``RᵀR`` plus :attr:`rest` is the moment, or None."""

    @property
    @abstractmethod
    def rest(self) -> Array | None:
        """The symmetric matrix added to ``RᵀR``; None if there is none."""

    @property
    def pieces(self) -> tuple[Array | None, Array | None]:
        """The rows and the rest."""
        return self.rows, self.rest

    @abstractmethod
    def pulled(self, centre: Moment, share: float) -> Moment:
        """Return the point at ``share`` of the way from a centre of the same kind to this one."""

    @abstractmethod
    def scaled(self, factor: float) -> Moment:
        """Return the moment of ``factor·x``."""


@dataclass(frozen=True, eq=False)
class DenseMoment(Moment):
    """A second moment given as a matrix only."""

    matrix: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", _symmetric("second moment", self.matrix))

    @property
    def d(self) -> int:
        """The number of vertices."""
        return int(self.matrix.shape[0])

    @property
    def second_moment(self) -> Array:
        """The matrix (d, d)."""
        return self.matrix

    @property
    def rows(self) -> None:
        """None: only the matrix is known."""
        return None

    @property
    def rest(self) -> Array:
        """The whole matrix."""
        return self.matrix

    def pulled(self, centre: Moment, share: float) -> DenseMoment:
        """Return the convex combination."""
        assert isinstance(centre, DenseMoment)
        return DenseMoment(centre.matrix + share * (self.matrix - centre.matrix))

    def scaled(self, factor: float) -> DenseMoment:
        """Return the moment of ``factor·x``."""
        return DenseMoment(self.matrix * factor**2)


@dataclass(frozen=True, eq=False)
class TransportedMoment(Moment):
    """The second moment of moved rows plus additional rows and a shift: ``GᵀG + SᵀS + shift``.

    Attributes
    ----------
    moved : array (r, d)
        The nominal rows after the transport, in the same order.
    spread : array (s, d) or None
        Additional rows: mass moved in both directions.
    shift : array (d, d) or None
        A symmetric matrix added to the moment.
    """

    moved: Array
    spread: Array | None = None
    shift: Array | None = None

    def __post_init__(self) -> None:
        d = self.moved.shape[-1]
        for name in ("moved", "spread"):
            rows = getattr(self, name)
            if rows is not None and (rows.ndim != 2 or rows.shape[1] != d):
                raise ProblemError(f"{name} must be rows of {d} columns; it is {rows.shape}.")
        if self.spread is not None and len(self.spread) == 0:
            object.__setattr__(self, "spread", None)
        if self.shift is not None:
            shift = _symmetric("shift", self.shift)
            if shift.shape[0] != d:
                raise ProblemError(f"shift must have {d} columns; it has {shift.shape[0]}.")
            object.__setattr__(self, "shift", shift)

    @property
    def d(self) -> int:
        """The number of vertices."""
        return int(self.moved.shape[1])

    @cached_property
    def rows(self) -> Array:
        """The moved rows, then the spread."""
        return self.moved if self.spread is None else np.vstack([self.moved, self.spread])

    @property
    def rest(self) -> Array | None:
        """The shift."""
        return self.shift

    @cached_property
    def second_moment(self) -> Array:
        """The matrix (d, d)."""
        moment = self.rows.T @ self.rows
        return moment if self.shift is None else moment + self.shift

    def pulled(self, centre: Moment, share: float) -> TransportedMoment:
        """Move every row, and the shift, only by ``share``."""
        assert isinstance(centre, TransportedMoment)
        moved = centre.moved + share * (self.moved - centre.moved)
        spread = None if self.spread is None else share * self.spread
        shift = None if self.shift is None else share * self.shift
        if centre.shift is not None:
            shift = centre.shift * (1.0 - share) + (0.0 if shift is None else shift)
        return TransportedMoment(moved, spread, shift)

    def scaled(self, factor: float) -> TransportedMoment:
        """Return the moment of ``factor·x``."""
        return TransportedMoment(
            self.moved * factor,
            None if self.spread is None else self.spread * factor,
            None if self.shift is None else self.shift * factor**2,
        )


@dataclass(frozen=True, eq=False)
class MeanMoment(Moment):
    """Fixed nominal rows with a mean that moves: ``FᵀF + (mmᵀ - μμᵀ) + SᵀS + Δ``, m = μ + δ.

    It stores the change δ instead of m, and the nominal rows instead of the covariance ``FᵀF -
    μμᵀ``, because these differences cancel if the mean is large.

    Attributes
    ----------
    kept : array (r, d)
        ``F``, the rows of the nominal distribution.
    mean : array (d,)
        μ, its mean.
    change : array (d,)
        δ.
    spread : array (s, d) or None
        ``S``: the mean moved in both directions.
    shift : array (d, d) or None
        Δ, a symmetric matrix added to the covariance.
    """

    kept: Array
    mean: Array
    change: Array
    spread: Array | None = None
    shift: Array | None = None

    def __post_init__(self) -> None:
        d = self.mean.size
        if self.mean.shape != (d,) or self.change.shape != (d,):
            raise ProblemError(f"change must be {d} numbers; its shape is {self.change.shape}.")
        # TransportedMoment checks the rows, the spread and the shift.
        pieces = TransportedMoment(self.kept, self.spread, self.shift)
        if pieces.d != d:
            raise ProblemError(f"kept must be rows of {d} columns; it is {self.kept.shape}.")
        object.__setattr__(self, "spread", pieces.spread)
        object.__setattr__(self, "shift", pieces.shift)

    @property
    def d(self) -> int:
        """The number of vertices."""
        return int(self.mean.size)

    @cached_property
    def rows(self) -> Array:
        """The nominal rows, then the spread."""
        return self.kept if self.spread is None else np.vstack([self.kept, self.spread])

    @cached_property
    def rest(self) -> Array:
        """The contribution of the change of the mean, plus the shift."""
        half = np.outer(self.change, self.mean + self.change / 2)
        found = half + half.T
        return found if self.shift is None else found + self.shift

    @cached_property
    def second_moment(self) -> Array:
        """The matrix (d, d)."""
        return np.asarray(self.rows.T @ self.rows + self.rest)

    def pulled(self, centre: Moment, share: float) -> MeanMoment:
        """Move the mean, its spread and the shift only by ``share``."""
        assert isinstance(centre, MeanMoment)
        spread = None if self.spread is None else share * self.spread
        shift = None if self.shift is None else share * self.shift
        return MeanMoment(self.kept, self.mean, share * self.change, spread, shift)

    def scaled(self, factor: float) -> MeanMoment:
        """Return the moment of ``factor·x``."""
        return MeanMoment(
            self.kept * factor,
            self.mean * factor,
            self.change * factor,
            None if self.spread is None else self.spread * factor,
            None if self.shift is None else self.shift * factor**2,
        )


@dataclass(frozen=True, eq=False)
class ReweighedMoment(Moment):
    """The nominal samples with other weights: ``Σ q_i x_i x_iᵀ``.

    Attributes
    ----------
    samples : array (N, d)
    weights : array (N,)
        Nonnegative; scaled to sum one.
    """

    samples: Array
    weights: Array

    def __post_init__(self) -> None:
        weights, count = self.weights, len(self.samples)
        if (
            weights.shape != (count,)
            or not weights.min() >= 0.0
            or not 0.0 < weights.sum() < np.inf
        ):
            raise ProblemError(f"weights must be {count} nonnegative numbers, not all zero.")
        object.__setattr__(self, "weights", weights / weights.sum())

    @property
    def d(self) -> int:
        """The number of vertices."""
        return int(self.samples.shape[1])

    @cached_property
    def rows(self) -> Array:
        """The samples, each times the root of its weight."""
        return self.samples * np.sqrt(self.weights)[:, np.newaxis]

    @property
    def rest(self) -> None:
        """None: the rows are everything."""
        return None

    @cached_property
    def second_moment(self) -> Array:
        """The matrix (d, d)."""
        return gram(self.samples, self.weights)

    def pulled(self, centre: Moment, share: float) -> ReweighedMoment:
        """Return the convex combination of the weights."""
        assert isinstance(centre, ReweighedMoment)
        weights = centre.weights + share * (self.weights - centre.weights)
        return ReweighedMoment(self.samples, np.maximum(weights, 0.0))

    def scaled(self, factor: float) -> ReweighedMoment:
        """Return the moment of ``factor·x``."""
        return ReweighedMoment(self.samples * factor, self.weights)


def _symmetric(name: str, matrix: Array) -> Array:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ProblemError(f"{name} must be a square matrix; its shape is {matrix.shape}.")
    return np.asarray(matrix / 2 + matrix.T / 2)


def as_moment(value: Moment | ArrayLike) -> Moment:
    """Return a matrix as a :class:`DenseMoment`, and moments unchanged."""
    if isinstance(value, Moment):
        return value
    return DenseMoment(finite_array("second moment", value, 2, ProblemError))


def nuclear_size(moment: Moment) -> float:
    """Return an upper bound of the sum of a moment's singular values."""
    size = 0.0 if moment.rows is None else float(np.vdot(moment.rows, moment.rows))
    if moment.rest is not None:
        size += float(np.sqrt(moment.d) * np.linalg.norm(moment.rest))
    return size
