"""Second moments made of other second moments, and mixtures that keep the evidence of membership.

A set is convex, so mixtures of its points are in it. A mixture of matrices has lost the pieces that
prove this; :func:`mixture` mixes the pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from wdro_cvx.errors import ProblemError
from wdro_cvx.moments.points import (
    DenseMoment,
    MeanMoment,
    Moment,
    ReweighedMoment,
    TransportedMoment,
)
from wdro_cvx.summation import triangular
from wdro_cvx.validation import Array, finite_array


@dataclass(frozen=True, eq=False)
class SumMoment(Moment):
    """The nominal moment plus the changes to points of several sets: ``Θ + Σ c_k(A_k - Θ)``.

    Attributes
    ----------
    centre : array (d, d)
        Θ.
    parts : tuple of Moment
        ``A_k``.
    factors : tuple of float
        ``c_k``.
    """

    centre: Array
    parts: tuple[Moment, ...]
    factors: tuple[float, ...]

    def __post_init__(self) -> None:
        d = len(self.centre)
        if any(part.d != d for part in self.parts) or len(self.parts) != len(self.factors):
            raise ProblemError(f"parts must be one moment of {d} vertices for every factor.")

    @property
    def d(self) -> int:
        """The number of vertices."""
        return len(self.centre)

    @cached_property
    def second_moment(self) -> Array:
        """The matrix (d, d)."""
        found = self.centre.copy()
        for part, factor in zip(self.parts, self.factors, strict=True):
            found += factor * (part.second_moment - self.centre)
        return found

    @property
    def rows(self) -> None:
        """None: the parts have rows of their own."""
        return None

    @property
    def rest(self) -> Array:
        """The whole matrix."""
        return self.second_moment

    def pulled(self, centre: Moment, share: float) -> SumMoment:
        """Pull every part."""
        assert isinstance(centre, SumMoment)
        pairs = zip(self.parts, centre.parts, strict=True)
        parts = tuple(
            part.pulled(own, share) if type(part) is type(own) else part for part, own in pairs
        )
        return SumMoment(self.centre, parts, self.factors)

    def scaled(self, factor: float) -> SumMoment:
        """Return the moment of ``factor·x``."""
        parts = tuple(part.scaled(factor) for part in self.parts)
        return SumMoment(self.centre * factor**2, parts, self.factors)


@dataclass(frozen=True, eq=False)
class MappedMoment(Moment):
    """The second moment of ``x = Ty`` for a second moment of y.

    Attributes
    ----------
    inner : Moment
        That of y.
    matrix : array (d, d)
        T.
    """

    inner: Moment
    matrix: Array

    def __post_init__(self) -> None:
        if self.matrix.shape != (self.inner.d, self.inner.d):
            raise ProblemError(
                f"matrix must be square, for {self.inner.d} vertices; it is {self.matrix.shape}."
            )

    @property
    def d(self) -> int:
        """The number of vertices."""
        return self.inner.d

    @cached_property
    def second_moment(self) -> Array:
        """The matrix (d, d)."""
        found = self.matrix @ self.inner.second_moment @ self.matrix.T
        return np.asarray((found + found.T) / 2)

    @property
    def rows(self) -> None:
        """None: the rows are in other coordinates."""
        return None

    @property
    def rest(self) -> Array:
        """The whole matrix."""
        return self.second_moment

    def pulled(self, centre: Moment, share: float) -> MappedMoment:
        """Pull the moment of y."""
        assert isinstance(centre, MappedMoment)
        if type(self.inner) is not type(centre.inner):
            return self
        return MappedMoment(self.inner.pulled(centre.inner, share), self.matrix)

    def scaled(self, factor: float) -> MappedMoment:
        """Return the moment of ``factor·x``."""
        return MappedMoment(self.inner.scaled(factor), self.matrix)


def mixture(moments: Sequence[Moment], shares: Array) -> Moment:
    """Return the convex combination of moments, from their pieces if they are of one kind.

    Rows that move differently are moved to their mean, and the differences become spread, because
    a mean square is the square of the mean plus the variance. The cost is the mean cost.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx.moments.composite import mixture
    >>> from wdro_cvx.moments.points import TransportedMoment
    >>> there, back = (TransportedMoment(np.array([[end, 0.0]])) for end in (1.0, -1.0))
    >>> mixed = mixture([there, back], np.array([0.5, 0.5]))
    >>> mixed.moved.tolist(), mixed.second_moment.round(12).tolist()
    ([[0.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]])
    """
    first = moments[0]
    if len(moments) == 1:
        return first
    kind = type(first)
    if any(type(moment) is not kind for moment in moments):
        return _average(moments, shares)
    if isinstance(first, ReweighedMoment):
        return ReweighedMoment(first.samples, shares @ np.stack([m.weights for m in moments]))  # type: ignore[attr-defined]
    if isinstance(first, TransportedMoment):
        return _mixed_transport(moments, shares)  # type: ignore[arg-type]
    if isinstance(first, MeanMoment):
        changes = np.stack([m.change for m in moments])  # type: ignore[attr-defined]
        change, spread = _mean_and_spread(changes[:, np.newaxis], moments, shares)
        return MeanMoment(first.kept, first.mean, change[0], spread, _mixed_shift(moments, shares))
    if isinstance(first, SumMoment):
        columns = zip(*(m.parts for m in moments), strict=True)  # type: ignore[attr-defined]
        parts = tuple(mixture(column, shares) for column in columns)
        return SumMoment(first.centre, parts, first.factors)
    if isinstance(first, MappedMoment):
        return MappedMoment(mixture([m.inner for m in moments], shares), first.matrix)  # type: ignore[attr-defined]
    return _average(moments, shares)


def _average(moments: Sequence[Moment], shares: Array) -> DenseMoment:
    return DenseMoment(np.tensordot(shares, np.stack([m.second_moment for m in moments]), 1))


def _mixed_transport(moments: Sequence[TransportedMoment], shares: Array) -> Moment:
    if any(moment.moved.shape != moments[0].moved.shape for moment in moments):
        return _average(moments, shares)
    rows = np.stack([moment.moved for moment in moments])
    if (rows == rows[0]).all():  # only the shifts differ
        moved, spread = _mean_and_spread(rows[:, :0], moments, shares)
        return TransportedMoment(moments[0].moved, spread, _mixed_shift(moments, shares))
    moved, spread = _mean_and_spread(rows, moments, shares)
    return TransportedMoment(moved, spread, _mixed_shift(moments, shares))


def _mean_and_spread(
    rows: Array, moments: Sequence[Moment], shares: Array
) -> tuple[Array, Array | None]:
    """Return the mean of rows (K, r, d), and the rows of their variance and of all spreads."""
    mean = np.tensordot(shares, rows, 1)
    roots = np.sqrt(shares)
    apart = (roots[:, np.newaxis, np.newaxis] * (rows - mean)).reshape(-1, rows.shape[2])
    spreads = [
        root * moment.spread  # type: ignore[attr-defined]
        for root, moment in zip(roots, moments, strict=True)
        if moment.spread is not None  # type: ignore[attr-defined]
    ]
    together = np.vstack([apart, *spreads])
    together = together[np.any(together != 0.0, axis=1)]
    return mean, triangular(together) if len(together) else None


def _mixed_shift(moments: Sequence[Moment], shares: Array) -> Array | None:
    shifts = [moment.shift for moment in moments]  # type: ignore[attr-defined]
    if all(shift is None for shift in shifts):
        return None
    found = np.zeros((moments[0].d, moments[0].d))
    for shift, share in zip(shifts, shares, strict=True):
        if shift is not None:
            found += share * shift
    return found


def checked_copy(name: str, moment: Moment) -> Moment:
    """Return a moment rebuilt from validated pieces, or raise ProblemError.

    Solvers build moments at every step, so only moments from outside are validated. A subclass or
    an unknown kind counts as its matrix.
    """
    if type(moment) is SumMoment:
        centre = finite_array(f"{name}.centre", moment.centre, 2, ProblemError)
        factors = finite_array(f"{name}.factors", moment.factors, 1, ProblemError)
        parts = tuple(checked_copy(f"{name}.parts[{k}]", p) for k, p in enumerate(moment.parts))
        return SumMoment(centre, parts, tuple(factors.tolist()))
    if type(moment) is MappedMoment:
        matrix = finite_array(f"{name}.matrix", moment.matrix, 2, ProblemError)
        return MappedMoment(checked_copy(f"{name}.inner", moment.inner), matrix)
    if type(moment) not in (TransportedMoment, MeanMoment, ReweighedMoment):
        matrix = finite_array(f"{name}.second_moment", moment.second_moment, 2, ProblemError)
        return DenseMoment(matrix)
    pieces = {}
    for field in fields(moment):  # type: ignore[arg-type] # all of them are dataclasses
        piece = getattr(moment, field.name)
        if piece is not None or field.default is not None:
            ndim = 1 if field.name in ("mean", "change", "weights") else 2
            pieces[field.name] = finite_array(f"{name}.{field.name}", piece, ndim, ProblemError)
    return type(moment)(**pieces)
