"""The Gaussian and the Wasserstein ball share one worst case (Theorem 1, Proposition 3).

For type-2 transport with Euclidean cost the risk depends on the data through ``Θ`` alone, so the
paper's Gaussian and general scenarios have the same value (docs/paper.md E2):

    R(L) = ⟨Θ, L⟩ + inf_{γ > λmax} γε² + Tr(L(γI - L)⁻¹LΘ)

The worst-case distribution moves every signal ``x`` to ``γ(γI - L)⁻¹x``. In the hard case it also
moves mass in both directions along a top eigenvector, to use the rest of the budget.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx.ambiguity.base import (
    OPERATIONS,
    AmbiguitySet,
    WorstCase,
    each_worst_case,
    register_ambiguity,
)
from wdro_cvx.ambiguity.smoothness import nominal_risk, nominal_risks
from wdro_cvx.ambiguity.transport import TransportBall, WorstTransport, worst_transport
from wdro_cvx.errors import ProblemError
from wdro_cvx.moments.distribution import Discrete, Distribution, Gaussian, uniform
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.stacks import diagonals
from wdro_cvx.validation import Array


@dataclass(frozen=True)
class _GelbrichBall(TransportBall):
    """The second moments within type-2 Wasserstein distance ``radius`` of the nominal one."""

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the worst-case risk through one eigendecomposition and the secular equation."""
        worst = worst_transport(nominal.factor, laplacian, self.radius)
        average, rounding = nominal_risk(nominal, laplacian)
        return WorstCase(
            average + worst.premium,
            worst.second_moment() if self.radius > 0.0 else nominal.second_moment,
            worst.multiplier,
            partial(_distribution, self, nominal, worst),
            worst.moment,
            rounding + worst.rounding(nominal.factor, laplacian, nominal.factor_error),
        )

    def in_coordinates(self, matrix: ArrayLike) -> AmbiguitySet:
        """Return the ball with the metric ``(TTᵀ)⁻¹``."""
        return OPERATIONS["metric"](self.radius, matrix)

    @abstractmethod
    def _moved(self, nominal: Nominal, transport: Array, spread: Array) -> Distribution:
        """Return the distribution of ``transport·x ± spread``, both signs equally likely."""


def _worst_cases(
    sets: Sequence[AmbiguitySet], nominals: Sequence[Nominal], laplacians: Array
) -> list[WorstCase]:
    """Return the worst cases through a stack of eigendecompositions."""
    balls = cast("Sequence[_GelbrichBall]", sets)
    radii = np.array([ball.radius for ball in balls])
    shapes = {nominal.factor.shape for nominal in nominals}
    edges = diagonals(laplacians).max(axis=-1) > 0.0
    if len(shapes) > 1 or not radii.all() or not edges.all():
        return each_worst_case(sets, nominals, laplacians)
    rows = np.stack([nominal.factor for nominal in nominals])
    worst = worst_transport(rows, laplacians, radii)
    averages, rounding = nominal_risks(nominals, laplacians)
    unsure = np.array([nominal.factor_error for nominal in nominals])
    rounding = rounding + worst.rounding(rows, laplacians, unsure)
    numbers = (averages + worst.premium).tolist(), worst.multiplier.tolist(), rounding.tolist()
    moments = worst.second_moment()
    return [
        WorstCase(
            risk,
            moments[place],
            multiplier,
            partial(_distribution, ball, nominals[place], worst, place),
            partial(worst.moment, place),
            error,
        )
        for place, (ball, risk, multiplier, error) in enumerate(zip(balls, *numbers, strict=True))
    ]


def _distribution(
    ball: _GelbrichBall, nominal: Nominal, worst: WorstTransport, place: Any = ...
) -> Distribution:
    """Return the worst-case distribution; in a stack, that of one problem."""
    spread = np.zeros(nominal.d) if worst.spread is None else worst.spread[place]
    return ball._moved(nominal, worst.matrix(place), spread)


@register_ambiguity
@dataclass(frozen=True)
class GaussianBall(_GelbrichBall):
    """All Gaussians within type-2 Wasserstein distance ``radius`` of the nominal Gaussian.

    It needs the mean and the covariance only.

    Parameters
    ----------
    radius : float ≥ 0
        In the unit of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import GaussianBall, Nominal
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_moments(mean=[1.0, -1.0], covariance=np.eye(2))
    >>> worst = GaussianBall(0.5).worst_case(nominal, edge)
    >>> print(worst.distribution.mean.round(2), round(worst.risk, 3))  # nominal risk 6
    [ 1.29 -1.29] 9.964
    """

    worst_cases = staticmethod(_worst_cases)

    def _moved(self, nominal: Nominal, transport: Array, spread: Array) -> Gaussian:
        # A Gaussian step along ``spread`` has the same second moment and cost as two signs.
        covariance = transport @ nominal.covariance @ transport + np.outer(spread, spread)
        return Gaussian(transport @ nominal.mean, (covariance + covariance.T) / 2)


@register_ambiguity
@dataclass(frozen=True)
class WassersteinBall(_GelbrichBall):
    """All distributions within type-2 Wasserstein distance ``radius`` of the empirical one.

    Parameters
    ----------
    radius : float ≥ 0
        In the unit of the data: the root mean square distance by which signals may be moved.

    Examples
    --------
    The worst case depends on the second moment only, so the Gaussian ball has the same risk:

    >>> import numpy as np
    >>> from wdro_cvx import GaussianBall, Nominal, WassersteinBall
    >>> path = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    >>> nominal = Nominal.from_samples(np.eye(3))
    >>> balls = WassersteinBall(0.3), GaussianBall(0.3)
    >>> print([round(ball.worst_case(nominal, path).risk, 4) for ball in balls])
    [2.685, 2.685]
    """

    worst_cases = staticmethod(_worst_cases)

    def _moved(self, nominal: Nominal, transport: Array, spread: Array) -> Discrete:
        if nominal.samples is None:
            raise ProblemError(
                "The worst-case distribution of a WassersteinBall consists of moved samples, and "
                "this nominal has none. Use Nominal.from_samples, or GaussianBall."
            )
        points = nominal.samples @ transport
        return uniform(np.vstack([points + spread, points - spread]) if spread.any() else points)
