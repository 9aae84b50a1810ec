"""Proposition 3: the general scenario as a semidefinite program with one LMI per sample."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from formulations.base import Formulation, Risk, register
from formulations.variables import LaplacianVariable
from wdro_cvx import WassersteinBall
from wdro_cvx.validation import Array


@register
class GeneralSDP(Formulation):
    """Proposition 3: the general scenario as a semidefinite program.

    It has one linear matrix inequality (LMI) per sample: its size grows with the number of samples.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.WassersteinBall`, whose nominal has samples.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set, or its nominal has no samples.

    Examples
    --------
    >>> from formulations import GeneralSDP
    >>> from wdro_cvx import GraphProblem, Nominal, WassersteinBall
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, WassersteinBall(0.5), eta=0.1)
    >>> round(GeneralSDP(problem).solve().value, 4)
    3.0168
    """

    claims = (WassersteinBall,)
    needs_samples = True

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the risk of Proposition 3, as printed."""
        samples = self.normalised.nominal.samples
        assert samples is not None
        n, d = samples.shape
        gamma = cp.Variable(name="gamma", nonneg=True)
        z = cp.Variable(n, name="z", nonneg=True)
        slack = gamma * np.eye(d) - laplacian.matrix
        lmis = []
        for i, sample in enumerate(samples):
            column = gamma * sample[:, np.newaxis]
            corner = cp.reshape(z[i] + gamma * float(sample @ sample), (1, 1), order="C")
            lmis.append(cp.bmat([[slack, column], [column.T, corner]]) >> 0)

        def worst_moment() -> Array:
            """Return the sum of the dual blocks of ``γI - L``; L enters nowhere else."""
            total = np.sum([np.asarray(lmi.dual_value)[:d, :d] for lmi in lmis], axis=0)
            return (total + total.T) / 2

        return Risk(gamma * self.radius_squared + cp.sum(z) / n, lmis, gamma, worst_moment)
