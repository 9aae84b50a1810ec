"""Proposition 2: the Gaussian scenario as a semidefinite program (SDP) with two LMIs."""

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
    """Proposition 2: the Gaussian scenario as a semidefinite program.

    One linear matrix inequality (LMI) holds the mean, another the square root of the covariance.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.GaussianBall`.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set.

    Examples
    --------
    >>> from formulations import GaussianSDP
    >>> from wdro_cvx import GaussianBall, GraphProblem, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, GaussianBall(0.5), eta=0.1)
    >>> round(GaussianSDP(problem).solve().value, 4)
    3.0168
    """

    claims = (GaussianBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the risk of Proposition 2, as printed."""
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
            """Return the sum of the dual blocks of ``γI - L``; L enters nowhere else."""
            return np.sum([term.dual_blocks()[0] for term in terms], axis=0)

        return Risk(expression, [term.constraint for term in terms], gamma, worst_moment)
