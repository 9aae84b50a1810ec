"""No ambiguity at all: the sample average approximation (SAA), the paper's baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase, register_ambiguity
from wdro_cvx.ambiguity.membership import Membership
from wdro_cvx.ambiguity.smoothness import nominal_risk
from wdro_cvx.errors import ProblemError
from wdro_cvx.moments.distribution import nominal_distribution
from wdro_cvx.moments.moment import DenseMoment, Moment, TransportedMoment
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.validation import Array


@dataclass(frozen=True, eq=False)
class PointMembership(Membership[TransportedMoment]):
    """The nominal rows, and nothing else."""

    nominal: Nominal

    @property
    def centre(self) -> TransportedMoment:
        """The nominal rows."""
        return TransportedMoment(self.nominal.rows)

    def read(self, moment: Moment) -> TransportedMoment | None:
        """Read the nominal rows themselves."""
        if type(moment) is not TransportedMoment or moment.spread is not None:
            return None
        return moment if moment.shift is None and self.nominal.holds(moment.moved) else None

    def explain(self, second_moment: Array) -> Moment:
        """Return the nominal rows for their own moment; any other is not in the set."""
        if np.array_equal(second_moment, self.nominal.second_moment):
            return self.centre
        return DenseMoment(second_moment)

    def measure(self, moment: TransportedMoment) -> float:
        """Return zero."""
        return 0.0


@register_ambiguity
@dataclass(frozen=True)
class Singleton(AmbiguitySet):
    """The set that holds the nominal distribution alone."""

    radius: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.radius != 0.0:
            raise ProblemError(
                f"radius must be 0 for Singleton; it is {self.radius:g}. "
                "Use GaussianBall, WassersteinBall or MomentBall for a positive radius."
            )

    @classmethod
    def example(cls, radius: float, d: int) -> Self:
        """Return the set; it has no radius."""
        return cls()

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the nominal second moment and its expected smoothness."""
        risk, rounding = nominal_risk(nominal, laplacian)
        return WorstCase(
            risk,
            nominal.second_moment,
            np.inf,
            lambda: nominal_distribution(nominal),
            lambda: TransportedMoment(nominal.rows),
            rounding,
        )

    def membership(self, nominal: Nominal) -> PointMembership:
        """Return the membership of the nominal rows alone."""
        return PointMembership(nominal)

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the Frobenius distance, which is zero in the set."""
        return float(np.linalg.norm(second_moment - nominal.second_moment))
