"""What the models of reweighed samples share: the losses, whose duals are the worst weights."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from formulations.base import Formulation
from formulations.variables import LaplacianVariable
from wdro_cvx.graphs.laplacian import complete_graph, edge_index
from wdro_cvx.moments.moment import ReweighedMoment


class Reweighting(Formulation):
    """A model whose risk is a convex function of the samples' smoothness ``x_iᵀLx_i``."""

    needs_samples = True

    def losses(self, laplacian: LaplacianVariable) -> tuple[cp.Variable, cp.Constraint]:
        """State the losses as a variable, so that their definition has a dual: the weights."""
        samples = self.normalised.nominal.samples
        assert samples is not None
        heads, tails = edge_index(self.problem.d)
        variable = cp.Variable(len(samples), name="losses")
        squares = (samples[:, heads] - samples[:, tails]) ** 2
        return variable, variable == squares @ laplacian.weights

    def multiplier_unit(self) -> float:
        """Return the multiplier at the complete graph, which tells its size at the optimum."""
        start = complete_graph(self.problem.d, self.normalised.target_trace)
        problem = self.normalised
        unit = problem.ambiguity.worst_case(problem.nominal, start).multiplier
        return unit if unit > 0.0 else 1.0

    def reweighed(self, definition: cp.Constraint) -> ReweighedMoment:
        """Weigh the samples by the duals of their losses' definition."""
        samples = self.normalised.nominal.samples
        assert samples is not None
        duals = np.asarray(definition.dual_value)
        weights = np.maximum(duals * np.sign(duals.sum()), 0.0)
        return ReweighedMoment(samples, weights)
