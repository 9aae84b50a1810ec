"""Sample average approximation, equation (SAA formulation): the baseline without robustness."""

from __future__ import annotations

from formulations.base import Formulation, Risk, register
from formulations.variables import LaplacianVariable, smoothness
from wdro_cvx import Singleton


@register
class SampleAverage(Formulation):
    """``min ⟨Θ, L⟩ + η‖L‖²``: a quadratic program."""

    claims = (Singleton,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """``⟨Θ, L⟩``."""
        return Risk(smoothness(self.normalised.nominal.second_moment, laplacian))
