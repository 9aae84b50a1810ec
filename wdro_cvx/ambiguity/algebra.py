"""Sums, multiples and coordinates of ambiguity sets.

Let the premium of a set be ``π(L) = R(L) - ⟨Θ, L⟩``, the support function of ``𝓜 - Θ``. Sums and
multiples act on it: ``a + b`` has the premium ``π_a + π_b``, the support function of the Minkowski
sum ``{Θ + (A - Θ) + (B - Θ) : A ∈ a, B ∈ b}``, and ``s * a`` has the premium ``sπ_a``.
``a.in_coordinates(T)`` is the set a for the signals y in ``x = Ty``. Worst case, membership and
certificate follow from the parts, and a point of a combination is made of points of its parts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx.ambiguity.base import OPERATIONS, AmbiguitySet, WorstCase
from wdro_cvx.ambiguity.frames import MatrixFrame
from wdro_cvx.ambiguity.membership import Membership, relative_distance
from wdro_cvx.ambiguity.shift import ShiftBall
from wdro_cvx.ambiguity.smoothness import accumulation, nominal_risk
from wdro_cvx.errors import ProblemError
from wdro_cvx.moments.composite import MappedMoment, SumMoment
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import DenseMoment, Moment, TransportedMoment, nuclear_size
from wdro_cvx.validation import Array, coordinate_matrix, real_number

_EPS = float(np.finfo(float).eps)
#: The largest relative difference of a risk and ⟨M, L⟩ at its worst case M. The judge reports a
#: larger one as a defect of the set.
_DISAGREEMENT = 1e-8


@dataclass(frozen=True)
class CombinedSet(AmbiguitySet):
    """The sum of sets, each multiplied by a factor: their premiums add.

    Write it as ``a + b`` and ``2.0 * a``. Points are ``Θ + Σ c_k(A_k - Θ)`` with ``A_k`` in part k.

    Parameters
    ----------
    radius : float ≥ 0
        Multiplies the radii of all parts; 1 in ``a + b``.
    parts : tuple of AmbiguitySet
    factors : tuple of float ≥ 0
        ``c_k``, which multiply the premiums.

    Raises
    ------
    ProblemError
        If a part is not a set, or a factor is negative or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import KLBall, Nominal, WassersteinBall
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_samples([[0.0, 1.0], [0.0, 2.0]])  # nominal risk 2.5
    >>> parts = KLBall(0.1), WassersteinBall(0.5)
    >>> premiums = [part.worst_case(nominal, edge).risk - 2.5 for part in parts]
    >>> both = parts[0] + 2.0 * parts[1]
    >>> premium = both.worst_case(nominal, edge).risk - 2.5
    >>> print(round(premium, 6) == round(premiums[0] + 2 * premiums[1], 6))
    True
    """

    parts: tuple[AmbiguitySet, ...]
    factors: tuple[float, ...] = ()

    radius_degree: ClassVar[int] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.parts or not all(isinstance(part, AmbiguitySet) for part in self.parts):
            raise ProblemError(
                f"parts must be one or more ambiguity sets, such as (KLBall(0.1), "
                f"MomentBall(0.2)); they are {self.parts}."
            )
        given = self.factors or (1.0,) * len(self.parts)
        if len(given) != len(self.parts):
            raise ProblemError(
                f"factors must have one number for each of the {len(self.parts)} parts; they are "
                f"{given}."
            )
        factors = tuple(real_number("factor", factor, 0.0, sized=True) for factor in given)
        object.__setattr__(self, "factors", factors)

    @cached_property
    def sized_parts(self) -> tuple[AmbiguitySet, ...]:
        """The parts with their radii multiplied by the common one."""
        if self.radius == 1.0:
            return self.parts
        return tuple(replace(part, radius=self.radius * part.radius) for part in self.parts)

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the sum of the premiums, and the point made of the worst cases of the parts."""
        average, rounding = nominal_risk(nominal, laplacian)
        found = [part.worst_case(nominal, laplacian) for part in self.sized_parts]
        risk, moment, lost = average, nominal.second_moment.copy(), rounding
        for factor, worst in zip(self.factors, found, strict=True):
            risk += factor * (worst.risk - average)
            moment += factor * (worst.second_moment - nominal.second_moment)
            lost += factor * (_rounding_of(nominal, laplacian, worst) + rounding)

        def pieces() -> SumMoment:
            parts = tuple(worst.moment for worst in found)
            return SumMoment(nominal.second_moment, parts, self.factors)

        return WorstCase(risk, moment, np.nan, build_moment=pieces, rounding=lost)

    def membership(self, nominal: Nominal) -> SumMembership:
        """Return the membership of the parts."""
        return SumMembership(nominal, self)

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the distance of a matrix; infinite if no parts are found that add up to it."""
        membership = self.membership(nominal)
        return membership.distance(membership.explain(second_moment))

    @property
    def reach(self) -> float:
        """The largest reach of the parts, each times the root of its factor."""
        pairs = zip(self.factors, self.sized_parts, strict=True)
        return max(float(np.sqrt(factor)) * part.reach for factor, part in pairs)

    def constant_risk(self, d: int, trace: float) -> float:
        """Return the sum over the parts."""
        pairs = zip(self.factors, self.sized_parts, strict=True)
        return sum(factor * part.constant_risk(d, trace) for factor, part in pairs)

    def for_overlaps(self, counts: Array) -> Self:
        """Return the sum of the parts for a table with missing values."""
        return replace(self, parts=tuple(part.for_overlaps(counts) for part in self.parts))

    def scaled(self, factor: float) -> Self:
        """Return the equivalent set for data multiplied by factor."""
        return replace(self, parts=tuple(part.scaled(factor) for part in self.parts))

    def in_coordinates(self, matrix: ArrayLike) -> CombinedSet:
        """Return the sum of the parts in these coordinates."""
        return replace(self, parts=tuple(part.in_coordinates(matrix) for part in self.parts))


@dataclass(frozen=True, eq=False)
class SumMembership(Membership[SumMoment]):
    """Membership by a point of every part.

    A matrix alone does not show how it is composed of points of several parts, so only the pieces
    prove membership.
    """

    nominal: Nominal
    ambiguity: CombinedSet

    explains: ClassVar[bool] = False

    @cached_property
    def _parts(self) -> tuple[Membership[Any], ...]:
        return tuple(part.membership(self.nominal) for part in self.ambiguity.parts)

    @property
    def centre(self) -> SumMoment:
        """The centres of all parts."""
        return self._made(tuple(part.centre for part in self._parts))

    def _made(self, parts: tuple[Moment, ...]) -> SumMoment:
        return SumMoment(self.nominal.second_moment, parts, self.ambiguity.factors)

    def read(self, moment: Moment) -> SumMoment | None:
        """Read a point of every part, with the factors of the set."""
        if type(moment) is not SumMoment or moment.factors != self.ambiguity.factors:
            return None
        found = []
        for membership, part in zip(self._parts, moment.parts, strict=True):
            read = membership.read(part)
            # A part given as a matrix is explained by its own set.
            known = membership.explain(part.second_moment) if read is None else read
            if membership.read(known) is None:
                return None
            found.append(known)
        return self._made(tuple(found))

    def explain(self, second_moment: Array) -> Moment:
        """Return the point of the only part; for several parts, the matrix itself."""
        theta = self.nominal.second_moment
        if np.array_equal(second_moment, theta):
            return self.centre
        if len(self._parts) > 1 or self.ambiguity.factors[0] < _EPS:  # the change is rounding
            return DenseMoment(second_moment)
        change = (second_moment - theta) / self.ambiguity.factors[0]
        return self._made((self._parts[0].explain(theta + change),))

    def measure(self, moment: SumMoment) -> float:
        """Return the largest distance of a part, relative to the radius of the part."""
        largest = 0.0
        for membership, own, part in zip(
            self._parts, self.ambiguity.parts, moment.parts, strict=True
        ):
            largest = max(largest, relative_distance(membership.distance(part), own.radius))
        return largest * (1.0 + 4 * _EPS)


def _rounding_of(nominal: Nominal, form: Array, worst: WorstCase) -> float:
    """Return a bound of the rounding error of a risk; the set's own if it states one."""
    if worst.rounding is not None:
        return worst.rounding
    size = float(np.linalg.norm(form)) * nuclear_size(worst.moment)
    above = float(np.sum(worst.second_moment * form)) - worst.risk
    # The moment attains the risk up to rounding, so the larger of both is safe.
    miss = min(max(above, 0.0), _DISAGREEMENT * abs(worst.risk))
    return 2 * accumulation(nominal) * size + 64 * _EPS * abs(worst.risk) + miss


