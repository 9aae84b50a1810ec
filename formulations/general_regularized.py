"""Theorem 3: the sample average plus a norm of the Laplacian, for every norm type p.

It is the worst case over a ball of second moments and not, as the paper says, over the
Wasserstein ball of signals that Proposition 3 describes (docs/paper.md E1).
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
    """``min ⟨Θ, L⟩ + ε‖vec L‖_q + η‖L‖²`` with ``1/p + 1/q = 1``."""

    claims = (MomentBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """State the norm over degrees and weights: ``‖vec L‖_q^q = Σ deg^q + 2Σ w^q``."""
        ambiguity = self.normalised.ambiguity
        assert isinstance(ambiguity, MomentBall)
        expression = smoothness(self.normalised.nominal.second_moment, laplacian)
        if np.isinf(ambiguity.q):
            # The largest entry of a Laplacian is a degree; the duals of the caps are the worst
            # case, which the Laplacian alone does not determine.
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
        """Return a diagonal shift, shared among the vertices of largest degree."""
        shares = np.maximum(duals, 0.0)
        shift = np.diag(shares * (self.normalised.ambiguity.radius / shares.sum()))
        return self.normalised.nominal.second_moment + shift
