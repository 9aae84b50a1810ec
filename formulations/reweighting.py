"""The base of programs that reweight samples: the duals of the losses are the worst weights."""

from __future__ import annotations

from collections.abc import Sequence

import cvxpy as cp
import numpy as np

from formulations.base import Formulation, Risk
from formulations.variables import LaplacianVariable
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.moments.points import ReweighedMoment


class Reweighting(Formulation):
    """A program whose risk is a convex function of the samples' smoothness ``x_iᵀLx_i``."""

    needs_samples = True

    #: The share of the losses and the equation that splits them, if this is the program of a part.
    split: tuple[cp.Variable, cp.Constraint] | None = None

    def losses(self, laplacian: LaplacianVariable) -> tuple[cp.Variable, cp.Constraint]:
        """Return the losses and the equation that defines them, whose duals are the weights."""
        if self.split is not None:
            return self.split
        samples = self.normalised.nominal.samples
        assert samples is not None
        heads, tails = edge_index(self.problem.d)
        variable = cp.Variable(len(samples), name="losses")
        squares = (samples[:, heads] - samples[:, tails]) ** 2
        return variable, variable == squares @ laplacian.weights

    def risk_of_losses(
        self,
        expression: cp.Expression,
        definition: cp.Constraint,
        constraints: Sequence[cp.Constraint] = (),
        multiplier: cp.Expression | None = None,
    ) -> Risk:
        """Return the risk; the duals of the losses' definition are the worst weights.

        Parameters
        ----------
        expression : cvxpy.Expression
        definition : cvxpy.Constraint
            From :meth:`losses`.
        constraints : sequence of cvxpy.Constraint, optional
            The other constraints.
        multiplier : cvxpy.Expression, optional
            The multiplier of the radius, in normalised units.
        """
        told = None if multiplier is None else multiplier * self._unit
        stated = [definition, *constraints]
        return Risk(expression, stated, told, lambda: self.reweighed(definition))

    def reweighed(self, definition: cp.Constraint) -> ReweighedMoment:
        """Return the moment of the samples, weighted by the duals of the definition."""
        samples = self.normalised.nominal.samples
        assert samples is not None
        duals = np.asarray(definition.dual_value)
        weights = np.maximum(duals * np.sign(duals.sum()), 0.0)
        return ReweighedMoment(samples, weights)
