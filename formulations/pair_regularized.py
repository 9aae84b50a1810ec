"""A radius for every pair of vertices: the sample average with dearer edges."""

from __future__ import annotations

from formulations.base import Formulation, Risk, register
from formulations.variables import LaplacianVariable, smoothness
from wdro_cvx import PairBall


@register
class PairRegularized(Formulation):
    """``min ⟨Θ, L⟩ + ε Σ s_ij w_ij + η‖L‖²``."""

    claims = (PairBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """State what every edge costs more."""
        ambiguity = self.normalised.ambiguity
        assert isinstance(ambiguity, PairBall)
        scales = ambiguity.scales_of(self.normalised.d)
        expression = smoothness(self.normalised.nominal.second_moment, laplacian)
        return Risk(expression + self.radius * (scales @ laplacian.weights))
