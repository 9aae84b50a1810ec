"""A prior in CVXPY: its cost of a graph, and its constraints on graphs."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from formulations.variables import LaplacianVariable
from wdro_cvx.priors import DegreePrior


class PriorParameters:
    """The coefficients of a prior as CVXPY parameters: a sweep over them compiles once."""

    def __init__(self) -> None:
        self.beta = cp.Parameter(nonneg=True, name="beta")
        self.kappa = cp.Parameter(nonneg=True, name="kappa")
        self.alpha = cp.Parameter(nonneg=True, name="alpha")

    def set(self, prior: DegreePrior) -> None:
        """Set the parameters to the prior's values."""
        for name in ("beta", "kappa", "alpha"):
            getattr(self, name).value = getattr(prior, name)

    def cost(self, laplacian: LaplacianVariable, prior: DegreePrior) -> cp.Expression:
        """Return ``2β‖w‖² + Σ κu² - α log u`` plus the trace penalty, without terms that are 0."""
        cost = 2 * self.beta * cp.sum_squares(laplacian.weights)
        if prior.kappa > 0.0:
            cost = cost + self.kappa * cp.sum_squares(laplacian.degrees)
        if prior.alpha > 0.0:
            cost = cost - self.alpha * cp.sum(cp.log(laplacian.degrees))
        rule = prior.trace
        if not rule.fixed and not rule.free:
            cost = cost + rule.stiffness * cp.square(laplacian.trace - rule.target)
        return cost


def prior_constraints(laplacian: LaplacianVariable, prior: DegreePrior) -> list[cp.Constraint]:
    """Return the constraint on a fixed trace and those on bounded weights."""
    constraints = []
    if prior.trace.fixed:
        constraints.append(laplacian.trace == prior.trace.target)
    if prior.bounds is not None:
        limited = np.flatnonzero(np.isfinite(prior.bounds.upper))
        constraints.append(laplacian.weights >= prior.bounds.lower)
        if limited.size:
            constraints.append(laplacian.weights[limited] <= prior.bounds.upper[limited])
    return constraints
