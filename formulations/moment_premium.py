"""Uncertain mean and covariance: the sample average plus a norm and a premium for the mean.

The worst mean solves a trust-region problem, which the S-lemma turns into an LMI without loss. It
is the robust premium with the mean as the only sample. Wang, Pun and So, IEEE Trans. Signal
Process. 2022.
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
    """The sample average plus a norm and a premium, for uncertain mean and covariance.

    It states ``min ⟨Θ, L⟩ + εr₂‖L‖ + γε²r₁² + μᵀL(γI - L)⁻¹Lμ + η‖L‖²`` over L and γ, where ``εr₁``
    is the radius of the mean μ and ``εr₂`` that of the covariance.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.MomentUncertainty`.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set.

    Examples
    --------
    >>> from formulations import MomentPremium
    >>> from wdro_cvx import GraphProblem, MomentUncertainty, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, MomentUncertainty(0.5, 1.0, 0.2), eta=0.1)
    >>> round(MomentPremium(problem).solve().value, 4)
    2.9489
    """

    claims = (MomentUncertainty,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the risk: the norm over degrees and weights, and the LMI of the mean."""
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
            """Return Θ plus the derivatives of premium and norm in L."""
            matrix = np.asarray(laplacian.matrix.value)
            size = max(float(np.linalg.norm(matrix)), np.finfo(float).tiny)
            along = matrix * (float(reach.value) / size)
            return nominal.second_moment + premium.shift() + along

        return Risk(
            expression + reach * norm, [premium.constraint], premium.multiplier, worst_moment
        )
