"""The family of priors: constraints and costs of a graph that do not depend on the data.

It covers the paper's regulariser and the log-degree model of Kalofolias (AISTATS 2016):

    2β‖w‖² + Σ φ(u_i),   φ(u) = κu² - α log u,   u = Aw the degrees,   lower ≤ w ≤ upper,

with the trace fixed, penalised or free. The family is closed under proximal steps, since
``‖L‖² = 2‖w‖² + ‖u‖²``, so solvers that use the Laplacian QP support all of it. The formulas also
take stacks of problems (wdro_cvx/stacks.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.bounds import EdgeBounds
from wdro_cvx.graphs.exact_sums import nearby_weights, project_interval
from wdro_cvx.graphs.laplacian import (
    Residuals,
    complete_graph,
    graph_size,
    laplacian_from_weights,
    nearest_feasible,
    symmetric_weights,
    violations,
)
from wdro_cvx.priors.trace import TraceRule
from wdro_cvx.stacks import choose, column, dot, is_zero, number
from wdro_cvx.validation import Array, real_number


@dataclass(frozen=True, eq=False)
class DegreePrior:
    """The prior ``2β‖w‖² + Σ κu² - α log u``, with a trace rule and bounds on the weights.

    Users build :class:`Frobenius` or :class:`LogDegree`, which are of this form.

    Attributes
    ----------
    beta : float ≥ 0
        The coefficient of the squared weights; 0 only in problems with a term that replaces it.
    kappa, alpha : float ≥ 0
        The coefficients of the squared degrees and of their logarithms.
    trace : TraceRule
    bounds : EdgeBounds or None
    """

    beta: float
    kappa: float
    alpha: float
    trace: TraceRule
    bounds: EdgeBounds | None = None

    def value(self, weights: Array, degrees: Array) -> Any:
        """Return the cost of a graph; infinite for an isolated vertex if α > 0."""
        # Summed pairwise: a plain sum over many edges loses digits.
        squares = np.add.reduce(np.square(weights), axis=-1)
        value = 2 * self.beta * squares
        value = value + self.kappa * np.add.reduce(np.square(degrees), axis=-1)
        if not is_zero(self.alpha):
            alone = degrees.min(axis=-1) <= 0.0
            logs = np.log(np.where(column(alone), 1.0, degrees)).sum(axis=-1)
            value = choose(alone, np.inf, value - self.alpha * logs)
        if not (self.trace.fixed or self.trace.free):
            value = value + self.trace.penalty(degrees.sum(axis=-1))
        return number(value)

    def slope(self, degrees: Array) -> Array:
        """Return ``φ'``."""
        slope = 2 * column(self.kappa) * degrees
        return slope if is_zero(self.alpha) else slope - column(self.alpha) / degrees

    def bend(self, degrees: Array) -> Array:
        """Return ``φ''``."""
        bend = np.full_like(degrees, 2 * column(self.kappa))
        return bend if is_zero(self.alpha) else bend + column(self.alpha) / degrees**2

    def degrees(self, nu: Array) -> Array:
        """Return the degrees with ``φ'(u) = ν``; for κ = 0 they exist only for negative ν."""
        if is_zero(self.alpha):
            return nu / column(2 * self.kappa)
        kappa, alpha = column(self.kappa), column(self.alpha)
        if is_zero(kappa):
            return -alpha / nu
        root = np.sqrt(nu**2 + 8 * kappa * alpha)
        # The form of the positive root of 2κu² - νu - α that does not cancel.
        low = nu <= 0.0
        return np.where(low, 2 * alpha / np.where(low, root - nu, 1.0), (nu + root) / (4 * kappa))

    def has_degrees(self, nu: Array) -> bool:
        """Say whether ν is in the domain of the conjugate."""
        return self.unbounded or bool(nu.max() < 0.0)

    @property
    def unbounded(self) -> bool:
        """Whether the conjugate is finite for all ν."""
        return not is_zero(self.kappa) or is_zero(self.alpha)

    def conjugate(self, nu: Array) -> Any:
        """Return ``Σ φ*(ν_i)``, with ``φ*(ν) = max νu - φ(u)``."""
        if is_zero(self.alpha):
            return 0.0 if is_zero(self.kappa) else dot(nu, nu) / (4 * self.kappa)
        degrees = self.degrees(nu)
        total = dot(nu, degrees) - self.kappa * dot(degrees, degrees)
        return number(total + self.alpha * np.log(degrees).sum(axis=-1))

    def spring(self, nu: Array) -> Array:
        """Return the derivative of :meth:`degrees`, ``1/φ''``."""
        if is_zero(self.alpha):
            return np.full(nu.shape, 0.5 / column(self.kappa))
        return 1.0 / self.bend(self.degrees(nu))

    def common(self, nu: Array) -> tuple[float, Array] | None:
        """Return ``(weight, b)`` if the derivative of :meth:`degrees` has a term ``weight·bbᵀ``."""
        return None

    def top(self, degrees: Array) -> float:
        """Return a cost of the graph that is proportional to its largest degree; 0 here."""
        return 0.0

    def step_limit(self, nu: Array, step: Array) -> Any:
        """Return the fraction of a step that keeps ν in the conjugate's domain, with a margin."""
        if self.unbounded:
            return np.inf
        rising = step > 0.0
        ratios = np.where(rising, -nu / np.where(rising, step, 1.0), np.inf)
        return 0.95 * ratios.min(axis=-1)

    def proximal(self, rho: float) -> DegreePrior:
        """Return the prior plus ``ρ/2‖L‖²``."""
        return DegreePrior(
            self.beta + rho / 2, self.kappa + rho / 2, self.alpha, self.trace, self.bounds
        )

    def scaled(self, factor: float) -> Self:
        """Return the prior for objectives multiplied by factor."""
        return replace(
            self,
            beta=self.beta * factor,
            kappa=self.kappa * factor,
            alpha=self.alpha * factor,
            trace=self.trace.scaled(factor),
        )

    def infeasibility(self, laplacian: Array) -> Residuals:
        """Return by how much a matrix violates each constraint."""
        rule = self.trace
        found = violations(laplacian, rule.target, fixed_trace=rule.fixed)
        if self.bounds is None:
            return found
        weights = symmetric_weights(laplacian)
        miss = np.maximum(self.bounds.lower - weights, weights - self.bounds.upper)
        scale = (
            rule.target if rule.fixed else graph_size(float(np.abs(laplacian).max()), rule.target)
        )
        return replace(found, bounds=max(float(miss.max()), 0.0) / scale)

    def repaired(self, laplacian: Array) -> Array:
        """Return a feasible Laplacian close to the given matrix.

        Its weights are within the bounds. If the trace is fixed, they have the exact sum up to half
        a rounding of one weight; without bounds, up to a common factor that is 1 up to rounding.
        """
        rule = self.trace
        if self.bounds is None:
            return nearest_feasible(laplacian, rule.target if rule.fixed else None)
        weights = symmetric_weights(laplacian)
        if not rule.fixed:
            return laplacian_from_weights(self.clipped(weights))
        box = self.bounds.lower, self.bounds.upper
        return laplacian_from_weights(nearby_weights(weights, *box, rule.target / 2))

    def clipped(self, weights: Array) -> Array:
        """Return the nearest weights within the bounds.

        With bounds and a fixed trace their sum is exact. Without bounds they are only nonnegative.
        """
        if self.bounds is None:
            return np.maximum(weights, 0.0)
        if self.trace.fixed:
            box = self.bounds.lower, self.bounds.upper
            return project_interval(weights, *box, self.trace.target / 2)
        return np.clip(weights, self.bounds.lower, self.bounds.upper)

    def start(self, d: int) -> Array:
        """Return a feasible Laplacian: the complete graph, or the nearest that the bounds allow."""
        complete = complete_graph(d, self.trace.target or float(d))
        return complete if self.bounds is None else self.repaired(complete)

    def edge_reach(self, d: int) -> float:
        """Return the square of the largest change of one weight per unit of objective.

        ``2β‖Δw‖² + κ‖AΔw‖²`` is a lower bound of the objective's growth. ``AᵀA`` has the
        eigenvalues 0, d - 2 and 2(d - 1). The last belongs to equal changes of all weights, which a
        fixed trace rules out. The sum runs over an edge's shares in the eigenspaces.
        """
        if self.beta == 0.0:
            return np.inf
        shares = [
            (1.0 - 2.0 / (d - 1), 0.0),
            (2.0 / d, d - 2.0),
            (0.0 if self.trace.fixed else 2.0 / (d * (d - 1.0)), 2.0 * (d - 1)),
        ]
        return sum(
            share / (2 * self.beta + self.kappa * eigenvalue) for share, eigenvalue in shares
        )

    def reach(self, d: int) -> float:
        """Return the square of the largest change of a Laplacian per unit of objective."""
        if self.beta == 0.0:
            return np.inf
        return max(
            (2.0 + eigenvalue) / (2 * self.beta + self.kappa * eigenvalue)
            for eigenvalue in (0.0, d - 2.0, 2.0 * (d - 1))
        )


