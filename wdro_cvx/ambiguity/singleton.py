"""No ambiguity at all: the sample average approximation (SAA), the paper's baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase, register_ambiguity
from wdro_cvx.distribution import nominal_distribution
from wdro_cvx.errors import ProblemError
from wdro_cvx.moment import Moment, TransportedMoment
from wdro_cvx.nominal import Nominal
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

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the nominal second moment and its expected smoothness."""
        moment = nominal.second_moment
        return WorstCase(
            float(np.vdot(moment, laplacian)),
            moment,
            np.inf,
            lambda: nominal_distribution(nominal),
            lambda: self.centre(nominal),
        )

    def centre(self, nominal: Nominal) -> TransportedMoment:
        """Return the nominal rows."""
        return TransportedMoment(nominal.factor)

    def proved_distance(self, nominal: Nominal, moment: Moment) -> float:
        """Return zero for the nominal rows themselves."""
        if not isinstance(moment, TransportedMoment) or moment.rest is not None:
            return self.distance(nominal, moment.second_moment)
        same = np.array_equal(moment.rows, nominal.factor)
        return 0.0 if same else self.distance(nominal, moment.second_moment)

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the Frobenius distance, which is zero in the set."""
        return float(np.linalg.norm(second_moment - nominal.second_moment))
