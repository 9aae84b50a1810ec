"""The chi-square ball as a second-order cone program: the sample average plus a premium.

The program is the dual, with the multipliers λ of the radius, ν of the weights' sum and σ of their
signs. It writes ``ν + mean(l - ν + σ)`` as ``mean l + mean σ``, so nothing cancels when the radius
is small. Namkoong and Duchi, NeurIPS 2017.
"""

from __future__ import annotations

import cvxpy as cp

from formulations.base import Risk, register
from formulations.reweighting import Reweighting
from formulations.variables import LaplacianVariable
from wdro_cvx import ChiSquareBall


@register
class ChiSquarePremium(Reweighting):
    """The dual of the chi-square ball: a second-order cone program.

    It states ``min mean(l + σ) + λε + mean (l - ν + σ)² / 4λ + η‖L‖²`` over L, ν, λ and ``σ ≥ 0``,
    where ``l_i = x_iᵀLx_i`` is the loss of a sample.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.ChiSquareBall`, whose nominal has samples.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set, or its nominal has no samples.

    Examples
    --------
    >>> from formulations import ChiSquarePremium
    >>> from wdro_cvx import ChiSquareBall, GraphProblem, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, ChiSquareBall(0.1), eta=0.1)
    >>> round(ChiSquarePremium(problem).solve().value, 4)
    1.7574
    """

    claims = (ChiSquareBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the risk of the dual."""
        losses, definition = self.losses(laplacian)
        unit = self.multiplier_unit()
        share = cp.Variable(name="lambda_share", nonneg=True)
        level = cp.Variable(name="level")
        slack = cp.Variable(losses.size, name="slack", nonneg=True)
        multiplier = unit * share
        scatter = cp.Variable(name="scatter", nonneg=True)
        # The cone states |l - ν + σ|² ≤ share·scatter, and allows a share of zero.
        deviations = losses - level + slack
        cone = cp.SOC(share + scatter, cp.hstack([2 * deviations, share - scatter]))
        average = cp.sum(losses + slack) / losses.size
        premium = self.radius * multiplier + scatter / (4 * unit * losses.size)
        return self.risk_of_losses(average + premium, definition, [cone], multiplier)
