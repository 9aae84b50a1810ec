"""Theorem 1: the Gaussian scenario in closed form, through CVXPY's ``matrix_frac``."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from formulations.base import Formulation, Risk, register
from formulations.variables import LaplacianVariable
from wdro_cvx import GaussianBall
from wdro_cvx.validation import Array


@register
class GaussianClosedForm(Formulation):
    """``min γ(ε² - Tr Θ) + γ² Tr((γI - L)⁻¹Θ) + η‖L‖²`` over L and γ, jointly convex."""

    claims = (GaussianBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """State Theorem 1; the multiplier of ``slack = γI - L`` is the worst-case moment."""
        nominal = self.normalised.nominal
        gamma = cp.Variable(name="gamma", nonneg=True)
        slack = cp.Variable((nominal.d, nominal.d), name="slack", symmetric=True)
        tie = slack == gamma * np.eye(nominal.d) - laplacian.matrix
        fraction = cp.matrix_frac(gamma * nominal.factor.T, slack)
        mass = float(np.trace(nominal.second_moment))
        expression = gamma * self.radius_squared - gamma * mass + fraction

        def worst_moment() -> Array:
            """Read the multiplier of the tie: the derivative of the risk in L."""
            dual = np.asarray(tie.dual_value)
            return (dual + dual.T) / 2

        return Risk(expression, [tie], gamma, worst_moment)
