"""The robust-premium form, ours: the sample-average risk plus what robustness costs.

Theorem 1 rewritten with ``γ²(γI - L)⁻¹ - γI = L + L(γI - L)⁻¹L``. It has one LMI where
Proposition 2 has two, and no cancellation between large terms when the radius is small.
"""

from __future__ import annotations

from typing import ClassVar

from formulations.base import Formulation, Risk, register
from formulations.lmi import transport_premium
from formulations.variables import LaplacianVariable, smoothness
from wdro_cvx import AmbiguitySet, GaussianBall, WassersteinBall
from wdro_cvx.graphs.laplacian import complete_graph
from wdro_cvx.validation import Array


@register
class RobustPremium(Formulation):
    """``min ⟨Θ, L⟩ + γε² + Tr(L(γI - L)⁻¹LΘ) + η‖L‖²`` over L and γ."""

    claims: ClassVar[tuple[type[AmbiguitySet], ...]] = (GaussianBall, WassersteinBall)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """State the premium with the factor of Θ, which is thin when there are few samples."""
        nominal = self.normalised.nominal
        start = complete_graph(nominal.d, self.normalised.target_trace)
        typical = self.normalised.ambiguity.worst_case(nominal, start).multiplier
        premium = transport_premium(
            laplacian.matrix, nominal.factor, self.radius_squared, typical, self.metric()
        )
        return Risk(
            smoothness(nominal.second_moment, laplacian) + premium.value,
            [premium.constraint],
            premium.multiplier,
            lambda: nominal.second_moment + premium.shift(),
        )

    def metric(self) -> Array | None:
        """Return the diagonal of the ground cost; None is the Euclidean one."""
        return None
