"""The Mahalanobis ball: transport costs less at vertices with noisier sensors.

The ground cost is ``‖S⁻¹(x - y)‖₂`` with a scale per vertex, ``S = diag(s)``. In the coordinates
``S⁻¹x`` this is the Euclidean ball with the Laplacian ``SLS``, so the worst case is the Gelbrich
one (Blanchet, Kang and Murthy, J. Appl. Probab. 2019, treat Wasserstein balls of such costs).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx.ambiguity.base import OPERATIONS, AmbiguitySet, WorstCase, register_ambiguity
from wdro_cvx.ambiguity.gelbrich import GaussianBall, WassersteinBall
from wdro_cvx.ambiguity.smoothness import data_error, nominal_risk
from wdro_cvx.ambiguity.transport import TransportBall, worst_transport
from wdro_cvx.errors import ProblemError
from wdro_cvx.moments.distribution import Discrete, Distribution, Gaussian
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.validation import Array, coordinate_matrix, positive_scales

_LARGEST = 1e30


@register_ambiguity
@dataclass(frozen=True)
class MahalanobisBall(TransportBall):
    """All distributions within type-2 transport distance ``radius``, with a scale per vertex.

    Use it if some sensors are noisier than others. Without samples the distributions are Gaussians,
    as in :class:`GaussianBall`.

    Parameters
    ----------
    radius : float ≥ 0
    scales : sequence of d floats > 0
        The standard deviation of the noise at every vertex. Only ``radius·scales`` matters, so they
        may be relative. With all scales 1 the set is the Wasserstein ball.

    Raises
    ------
    ProblemError
        If a scale is not positive, or the scales are too far apart.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import MahalanobisBall, Nominal
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_samples([[1.0, -1.0], [-1.0, 1.0]])
    >>> worst = MahalanobisBall(0.5, scales=(1.0, 0.1)).worst_case(nominal, edge)
    >>> print(worst.distribution.points.round(1))  # the noisier vertex 0 moves
    [[ 1.5 -1. ]
     [-1.5  1. ]]
    """

    scales: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        scales = positive_scales(
            self.scales, "vertex {}".format, "Use a small scale for a sensor without noise."
        )
        if not 1.0 / _LARGEST <= scales.max() <= _LARGEST:
            raise ProblemError(
                f"the largest of scales must lie between {1.0 / _LARGEST:g} and {_LARGEST:g}; it "
                f"is {scales.max():g}. Only radius·scales matters: rescale both."
            )
        object.__setattr__(self, "scales", tuple(scales.tolist()))

    @classmethod
    def example(cls, radius: float, d: int) -> Self:
        """Return a ball with noise scales from 0.5 to 1.5."""
        return cls(radius, scales=tuple(np.linspace(0.5, 1.5, d)))

    def in_coordinates(self, matrix: ArrayLike) -> AmbiguitySet:
        """Return the ball of the signals x = Ty, with the metric of T and of the scales."""
        stretched = coordinate_matrix("coordinates", matrix, len(self.scales)) * self.scales
        return OPERATIONS["metric"](self.radius, stretched)

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the Gelbrich worst case of the rescaled problem in the original coordinates."""
        scales = self.scales_of(nominal)
        congruent = laplacian * np.outer(scales, scales)
        worst = worst_transport(nominal.factor / scales, congruent, self.radius)
        average, rounding = nominal_risk(nominal, laplacian)
        moment = nominal.second_moment
        if self.radius > 0.0:
            moment = worst.second_moment() * np.outer(scales, scales)
        # The rounding error is that of the decomposition of SLS with the rescaled rows.
        unsure = data_error(nominal, scales)
        rounding += worst.rounding(nominal.factor / scales, congruent, unsure)

        def distribution() -> Distribution:
            euclidean = GaussianBall if nominal.samples is None else WassersteinBall
            whitened = nominal.scaled(1.0 / scales)
            found = euclidean(self.radius).worst_case(whitened, congruent).distribution
            return _stretched(found, scales)

        return WorstCase(
            average + worst.premium,
            moment,
            worst.multiplier,
            distribution,
            lambda: _unwhitened(worst.moment(), scales),
            rounding,
        )

    def scales_of(self, nominal: Nominal) -> Array:
        """Return the scales, or raise ProblemError unless there is one for every vertex."""
        if len(self.scales) != nominal.d:
            raise ProblemError(
                f"scales must have one entry for each of the {nominal.d} vertices; "
                f"it has {len(self.scales)}."
            )
        return np.array(self.scales)


def _unwhitened(moment: TransportedMoment, scales: Array) -> TransportedMoment:
    spread = None if moment.spread is None else moment.spread * scales
    return TransportedMoment(moment.moved * scales, spread)


def _stretched(distribution: Distribution, scales: Array) -> Distribution:
    if isinstance(distribution, Discrete):
        return Discrete(distribution.points * scales, distribution.weights)
    return Gaussian(distribution.mean * scales, distribution.covariance * np.outer(scales, scales))
