"""Theorem 1: the closed form of the Gaussian scenario, stated with CVXPY's ``matrix_frac``."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from formulations.base import Formulation, Risk, register
from formulations.variables import LaplacianVariable
from wdro_cvx import GaussianBall
from wdro_cvx.validation import Array


@register
class GaussianClosedForm(Formulation):
    """Theorem 1: the Gaussian scenario in closed form.

    It states ``min γ(ε² - Tr Θ) + γ² Tr((γI - L)⁻¹Θ) + η‖L‖²``, which is jointly convex in L and γ.
    Two terms of size ``γ Tr Θ`` cancel, where γ grows like 1/ε. For radii that are small compared
    with the signals, the value therefore loses digits in any scaling. In :class:`RobustPremium` the
    subtraction is carried out symbolically.

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
    >>> from formulations import GaussianClosedForm
    >>> from wdro_cvx import GaussianBall, GraphProblem, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, GaussianBall(0.5), eta=0.1)
    >>> round(GaussianClosedForm(problem).solve().value, 4)
    3.0168
    """

    claims = (GaussianBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the risk of Theorem 1; the dual of ``slack = γI - L`` is the worst moment."""
        nominal = self.normalised.nominal
        # γ grows like 1/ε. In units of its typical size, all entries of the LMI are of order one.
        unit = self.multiplier_unit()
        share = cp.Variable(name="gamma_share", nonneg=True)
        slack = cp.Variable((nominal.d, nominal.d), name="slack", symmetric=True)
        tie = slack == share * np.eye(nominal.d) - laplacian.matrix / unit
        fraction = cp.matrix_frac(share * nominal.factor.T, slack)
        mass = float(np.trace(nominal.second_moment))
        gamma = unit * share
        expression = gamma * self.radius_squared + unit * (fraction - share * mass)

        def worst_moment() -> Array:
            """Return the dual of the tie, which is the derivative of the risk in L."""
            dual = np.asarray(tie.dual_value) / unit
            return (dual + dual.T) / 2

        return Risk(expression, [tie], gamma, worst_moment)
