"""What an ambiguity set must be able to do.

Every model is ``min_L R(L) + η‖L‖_F²`` with ``R(L) = sup {⟨M, L⟩ : M ∈ 𝓜}`` for a convex set 𝓜 of
second moments around ``Θ``. So a set is one function, :meth:`AmbiguitySet.worst_case`; the value,
the gradient and the certificate of any solver follow from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

from wdro_cvx.ambiguity.membership import MatrixMembership, Membership
from wdro_cvx.ambiguity.structure import Structure
from wdro_cvx.errors import ProblemError
from wdro_cvx.moments.distribution import Distribution
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import DenseMoment, Moment
from wdro_cvx.registry import Registry
from wdro_cvx.validation import Array, real_number


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The worst that a set allows against one Laplacian.

    Attributes
    ----------
    risk : float
        ``R(L)``, the largest expected smoothness over the set, without the ``η‖L‖²`` term.
    second_moment : array (d, d)
        A second moment in the set that attains it; also the gradient of ``R`` where it has one.
    multiplier : float
        The dual variable γ of the radius; infinite where the radius is zero.
    build_distribution : callable, optional
        What :attr:`distribution` calls; solvers ask for a worst case at every step and have no use
        for the distribution itself.
    build_moment : callable, optional
        What :attr:`moment` calls: the second moment with what proves that it is in the set.
    rounding : float, optional
        By how much rounding may have lowered the risk, where the set knows; the judge has a rule of
        its own for sets that say nothing.
    """

    risk: float
    second_moment: Array
    multiplier: float
    build_distribution: Callable[[], Distribution] | None = field(default=None, repr=False)
    build_moment: Callable[[], Moment] | None = field(default=None, repr=False)
    rounding: float | None = field(default=None, repr=False)

    @cached_property
    def moment(self) -> Moment:
        """The second moment, with what it was made of where the set says so."""
        return DenseMoment(self.second_moment) if self.build_moment is None else self.build_moment()

    @cached_property
    def distribution(self) -> Distribution:
        """A worst-case distribution: it attains the risk, at the set's radius from the nominal."""
        if self.build_distribution is None:
            raise ProblemError(
                "This set has no worst-case distribution of signals, only a second moment. "
                "Use GaussianBall or WassersteinBall, whose points are distributions."
            )
        return self.build_distribution()


@dataclass(frozen=True)
class AmbiguitySet(ABC):
    """A ball of distributions around the nominal one.

    A new set subclasses this with its parameters as further dataclass fields and writes
    :meth:`worst_case` and :meth:`distance`. The nominal moment must belong to it.

    Parameters
    ----------
    radius : float ≥ 0
        The paper's ε; 0 trusts the data and gives the sample average.
    """

    radius: float

    #: The power by which the radius grows with the data: 1 in signal space, 2 in moment space.
    radius_degree: ClassVar[int] = 1

    #: Whether :meth:`distance` is always finite, and reads nothing of the data but ``Θ``.
    finite_distance: ClassVar[bool] = False

    def __post_init__(self) -> None:
        radius = real_number(
            "radius", self.radius, 0.0, sized=True, remedy="Radius 0 is the sample average."
        )
        object.__setattr__(self, "radius", radius)

    @abstractmethod
    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the worst-case risk of a Laplacian and a second moment that attains it."""

    @abstractmethod
    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return how far a second moment is from the nominal one; at most ``radius`` inside.

        It never understates, so that ``distance ≤ radius`` proves membership.
        """

    def structure(self, nominal: Nominal) -> Structure | None:
        """Return how the set is made, for solvers that exploit it; None if they cannot."""
        return None

    def membership(self, nominal: Nominal) -> Membership[Any]:
        """Return how a second moment shows that it is in the set; by default as a matrix."""
        return MatrixMembership(nominal, self.distance)

    def constant_risk(self, d: int, trace: float) -> float:
        """Return a part of the risk that all graphs of this trace share.

        Relative gaps leave it out, because it says nothing of the graph.
        """
        return 0.0

    @classmethod
    def example(cls, radius: float, d: int) -> Self:
        """Return a set of this kind for d vertices, for comparisons.

        A set with parameters that depend on the number of vertices overrides this.
        """
        return cls(radius)

    def for_overlaps(self, counts: Array) -> Self:
        """Return the set for a table with holes, whose columns i and j share ``counts[i, j]`` rows.

        A set that distrusts what few rows tell more than what many do overrides this.
        """
        return self

    def scaled(self, factor: float) -> Self:
        """Return the set that corresponds to this one after the data are multiplied by factor."""
        return replace(self, radius=self.radius * factor**self.radius_degree)


A = TypeVar("A", bound=type[AmbiguitySet])
_REGISTRY: Registry[AmbiguitySet] = Registry(AmbiguitySet)


def register_ambiguity(cls: A) -> A:
    """Class decorator: make a set known by its name, so that ``wdro compare`` can run it.

    Fields beside the radius need defaults, or :meth:`AmbiguitySet.example` has to be overridden.
    """
    _REGISTRY.add(cls)
    return cls


def registered_ambiguities() -> dict[str, type[AmbiguitySet]]:
    """Return all registered sets by name."""
    return _REGISTRY.all()
