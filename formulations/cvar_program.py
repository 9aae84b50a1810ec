"""The mean over the worst samples, as a quadratic program.

Rockafellar and Uryasev, J. Risk 2000.
"""

from __future__ import annotations

import cvxpy as cp

from formulations.base import Risk, register
from formulations.reweighting import Reweighting
from formulations.variables import LaplacianVariable
from wdro_cvx import CVaRBall


@register
class CVaRProgram(Reweighting):
    """The conditional value at risk: a quadratic program with one slack per sample.

    It states ``min θ + (1 + ε) mean (l - θ)₊ + η‖L‖²`` over L and θ, where ``l_i = x_iᵀLx_i`` is
    the loss of a sample.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.CVaRBall`, whose nominal has samples.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set, or its nominal has no samples.

    Examples
    --------
    >>> from formulations import CVaRProgram
    >>> from wdro_cvx import CVaRBall, GraphProblem, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, CVaRBall(0.1), eta=0.1)
    >>> round(CVaRProgram(problem).solve().value, 4)
    1.6406
    """

    claims = (CVaRBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the risk; the excess over θ is a slack."""
        losses, definition = self.losses(laplacian)
        level = cp.Variable(name="level")
        excess = cp.Variable(losses.size, name="excess", nonneg=True)
        mean = cp.sum(excess) / losses.size
        above = excess >= losses - level
        return self.risk_of_losses(level + mean + self.radius * mean, definition, [above], mean)