def combined(first: AmbiguitySet, second: AmbiguitySet) -> CombinedSet:
    """Return ``first + second``."""
    if not isinstance(second, AmbiguitySet):
        raise ProblemError(f"only an ambiguity set can be added to a set; it is {second!r}.")
    parts: list[AmbiguitySet] = []
    factors: list[float] = []
    for part in (first, second):
        if isinstance(part, CombinedSet):
            parts += part.sized_parts
            factors += part.factors
        else:
            parts.append(part)
            factors.append(1.0)
    return CombinedSet(1.0, tuple(parts), tuple(factors))


def multiplied(factor: float, part: AmbiguitySet) -> CombinedSet:
    """Return ``factor * part``."""
    number = real_number("factor", factor, 0.0, sized=True)
    if isinstance(part, CombinedSet):
        return replace(part, factors=tuple(number * known for known in part.factors))
    return CombinedSet(1.0, (part,), (number,))


@dataclass(frozen=True)
class SetInCoordinates(AmbiguitySet):
    """A set for the signals y in ``x = Ty``, as a set for the signals x.

    Write it as ``a.in_coordinates(T)``. Points are ``TMTᵀ`` with M in the set around ``T⁻¹x``.

    Parameters
    ----------
    radius : float ≥ 0
    base : AmbiguitySet
        The set for y; its own radius does not count.
    coordinates : d rows of d floats
        T, invertible.

    Raises
    ------
    ProblemError
        If T is not square, or is singular or nearly so, or if the base has its own way to change
        coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import MomentBall, Nominal
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> ball = MomentBall(0.5).in_coordinates([[1.0, 0.0], [0.0, 3.0]])
    >>> silent = Nominal.from_samples([[0.0, 0.0]])
    >>> print(ball.worst_case(silent, edge).risk)  # 0.5 times the norm of TᵀLT
    5.0
    """

    base: AmbiguitySet
    coordinates: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        matrix = coordinate_matrix("coordinates", self.coordinates)
        object.__setattr__(self, "coordinates", tuple(map(tuple, matrix.tolist())))
        if type(self.base).in_coordinates is not AmbiguitySet.in_coordinates:
            raise ProblemError(
                f"{type(self.base).__name__} has a form of its own in coordinates; write "
                "base.in_coordinates(coordinates)."
            )

    @cached_property
    def frame(self) -> MatrixFrame:
        """The coordinates."""
        return MatrixFrame(np.array(self.coordinates))

    @cached_property
    def inner(self) -> AmbiguitySet:
        """The set for y, with the radius."""
        return replace(self.base, radius=self.radius)

    def inner_nominal(self, nominal: Nominal) -> Nominal:
        """Return the nominal distribution of y."""
        coordinate_matrix("coordinates", self.coordinates, nominal.d)
        return nominal.transformed(self.frame.inverse)

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the worst case of the set for y, mapped to x."""
        # The nominal risk is computed in x, because the change of coordinates costs digits.
        average, rounding = nominal_risk(nominal, laplacian)
        if self.radius == 0.0:
            return WorstCase(
                average,
                nominal.second_moment,
                np.inf,
                build_moment=lambda: self.membership(nominal).centre,
                rounding=rounding,
            )
        form = self.frame.form(laplacian)
        if isinstance(self.inner, ShiftBall) and self.inner.entrywise:
            return self._worst_shift(nominal, laplacian, form, (average, rounding))
        inside = self.inner_nominal(nominal)
        worst = self.inner.worst_case(inside, form)
        products = inside.second_moment * form
        premium = worst.risk - float(np.sum(products))
        lost = rounding + _rounding_of(inside, form, worst) + 64 * _EPS * abs(premium)
        # An error E of TᵀLT changes the risk by at most ‖E‖ times the largest trace in the set.
        error = float(np.linalg.norm(self.frame.form_error(laplacian)))
        largest = self.inner.worst_case(inside, np.eye(nominal.d)).risk
        lost += error * 1.01 * (largest + float(np.trace(inside.second_moment)))
        lost += 64 * _EPS * float(np.abs(products).sum())
        # Mapped back to x, the computed signals y differ from the given ones.
        moment = self.frame.moment(worst.second_moment)
        squares = float(np.trace(nominal.second_moment)) + max(float(np.trace(moment)), 0.0)
        top = 2 * float(np.diagonal(laplacian).max())
        lost += 4 * self.frame.residual * top * squares
        return WorstCase(
            average + premium,
            moment,
            worst.multiplier,
            build_moment=lambda: MappedMoment(worst.moment, self.frame.matrix),
            rounding=lost,
        )

    def _worst_shift(
        self, nominal: Nominal, laplacian: Array, form: Array, known: tuple[float, float]
    ) -> WorstCase:
        """Return the worst case of a norm ball of shifts; its premium does not depend on the data.

        Around the data, ``⟨Θ, TᵀLT⟩`` would be added and subtracted; around zero nothing cancels.
        The size of a shift depends on the absolute values of its entries only. An error of ``TᵀLT``
        therefore adds at most the premium of the matrix of the bounds of its entries.
        """
        average, rounding = known
        silent = Nominal.from_rows(np.zeros(nominal.d), np.zeros((1, nominal.d)))
        worst = self.inner.worst_case(silent, form)
        shift = worst.second_moment
        lost = _rounding_of(silent, form, worst) + 64 * _EPS * abs(worst.risk)
        lost += 1.01 * self.inner.worst_case(silent, self.frame.form_error(laplacian)).risk
        return WorstCase(
            average + worst.risk,
            nominal.second_moment + self.frame.moment(shift),
            worst.multiplier,
            build_moment=lambda: MappedMoment(
                TransportedMoment(self.inner_nominal(nominal).rows, shift=shift), self.frame.matrix
            ),
            rounding=rounding + lost,
        )

    def membership(self, nominal: Nominal) -> MappedMembership:
        """Return the membership of the set for y."""
        return MappedMembership(nominal, self)

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the distance of ``T⁻¹MT⁻ᵀ`` in the set for y."""
        inside = self.inner_nominal(nominal)
        return self.inner.distance(inside, self.frame.inner_moment(second_moment))

    @property
    def reach(self) -> float:
        """The reach of the set for y, stretched."""
        return self.inner.reach * self.frame.widest

    def scaled(self, factor: float) -> Self:
        """Return the equivalent set for data multiplied by factor."""
        base = self.inner.scaled(factor)
        return replace(self, base=base, radius=base.radius)

    def in_coordinates(self, matrix: ArrayLike) -> SetInCoordinates:
        """Return the set in the product of both coordinates."""
        outer = coordinate_matrix("coordinates", matrix, len(self.coordinates))
        return replace(self, coordinates=(outer @ self.frame.matrix).tolist())