def checked_prior(prior: DegreePrior) -> DegreePrior:
    """Return a prior with its attributes checked and as plain numbers, or raise ProblemError.

    The constructors of :class:`Frobenius` and :class:`LogDegree` make the same checks.
    """
    rule, bounds = prior.trace, prior.bounds
    if type(rule) is not TraceRule:
        raise ProblemError(f"trace must be a TraceRule; it is {rule!r}.")
    names = ("beta", "kappa", "alpha")
    beta, kappa, alpha = (
        real_number(name, getattr(prior, name), 0.0, sized=True) for name in names
    )
    stiffness = real_number("stiffness", rule.stiffness, 0.0, infinite=True, sized=True)
    free = stiffness == 0.0
    target = real_number("target", rule.target, 0.0, strict=not free, sized=True)
    if bounds is not None and math.isinf(stiffness):
        bounds.check_total(target / 2)
    if bounds is not None and alpha > 0.0:
        bounds.check_degrees()
    return DegreePrior(beta, kappa, alpha, TraceRule(target, stiffness), bounds)


def stack_priors(priors: Sequence[DegreePrior]) -> DegreePrior:
    """Return priors without bounds as a stack, which has arrays instead of numbers.

    The traces are all fixed or all free, and a coefficient is zero in all of them or in none.
    """
    first, rule = priors[0], priors[0].trace
    beta: Any = np.array([prior.beta for prior in priors])
    kappa: Any = np.array([prior.kappa for prior in priors]) if first.kappa > 0.0 else 0.0
    alpha: Any = np.array([prior.alpha for prior in priors]) if first.alpha > 0.0 else 0.0
    target: Any = np.array([prior.trace.target for prior in priors])
    return DegreePrior(beta, kappa, alpha, TraceRule(target, rule.stiffness))
