"""The problem that all rivals solve: the sample average under the log-degree prior.

min cᵀw + 2β‖w‖² - α Σ log u,    u = Aw, w ≥ 0
"""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from solvers import Solver
from wdro_cvx import Certificate, GraphProblem, LogDegree, ProblemError, Singleton, Solution, Status
from wdro_cvx.moments.points import as_moment
from wdro_cvx.validation import Array

_LOOK = 5  # iterations between two computations of the gap


class Model:
    """The problem's data, with the weights as a symmetric matrix.

    Row sums are the fastest way to apply ``A`` to dense weights. A subclass may store the weights
    in another form.
    """

    def __init__(self, problem: GraphProblem) -> None:
        self.d, self.alpha, self.beta = problem.d, problem.prior.alpha, problem.prior.beta
        moment = problem.nominal.second_moment
        squares = np.diagonal(moment)
        self.costs = np.add.outer(squares, squares) - 2 * moment
        np.fill_diagonal(self.costs, np.inf)

    @property
    def norm(self) -> float:
        """The largest singular value of A."""
        return float(np.sqrt(2.0 * (self.d - 1)))

    def weights(self, nu: Array, out: Array) -> Array:
        """Return the optimal weights for the multipliers ν."""
        np.add.outer(-nu, -nu, out=out)
        out -= self.costs
        np.maximum(out, 0.0, out=out)
        out /= 4 * self.beta
        return out

    def degrees(self, weights: Array) -> Array:
        """Return the weighted degrees."""
        return np.asarray(weights.sum(axis=1))

    def most_used(self, weights: Array) -> int:
        """Return the largest number of edges at a vertex."""
        return int(np.count_nonzero(weights, axis=1).max())

    def terms(self, weights: Array) -> tuple[float, float]:
        """Return ``cᵀw`` and ``2β‖w‖²``."""
        rows, columns = np.nonzero(weights)
        used = weights[rows, columns]
        return float(used @ self.costs[rows, columns]) / 2, self.beta * float(used @ used)

    def bracket(self, nu: Array, weights: Array) -> tuple[float, float, float]:
        """Return the dual value at ν < 0, the best factor for the weights, and the value with it.

        The weights must be optimal for ν.
        """
        cost, square = self.terms(weights)
        logs, degrees = self.alpha * self.d, self.degrees(weights)
        bound = -square - self.alpha * float(np.log(-self.alpha / nu).sum()) + logs
        if degrees.min() <= 0.0:
            return bound, 1.0, np.inf
        scale = 2 * logs / (cost + float(np.sqrt(cost**2 + 8 * logs * square)))
        value = scale * cost + scale**2 * square
        return bound, scale, value - self.alpha * float(np.log(scale * degrees).sum())


class Iteration(Protocol):
    """The state of an algorithm between two iterations."""

    def step(self) -> None:
        """Do one iteration."""

    def state(self) -> tuple[Array, Array]:
        """Return multipliers below zero and the optimal weights for them."""


@dataclass
class Best:
    """The best weights and multipliers so far."""

    value: float = np.inf
    bound: float = -np.inf
    weights: Array = field(default_factory=lambda: np.empty((0, 0)))
    nu: Array = field(default_factory=lambda: np.empty(0))
    iterations: int = 0

    def gap(self, floor: float) -> float:
        """Return the relative gap."""
        return (self.value - self.bound) / max(abs(self.value), abs(self.bound), floor)

    def look(self, model: Model, nu: Array, weights: Array) -> None:
        """Keep the weights or multipliers if they improve on the best so far."""
        bound, scale, value = model.bracket(nu, weights)
        if bound > self.bound:
            self.bound, self.nu = bound, nu.copy()
        if value < self.value or not self.weights.size:
            self.value, self.weights = value, scale * weights


def iterate(model: Model, iteration: Iteration, tol: float, most: int = 200_000) -> Best:
    """Iterate until the duality gap is at most ``tol``, but at most ``most`` times."""
    best, floor = Best(), model.alpha * model.d
    # A step that is too long produces NaN; such a run continues to its limit.
    with np.errstate(all="ignore"):
        while not best.gap(floor) <= tol and best.iterations < most:
            for _ in range(_LOOK):
                iteration.step()
            best.iterations += _LOOK
            best.look(model, *iteration.state())
    return best


def check_log_degree(problem: GraphProblem) -> None:
    """Raise ProblemError unless the rivals can solve the problem."""
    average = isinstance(problem.ambiguity, Singleton)
    if not average or not isinstance(problem.prior, LogDegree) or problem.bounds is not None:
        raise ProblemError(
            "the log-degree rivals solve sample averages under LogDegree without bounds; "
            f"the problem is {problem!r}. Use CertifiedSolver."
        )


@dataclass(frozen=True)
class Rival(Solver):
    """A published algorithm for sample averages under the log-degree prior.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    """

    claims = (Singleton,)

    tol: float = 1e-6

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Accept sample averages under the log-degree prior."""
        check_log_degree(problem)

    @abstractmethod
    def iteration(self, model: Model) -> Iteration:
        """Return the initial state of the algorithm."""

    def solve(self, problem: GraphProblem) -> Solution:
        """Solve the problem over all pairs."""
        check_log_degree(problem)
        started, model = time.process_time(), Model(problem)
        best, floor = iterate(model, self.iteration(model), self.tol), model.alpha * model.d
        laplacian = -best.weights
        np.fill_diagonal(laplacian, best.weights.sum(axis=1))
        return Solution(
            laplacian=laplacian,
            value=best.value,
            status=Status.SOLVED if best.gap(floor) <= self.tol else Status.ITERATION_LIMIT,
            bound=best.bound,
            iterations=best.iterations,
            certificate=Certificate(as_moment(problem.nominal.second_moment), best.nu),
            solve_s=time.process_time() - started,
            floor=floor,
        )
