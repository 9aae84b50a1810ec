"""The interface of ambiguity sets.

Every model is ``min_L R(L) + prior(L)`` with ``R(L) = sup {⟨M, L⟩ : M ∈ 𝓜}`` for a convex set 𝓜 of
second moments around ``Θ``. A solver therefore needs one function, :meth:`AmbiguitySet.worst_case`:
values, gradients and certificates follow from it. The judge also needs ``distance``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

from numpy.typing import ArrayLike

from wdro_cvx.ambiguity.membership import MatrixMembership, Membership
from wdro_cvx.ambiguity.structure import Structure
from wdro_cvx.errors import ProblemError
from wdro_cvx.moments.distribution import Distribution
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import DenseMoment, Moment
from wdro_cvx.registry import Registry
from wdro_cvx.validation import Array, one_number, real_number


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The worst case of an ambiguity set for one Laplacian.

    Attributes
    ----------
    risk : float
        ``R(L)``, the largest expected smoothness over the set, without the prior.
    second_moment : array (d, d)
        A second moment in the set that attains the risk; also the gradient of ``R`` if it exists.
    multiplier : float
        The dual variable γ of the radius; infinite for radius zero.
    build_distribution : callable, optional
        Builds :attr:`distribution` on demand. Solvers call ``worst_case`` at every step and never
        need the distribution.
    build_moment : callable, optional
        Builds :attr:`moment` on demand: the second moment with the evidence that it is in the set.
    rounding : float, optional
        By how much rounding may have lowered the risk. If it is None, the judge uses a bound of its
        own.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Nominal, WassersteinBall
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_samples([[0.0, 1.0], [0.0, -1.0]])
    >>> worst = WassersteinBall(0.5).worst_case(nominal, edge)
    >>> print(round(worst.risk, 3), round(float(np.vdot(worst.second_moment, edge)), 3))
    2.914 2.914
    >>> print(worst.distribution.points.round(2))
    [[-0.85  0.85]
     [ 0.85 -0.85]]
    """

    risk: float
    second_moment: Array
    multiplier: float
    build_distribution: Callable[[], Distribution] | None = field(default=None, repr=False)
    build_moment: Callable[[], Moment] | None = field(default=None, repr=False)
    rounding: float | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        # Formulas often return NumPy scalars; Python floats are stored and printed instead.
        for name in ("risk", "multiplier", "rounding"):
            value = getattr(self, name)
            if type(value) is not float and not (name == "rounding" and value is None):
                object.__setattr__(self, name, one_number(f"WorstCase: {name}", value))

    @cached_property
    def moment(self) -> Moment:
        """The second moment, with evidence of membership if the set provides it."""
        return DenseMoment(self.second_moment) if self.build_moment is None else self.build_moment()

    @cached_property
    def distribution(self) -> Distribution:
        """A distribution in the set that attains the risk."""
        if self.build_distribution is None:
            raise ProblemError(
                "This set has no worst-case distribution of signals, only a second moment. "
                "Use GaussianBall or WassersteinBall, whose points are distributions."
            )
        return self.build_distribution()