@dataclass(frozen=True, eq=False)
class MappedMembership(Membership[MappedMoment]):
    """Membership in coordinates: that of the set for y."""

    nominal: Nominal
    ambiguity: SetInCoordinates

    @cached_property
    def _inner(self) -> Membership[Any]:
        inside = self.ambiguity.inner_nominal(self.nominal)
        return self.ambiguity.inner.membership(inside)

    def _made(self, inner: Moment) -> MappedMoment:
        return MappedMoment(inner, self.ambiguity.frame.matrix)

    @property
    def centre(self) -> MappedMoment:
        """The centre of the set for y."""
        return self._made(self._inner.centre)

    def read(self, moment: Moment) -> MappedMoment | None:
        """Read a point of the set for y in the same coordinates."""
        if type(moment) is not MappedMoment:
            return None
        if not np.array_equal(moment.matrix, self.ambiguity.frame.matrix):
            return None
        found = self._inner.read(moment.inner)
        return None if found is None else self._made(found)

    def explain(self, second_moment: Array) -> MappedMoment:
        """Return the point of the set for y with this moment of x."""
        inside = self.ambiguity.frame.inner_moment(second_moment)
        return self._made(self._inner.explain(inside))

    def measure(self, moment: MappedMoment) -> float:
        """Return the distance of the point in the set for y."""
        return self._inner.distance(moment.inner)


OPERATIONS.update({"sum": combined, "multiple": multiplied, "coordinates": SetInCoordinates})
