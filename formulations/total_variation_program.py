"""The total variation ball as a quadratic program.

Jiang and Guan, Math. Program. 2016.
"""

from __future__ import annotations

import cvxpy as cp

from formulations.base import Risk, register
from formulations.reweighting import Reweighting
from formulations.variables import LaplacianVariable
from wdro_cvx import TotalVariationBall


@register
class TotalVariationProgram(Reweighting):
    """The dual of the total variation ball: a quadratic program with one slack per sample.

    It states ``min θ + ε(max l - θ) + mean (l - θ)₊ + η‖L‖²`` over L and θ, where
    ``l_i = x_iᵀLx_i`` is the loss of a sample.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.TotalVariationBall`, whose nominal has samples.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set, or its nominal has no samples.

    Examples
    --------
    >>> from formulations import TotalVariationProgram
    >>> from wdro_cvx import GraphProblem, Nominal, TotalVariationBall
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, TotalVariationBall(0.1), eta=0.1)
    >>> round(TotalVariationProgram(problem).solve().value, 4)
    1.6958
    """

    claims = (TotalVariationBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the risk; λ is at least ``max l - θ``, and the excess over θ is a slack."""
        losses, definition = self.losses(laplacian)
        level = cp.Variable(name="level")
        multiplier = cp.Variable(name="lambda", nonneg=True)
        excess = cp.Variable(losses.size, name="excess", nonneg=True)
        expression = level + self.radius * multiplier + cp.sum(excess) / losses.size
        limits = [excess >= losses - level, losses - level <= multiplier]
        return self.risk_of_losses(expression, definition, limits, multiplier)