@dataclass(frozen=True)
class AmbiguitySet(ABC):
    """A ball of distributions around the nominal one; the base class of all sets.

    To write a new set, subclass this with the parameters as further dataclass fields and implement
    :meth:`worst_case` and :meth:`distance`. The set must contain the nominal moment.

    Parameters
    ----------
    radius : float ≥ 0
        The paper's ε; 0 gives the sample average.

    Raises
    ------
    ProblemError
        If the radius is negative or not finite.

    Examples
    --------
    A set that scales the nominal moment up by at most ``1 + radius``:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from wdro_cvx import AmbiguitySet, WorstCase, check_ambiguity
    >>> @dataclass(frozen=True)
    ... class Inflated(AmbiguitySet):
    ...     radius_degree = 0  # a factor has no unit
    ...     def worst_case(self, nominal, laplacian):
    ...         moment = (1 + self.radius) * nominal.second_moment
    ...         return WorstCase(float(np.vdot(moment, laplacian)), moment, 0.0)
    ...     def distance(self, nominal, second_moment):
    ...         theta = nominal.second_moment
    ...         factor = np.trace(second_moment) / np.trace(theta)
    ...         same = np.allclose(second_moment, factor * theta) and factor >= 1.0
    ...         return factor - 1 if same else np.inf
    >>> report = check_ambiguity(Inflated(0.3))
    >>> print(report.failures)
    ()
    """

    radius: float

    #: The power by which the radius scales with the data: 1 in signal space, 2 in moment space.
    radius_degree: ClassVar[int] = 1

    #: Whether :meth:`distance` is always finite and depends on the data through ``Θ`` only.
    finite_distance: ClassVar[bool] = False

    def __post_init__(self) -> None:
        radius = real_number(
            "radius", self.radius, 0.0, sized=True, remedy="Radius 0 is the sample average."
        )
        object.__setattr__(self, "radius", radius)

    @abstractmethod
    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the worst-case risk of a Laplacian and a second moment that attains it."""

    @staticmethod
    def worst_cases(
        sets: Sequence[AmbiguitySet], nominals: Sequence[Nominal], laplacians: Array
    ) -> list[WorstCase]:
        """Return the worst cases of several sets of this class.

        Override it if a stack of Laplacians (B, d, d) takes less time than one after the other.
        :func:`stacked_worst_cases` does not use an override that a class inherits.
        """
        return each_worst_case(sets, nominals, laplacians)

    @abstractmethod
    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the distance from the nominal second moment; at most ``radius`` in the set.

        It must never be too small: ``distance ≤ radius`` proves membership.
        """

    def structure(self, nominal: Nominal) -> Structure | None:
        """Return the structure that specialised solvers exploit; None if there is none."""
        return None

    def membership(self, nominal: Nominal) -> Membership[Any]:
        """Return the test of membership for second moments; by default it measures the matrix."""
        return MatrixMembership(nominal, self.distance)

    @property
    def reach(self) -> float:
        """The size of the set, in the unit of the data; 0 if its radius is dimensionless."""
        degree = self.radius_degree
        return float(self.radius ** (1.0 / degree)) if degree > 0 else 0.0

    def constant_risk(self, d: int, trace: float) -> float:
        """Return a part of the risk that is the same for all graphs of this trace.

        Relative gaps leave it out because it does not depend on the graph.
        """
        return 0.0

    @classmethod
    def example(cls, radius: float, d: int) -> Self:
        """Return a set of this kind for d vertices, for comparisons and checks.

        Override it if parameters depend on the number of vertices.
        """
        return cls(radius)

    def for_overlaps(self, counts: Array) -> Self:
        """Return the set for a table with missing values.

        Columns i and j share ``counts[i, j]`` rows. Override it if the set should allow more
        uncertainty for pairs with fewer rows.
        """
        return self

    def scaled(self, factor: float) -> Self:
        """Return the equivalent set for data multiplied by factor."""
        return replace(self, radius=self.radius * factor**self.radius_degree)

    def __add__(self, other: AmbiguitySet) -> AmbiguitySet:
        """Return the sum of two sets: their premiums add (see :class:`CombinedSet`)."""
        return OPERATIONS["sum"](self, other)

    def __rmul__(self, factor: float) -> AmbiguitySet:
        """Return the set whose premium is ``factor`` times as large."""
        return OPERATIONS["multiple"](factor, self)

    def __and__(self, other: AmbiguitySet) -> AmbiguitySet:
        """Return the intersection of two sets (see :mod:`wdro_cvx.ambiguity.intersection`)."""
        return OPERATIONS["intersection"](self, other)

    def in_coordinates(self, matrix: ArrayLike) -> AmbiguitySet:
        """Return this set for the signals y in ``x = Ty``, as a set for the signals x.

        Parameters
        ----------
        matrix : array (d, d)
            T, invertible.

        Raises
        ------
        ProblemError
            If T is not invertible.

        Examples
        --------
        The Euclidean ball in coordinates is a ball with a full-matrix metric:

        >>> from wdro_cvx import WassersteinBall
        >>> WassersteinBall(0.5).in_coordinates([[1.0, 0.0], [0.5, 1.0]])
        MetricBall(radius=0.5, coordinates=((1.0, 0.0), (0.5, 1.0)))
        """
        return OPERATIONS["coordinates"](self.radius, self, matrix)


#: Functions by name that make sets from other sets. The modules that define these sets (algebra.py,
#: intersection.py, metric.py) add them, because they import this module.
OPERATIONS: dict[str, Callable[..., AmbiguitySet]] = {}


def stacked_worst_cases(
    sets: Sequence[AmbiguitySet], nominals: Sequence[Nominal], laplacians: Array
) -> list[WorstCase]:
    """Return the worst cases of several sets of one class, by its own formula for stacks if any.

    An inherited formula is not used, because the class may have another ``worst_case``.
    """
    kind = type(sets[0])
    formula = kind.worst_cases if "worst_cases" in vars(kind) else each_worst_case
    return formula(sets, nominals, laplacians)


def each_worst_case(
    sets: Sequence[AmbiguitySet], nominals: Sequence[Nominal], laplacians: Array
) -> list[WorstCase]:
    """Return the worst cases of several sets, one after the other."""
    triples = zip(sets, nominals, laplacians, strict=True)
    return [ambiguity.worst_case(nominal, laplacian) for ambiguity, nominal, laplacian in triples]


A = TypeVar("A", bound=type[AmbiguitySet])
_REGISTRY: Registry[AmbiguitySet] = Registry(AmbiguitySet)


def register_ambiguity(cls: A) -> A:
    """Register an ambiguity set under its class name, for ``wdro compare`` and the command line.

    Parameters
    ----------
    cls : AmbiguitySet subclass
        Fields other than the radius need defaults, or :meth:`AmbiguitySet.example` must be
        overridden.

    Returns
    -------
    AmbiguitySet subclass
        The same class, so that this works as a decorator.

    Raises
    ------
    ProblemError
        If the class is abstract or not an AmbiguitySet, or if another class has its name.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from wdro_cvx import MomentBall, register_ambiguity
    >>> @register_ambiguity
    ... @dataclass(frozen=True)
    ... class LaplaceBall(MomentBall):
    ...     p: float = 1.0
    >>> from wdro_cvx.ambiguity import named_ambiguity
    >>> named_ambiguity("laplace")
    LaplaceBall(radius=0.0, p=1.0, alpha=1.0)
    """
    _REGISTRY.add(cls)
    return cls


def registered_ambiguities() -> dict[str, type[AmbiguitySet]]:
    """Return all registered ambiguity sets by class name.

    Returns
    -------
    dict of str to AmbiguitySet subclass

    Examples
    --------
    >>> from wdro_cvx import registered_ambiguities
    >>> registered_ambiguities()["KLBall"].example(radius=0.1, d=4)
    KLBall(radius=0.1)
    """
    return _REGISTRY.all()
