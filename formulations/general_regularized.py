"""Theorem 3: the sample average plus a norm of the Laplacian, for every norm type p.

The program is the worst case over a ball of second moments. The paper says that it is the worst
case over the Wasserstein ball of signals of Proposition 3, which it is not (docs/paper.md E1).
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from formulations.base import Formulation, Risk, register
from formulations.variables import LaplacianVariable, smoothness
from wdro_cvx import MomentBall
from wdro_cvx.validation import Array


@register
class GeneralRegularized(Formulation):
    """Theorem 3: the sample average plus a norm of the Laplacian.

    It states ``min ⟨Θ, L⟩ + ε‖vec L‖_q + η‖L‖²`` with ``1/p + 1/q = 1``.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.MomentBall`.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set.

    Examples
    --------
    >>> from formulations import GeneralRegularized
    >>> from wdro_cvx import GraphProblem, MomentBall, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, MomentBall(0.5, p=1.5), eta=0.1)
    >>> round(GeneralRegularized(problem).solve().value, 4)
    2.542
    """

    claims = (MomentBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return ``⟨Θ, L⟩ + ε‖vec L‖_q``, with ``‖vec L‖_q^q = Σ deg^q + 2Σ w^q``."""
        ambiguity = self.normalised.ambiguity
        assert isinstance(ambiguity, MomentBall)
        expression = smoothness(self.normalised.nominal.second_moment, laplacian)
        if np.isinf(ambiguity.q):
            # The largest entry of a Laplacian is a degree. The Laplacian alone does not determine
            # the worst case; the duals of the caps do.
            largest = cp.Variable(name="largest_degree")
            caps = laplacian.degrees <= largest
            return Risk(
                expression + self.radius * largest,
                [caps],
                worst_moment=lambda: self._shared(np.asarray(caps.dual_value)),
            )
        if ambiguity.q == 1.0:
            return Risk(expression + self.radius * (2 * laplacian.trace))
        entries = cp.hstack([laplacian.degrees, 2 ** (1 / ambiguity.q) * laplacian.weights])
        return Risk(expression + self.radius * cp.pnorm(entries, ambiguity.q))

    def _shared(self, duals: Array) -> Array:
        """Return Θ plus a diagonal shift that the vertices of largest degree share."""
        shares = np.maximum(duals, 0.0)
        shift = np.diag(shares * (self.normalised.ambiguity.radius / shares.sum()))
        return self.normalised.nominal.second_moment + shift
