"""No ambiguity at all: the sample average approximation (SAA), the paper's baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase, register_ambiguity
from wdro_cvx.ambiguity.smoothness import nominal_risk
from wdro_cvx.errors import ProblemError
from wdro_cvx.moments.distribution import nominal_distribution
from wdro_cvx.moments.moment import DenseMoment, Moment, TransportedMoment
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.validation import Array


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

    @property
    def single_point(self) -> bool:
        """It is."""
        return True

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the nominal second moment and its expected smoothness."""
        risk, rounding = nominal_risk(nominal, laplacian)
        return WorstCase(
            risk,
            nominal.second_moment,
            np.inf,
            lambda: nominal_distribution(nominal),
            lambda: self.centre(nominal),
            rounding,
        )

    def centre(self, nominal: Nominal) -> TransportedMoment:
        """Return the nominal rows."""
        return TransportedMoment(nominal.rows)

    def explain(self, nominal: Nominal, second_moment: Array) -> Moment:
        """Return the nominal rows for their own moment; any other is not in the set."""
        if np.array_equal(second_moment, nominal.second_moment):
            return self.centre(nominal)
        return DenseMoment(second_moment)

    def accepts(self, nominal: Nominal, moment: Moment) -> bool:
        """Accept the nominal rows themselves."""
        if type(moment) is not TransportedMoment or moment.spread is not None:
            return False
        return moment.shift is None and nominal.holds(moment.moved)

    def proved_distance(self, nominal: Nominal, moment: Moment) -> float:
        """Return zero for the nominal rows themselves."""
        return 0.0 if self.accepts(nominal, moment) else np.inf

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the Frobenius distance, which is zero in the set."""
        return float(np.linalg.norm(second_moment - nominal.second_moment))
