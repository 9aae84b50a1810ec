"""The dual program of the Kullback-Leibler ball, with one exponential cone per sample.

Ben-Tal, den Hertog, De Waegenaere, Melenberg and Rennen, Management Science 2013.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from formulations.base import Risk, register
from formulations.reweighting import Reweighting
from formulations.variables import LaplacianVariable
from wdro_cvx import KLBall


@register
class KLDual(Reweighting):
    """The dual of the Kullback-Leibler ball: one exponential cone per sample.

    It states ``min εt + t log mean exp(x_iᵀLx_i / t) + η‖L‖²`` over L and t.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.KLBall`, whose nominal has samples.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set, or its nominal has no samples.

    Examples
    --------
    >>> from formulations import KLDual
    >>> from wdro_cvx import GraphProblem, KLBall, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, KLBall(0.1), eta=0.1)
    >>> round(KLDual(problem).solve().value, 4)
    1.8196
    """

    claims = (KLBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the risk, with ``t log mean exp(l/t) ≤ s`` as ``mean (t exp((l - s)/t)) ≤ t``."""
        losses, definition = self.losses(laplacian)
        unit = self.multiplier_unit()
        share = cp.Variable(name="t_share", nonneg=True)
        level = cp.Variable(name="level")
        terms = cp.Variable(losses.size, name="terms")
        cones = cp.ExpCone((losses - level) / unit, share * np.ones(losses.size), terms)
        total = cp.sum(terms) <= losses.size * share
        t = unit * share
        return self.risk_of_losses(self.radius * t + level, definition, [cones, total], t)
