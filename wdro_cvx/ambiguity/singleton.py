"""No ambiguity at all: the sample average approximation (SAA), the paper's baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase, register_ambiguity
from wdro_cvx.ambiguity.moment import entrywise_norm
from wdro_cvx.ambiguity.shift import ShiftBall
from wdro_cvx.ambiguity.smoothness import nominal_risk, nominal_risks
from wdro_cvx.errors import ProblemError
from wdro_cvx.moments.distribution import nominal_distribution
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.validation import Array


@register_ambiguity
@dataclass(frozen=True)
class Singleton(ShiftBall):
    """The set that contains the nominal distribution only, which gives the sample average.

    Parameters
    ----------
    radius : float
        Always 0.

    Raises
    ------
    ProblemError
        If the radius is not 0.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Nominal, Singleton
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_samples([[0.0, 1.0], [0.0, 2.0]])  # smoothness 1 and 4
    >>> print(round(Singleton().worst_case(nominal, edge).risk, 6))
    2.5
    """

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
        """Return the set; the radius is ignored."""
        return cls()

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the nominal second moment and its expected smoothness."""
        risk, rounding = nominal_risk(nominal, laplacian)
        return WorstCase(
            risk,
            nominal.second_moment,
            np.inf,
            lambda: nominal_distribution(nominal),
            partial(_nominal_moment, nominal),
            rounding,
        )

    @staticmethod
    def worst_cases(
        sets: Sequence[AmbiguitySet], nominals: Sequence[Nominal], laplacians: Array
    ) -> list[WorstCase]:
        """Return the nominal second moments and their expected smoothness."""
        risks, rounding = nominal_risks(nominals, laplacians)
        return [
            WorstCase(
                risk,
                nominal.second_moment,
                np.inf,
                partial(nominal_distribution, nominal),
                partial(_nominal_moment, nominal),
                error,
            )
            for nominal, risk, error in zip(
                nominals, risks.tolist(), rounding.tolist(), strict=True
            )
        ]

    def size(self, shift: Array) -> float:
        """Return the Frobenius norm, which is zero in the set and nowhere else."""
        return float(entrywise_norm(shift, 2.0))


def _nominal_moment(nominal: Nominal) -> TransportedMoment:
    return TransportedMoment(nominal.rows)
