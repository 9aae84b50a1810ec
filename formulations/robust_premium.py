"""The robust-premium form, ours: the sample-average risk plus what robustness costs.

Theorem 1 rewritten with ``γ²(γI - L)⁻¹ - γI = L + L(γI - L)⁻¹L``. It has one LMI where
Proposition 2 has two, and no cancellation between large terms when the radius is small.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from formulations.base import Formulation, Risk, register
from formulations.lmi import fractional_term
from formulations.variables import LaplacianVariable, smoothness
from wdro_cvx import GaussianBall, WassersteinBall
from wdro_cvx.laplacian import complete_graph
from wdro_cvx.validation import Array


@register
class RobustPremium(Formulation):
    """``min ⟨Θ, L⟩ + γε² + Tr(L(γI - L)⁻¹LΘ) + η‖L‖²`` over L and γ."""

    claims = (GaussianBall, WassersteinBall)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """State the premium with the factor of Θ, which is thin when there are few samples."""
        nominal = self.normalised.nominal
        start = complete_graph(nominal.d, self.normalised.target_trace)
        self._unit_gamma = self.normalised.ambiguity.worst_case(nominal, start).multiplier
        share = cp.Variable(name="gamma_share", nonneg=True)
        slack = share * np.eye(nominal.d) - laplacian.matrix / self._unit_gamma
        self._term = fractional_term(laplacian.matrix @ nominal.factor.T, slack)
        gamma = self._unit_gamma * share
        expression = smoothness(nominal.second_moment, laplacian)
        expression = expression + gamma * self.radius_squared + self._term.value / self._unit_gamma
        return Risk(expression, [self._term.constraint], gamma)

    def worst_moment(self) -> Array:
        """Θ plus the derivative of the LMI in L: its blocks ``γI - L`` and ``LΘ^½`` both count."""
        nominal = self.normalised.nominal
        upper, side = self._term.dual_blocks()
        cross = side @ nominal.factor
        return nominal.second_moment + upper / self._unit_gamma - cross - cross.T
