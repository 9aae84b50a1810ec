"""The dual SDP of the Gaussian scenario: the worst second moment is the variable, not the graph.

It maximises the optimum of the sample average over the Gelbrich ball. It is not in the paper.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from formulations.base import Formulation, register
from formulations.dual import MomentSet
from formulations.variables import LaplacianVariable
from wdro_cvx import GaussianBall


@register
class GaussianDual(Formulation):
    """The Gaussian scenario as a maximisation over second moments.

    It states ``max_M min_L ⟨M, L⟩ + η‖L‖²`` over ``M = Θ + ε(FᵀD + DᵀF) + ε²Q`` with ``Q ⪰ DᵀD``
    and ``Tr Q ≤ 1``, where ``Θ = FᵀF``. Moving the rows of F by those of εD is a coupling of cost
    at most ε², so this is the Gelbrich ball. The usual statement, ``[[M, C], [Cᵀ, Θ]] ⪰ 0`` and
    ``Tr(M + Θ - 2C) ≤ ε²``, is degenerate for small radii: backends then stop early. The graph is
    read from the multipliers.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.GaussianBall`.
    over : {"weights", "matrix"}, optional
        The form of the variable w in the dual of the Laplacian QP: edge weights (the default) or
        the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set.

    Examples
    --------
    >>> from formulations import GaussianDual
    >>> from wdro_cvx import GaussianBall, GraphProblem, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, GaussianBall(0.5), eta=0.1)
    >>> round(GaussianDual(problem).solve().value, 4)
    3.0168
    """

    claims = (GaussianBall,)

    def risk(self, laplacian: LaplacianVariable) -> MomentSet:
        """Return the second moments of the ball, stated as moves of the factor of Θ."""
        nominal = self.normalised.nominal
        rows, d = nominal.factor.shape
        moves = cp.Variable((rows, d), name="moves")
        squares = cp.Variable((d, d), name="squares", symmetric=True)
        coupling = cp.bmat([[np.eye(rows), moves], [moves.T, squares]]) >> 0
        budget = cp.trace(squares) <= 1
        cross = nominal.factor.T @ moves
        moment = (
            nominal.second_moment + self.radius * (cross + cross.T) + self.radius_squared * squares
        )
        multiplier = budget.dual_variables[0] / self.radius_squared
        return MomentSet(moment, [coupling, budget], multiplier)
