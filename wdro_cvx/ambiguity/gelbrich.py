"""The Gaussian and the Wasserstein ball: one oracle, two readings (Theorem 1, Proposition 3).

For type-2 transport with Euclidean cost the risk depends on the data through ``Θ`` alone, so the
paper's Gaussian and general scenarios have one and the same value (docs/paper.md E2):

    R(L) = ⟨Θ, L⟩ + inf_{γ > λmax} γε² + Tr(L(γI - L)⁻¹LΘ)

The worst distribution moves every signal ``x`` to ``γ(γI - L)⁻¹x``; in the hard case it also
spreads it along a top eigenvector, both ways, with what is left of the budget.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from wdro_cvx.ambiguity.base import WorstCase, register_ambiguity
from wdro_cvx.ambiguity.smoothness import data_error, nominal_risk
from wdro_cvx.ambiguity.transport import TransportBall, worst_transport
from wdro_cvx.errors import ProblemError
from wdro_cvx.moments.distribution import Discrete, Distribution, Gaussian, uniform
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.validation import Array


@dataclass(frozen=True)
class _GelbrichBall(TransportBall):
    """The second moments within type-2 Wasserstein distance ``radius`` of the nominal one."""

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the worst-case risk through one eigendecomposition and the secular equation."""
        worst = worst_transport(nominal.factor, laplacian, self.radius)
        average, rounding = nominal_risk(nominal, laplacian)
        spread = np.zeros(nominal.d) if worst.spread is None else worst.spread
        return WorstCase(
            average + worst.premium,
            worst.second_moment() if self.radius > 0.0 else nominal.second_moment,
            worst.multiplier,
            lambda: self._moved(nominal, worst.matrix(), spread),
            worst.moment,
            rounding + worst.rounding(nominal.factor, laplacian, data_error(nominal)),
        )

    @abstractmethod
    def _moved(self, nominal: Nominal, transport: Array, spread: Array) -> Distribution:
        """Return the law of ``transport·x ± spread``, either sign with probability one half."""


@register_ambiguity
@dataclass(frozen=True)
class GaussianBall(_GelbrichBall):
    """All Gaussians within type-2 Wasserstein distance ``radius`` of the nominal Gaussian."""

    def _moved(self, nominal: Nominal, transport: Array, spread: Array) -> Gaussian:
        # A Gaussian step along ``spread`` instead of two signs has the same second moment and cost.
        covariance = transport @ nominal.covariance @ transport + np.outer(spread, spread)
        return Gaussian(transport @ nominal.mean, (covariance + covariance.T) / 2)


@register_ambiguity
@dataclass(frozen=True)
class WassersteinBall(_GelbrichBall):
    """All distributions within type-2 Wasserstein distance ``radius`` of the empirical one."""

    def _moved(self, nominal: Nominal, transport: Array, spread: Array) -> Discrete:
        if nominal.samples is None:
            raise ProblemError(
                "The worst-case distribution of a WassersteinBall is made of transported samples, "
                "and this nominal has none. Use Nominal.from_samples, or GaussianBall."
            )
        points = nominal.samples @ transport
        return uniform(np.vstack([points + spread, points - spread]) if spread.any() else points)
