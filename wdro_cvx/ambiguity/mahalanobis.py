"""The Mahalanobis ball: transport is cheaper where the sensors are worse.

The ground cost is ``‖S⁻¹(x - y)‖₂`` with a scale per vertex, ``S = diag(s)``. In the coordinates
``S⁻¹x`` this is the Euclidean ball, with ``SLS`` for the Laplacian, so its oracle is the Gelbrich
one (Blanchet, Kang and Murthy, J. Appl. Probab. 2019, for Wasserstein balls of such costs).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase, register_ambiguity
from wdro_cvx.ambiguity.gelbrich import GaussianBall, WassersteinBall
from wdro_cvx.distribution import Discrete, Distribution, Gaussian
from wdro_cvx.errors import ProblemError
from wdro_cvx.nominal import Nominal
from wdro_cvx.validation import Array, finite_array


@register_ambiguity
@dataclass(frozen=True)
class MahalanobisBall(AmbiguitySet):
    """All distributions within type-2 transport distance ``radius``, with a scale per vertex.

    Use it where some sensors are noisier than others. From moments alone the distributions are
    Gaussians, as in :class:`GaussianBall`.

    Parameters
    ----------
    radius : float ≥ 0
    scales : sequence of d floats > 0
        The standard deviation of the noise at every vertex. It may be relative, since only
        ``radius·scales`` counts; with all scales 1 the set is the Wasserstein ball.
    """

    scales: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        scales = finite_array("scales", self.scales, 1, ProblemError)
        if scales.min() <= 0.0:
            vertex = int(scales.argmin())
            raise ProblemError(
                f"scales must be positive; that of vertex {vertex} is {scales[vertex]:g}. "
                "A sensor without noise has a small scale, not zero."
            )
        # A tuple, so that sets can be compared and hashed.
        object.__setattr__(self, "scales", tuple(float(scale) for scale in scales))

    @classmethod
    def example(cls, radius: float, d: int) -> Self:
        """Return a ball whose sensors have noise from one half to three halves."""
        return cls(radius, scales=tuple(np.linspace(0.5, 1.5, d)))

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the Gelbrich worst case in the coordinates of the sensors, taken back."""
        whitened, scales = self._whitened(nominal)
        euclidean = GaussianBall if nominal.samples is None else WassersteinBall
        congruent = laplacian * np.outer(scales, scales)
        worst = euclidean(self.radius).worst_case(whitened, congruent)
        if self.radius == 0.0:
            moment, risk = nominal.second_moment, float(np.vdot(nominal.second_moment, laplacian))
        else:
            moment, risk = worst.second_moment * np.outer(scales, scales), worst.risk
        return WorstCase(
            risk, moment, worst.multiplier, lambda: _stretched(worst.distribution, scales)
        )

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the Gelbrich distance in the coordinates of the sensors."""
        whitened, scales = self._whitened(nominal)
        return GaussianBall(self.radius).distance(
            whitened, second_moment / np.outer(scales, scales)
        )

    def _whitened(self, nominal: Nominal) -> tuple[Nominal, Array]:
        if len(self.scales) != nominal.d:
            raise ProblemError(
                f"scales must have one entry for each of the {nominal.d} vertices; "
                f"it has {len(self.scales)}."
            )
        return _divided(nominal, self.scales), np.array(self.scales)


@lru_cache(maxsize=2)  # a solver asks at every step, and the nominal's factor is kept with it
def _divided(nominal: Nominal, scales: tuple[float, ...]) -> Nominal:
    return nominal.scaled(1.0 / np.array(scales))


def _stretched(distribution: Distribution, scales: Array) -> Distribution:
    if isinstance(distribution, Discrete):
        return Discrete(distribution.points * scales, distribution.weights)
    return Gaussian(distribution.mean * scales, distribution.covariance * np.outer(scales, scales))
