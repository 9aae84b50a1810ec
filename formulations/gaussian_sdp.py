"""Proposition 2: the Gaussian scenario as an SDP with two LMIs, from mean and covariance."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from formulations.base import Formulation, Risk, register
from formulations.lmi import fractional_term
from formulations.variables import LaplacianVariable
from wdro_cvx import GaussianBall
from wdro_cvx.moments.nominal import symmetric_root
from wdro_cvx.validation import Array


@register
class GaussianSDP(Formulation):
    """The paper's SDP: one LMI for the mean and one for the root of the covariance."""

    claims = (GaussianBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """State Proposition 2 as printed."""
        nominal = self.normalised.nominal
        gamma = cp.Variable(name="gamma", nonneg=True)
        slack = gamma * np.eye(nominal.d) - laplacian.matrix
        terms = [
            fractional_term(gamma * nominal.mean[:, np.newaxis], slack),
            fractional_term(gamma * symmetric_root(nominal.covariance), slack),
        ]
        mass = float(np.trace(nominal.second_moment))
        expression = gamma * self.radius_squared - gamma * mass
        expression = expression + sum(term.value for term in terms)

        def worst_moment() -> Array:
            """L enters both LMIs through ``γI - L`` alone, so the duals of that block add up."""
            return np.sum([term.dual_blocks()[0] for term in terms], axis=0)

        return Risk(expression, [term.constraint for term in terms], gamma, worst_moment)
