"""Uncertain mean and covariance: the sample average plus a norm and a premium for the mean.

The worst mean is a trust-region problem, exact as an LMI by the S-lemma: the robust premium with
the mean as the only sample. Wang, Pun and So, IEEE Trans. Signal Process. 2022.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from formulations.base import Formulation, Risk, register
from formulations.lmi import transport_premium
from formulations.variables import LaplacianVariable, smoothness
from wdro_cvx import MomentUncertainty
from wdro_cvx.graphs.laplacian import complete_graph
from wdro_cvx.validation import Array


@register
class MomentPremium(Formulation):
    """``min ⟨Θ, L⟩ + εr₂‖L‖ + γε²r₁² + μᵀL(γI - L)⁻¹Lμ + η‖L‖²`` over L and γ."""

    claims = (MomentUncertainty,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """State the norm over degrees and weights, and the LMI of the mean."""
        nominal, ambiguity = self.normalised.nominal, self.normalised.ambiguity
        assert isinstance(ambiguity, MomentUncertainty)
        start = complete_graph(nominal.d, self.normalised.target_trace)
        typical = ambiguity.worst_case(nominal, start).multiplier
        premium = transport_premium(
            laplacian.matrix,
            nominal.mean[np.newaxis],
            self.radius_squared * ambiguity.mean_radius**2,
            typical,
        )
        norm = cp.norm(cp.hstack([laplacian.degrees, np.sqrt(2.0) * laplacian.weights]))
        expression = smoothness(nominal.second_moment, laplacian) + premium.value
        reach = self.radius * ambiguity.covariance_radius

        def worst_moment() -> Array:
            """Θ plus the derivatives of premium and norm in L."""
            matrix = np.asarray(laplacian.matrix.value)
            size = max(float(np.linalg.norm(matrix)), np.finfo(float).tiny)
            along = matrix * (float(reach.value) / size)
            return nominal.second_moment + premium.shift() + along

        return Risk(
            expression + reach * norm, [premium.constraint], premium.multiplier, worst_moment
        )
