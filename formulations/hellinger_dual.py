"""The dual program of the Hellinger ball: one rotated cone per sample.

Ben-Tal, den Hertog, De Waegenaere, Melenberg and Rennen, Management Science 2013.
"""

from __future__ import annotations

import cvxpy as cp

from formulations.base import Risk, register
from formulations.reweighting import Reweighting
from formulations.variables import LaplacianVariable
from wdro_cvx import HellingerBall


@register
class HellingerDual(Reweighting):
    """The dual of the Hellinger ball: a second-order cone program.

    It states ``min ν + εt + mean t(l - ν)/(t - l + ν) + η‖L‖²`` over L, ν and t, where
    ``l_i = x_iᵀLx_i`` is the loss of a sample.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.HellingerBall`, whose nominal has samples.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set, or its nominal has no samples.

    Examples
    --------
    >>> from formulations import HellingerDual
    >>> from wdro_cvx import GraphProblem, HellingerBall, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, HellingerBall(0.1), eta=0.1)
    >>> round(HellingerDual(problem).solve().value, 4)
    1.8927
    """

    claims = (HellingerBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the risk, with ``t(l - ν)/(t - l + ν) = (l - ν) + (l - ν)²/(t - l + ν)``.

        The right side does not cancel if t is large, as it is for a small radius.
        """
        losses, definition = self.losses(laplacian)
        unit = self.multiplier_unit()
        share = cp.Variable(name="t_share", nonneg=True)
        level = cp.Variable(name="level")
        terms = cp.Variable(losses.size, name="terms", nonneg=True)
        apart = losses - level
        below = share - apart / unit
        # |l - ν|² ≤ below·terms, sample by sample.
        sides = cp.vstack([2 * apart, below - terms])
        cones = cp.SOC(below + terms, sides, axis=0)
        average = cp.sum(losses + terms / unit) / losses.size
        t = unit * share
        return self.risk_of_losses(average + self.radius * t, definition, [cones], t)
