"""What the rivals share: the sample average under the log-degree prior, and its duality gap.

    min cᵀw + 2β‖w‖² - α Σ log u,    u = Aw, w ≥ 0

Weights are held as symmetric matrices: for dense problems sums over rows are the fastest ``A``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from wdro_cvx import Certificate, GraphProblem, LogDegree, ProblemError, Singleton, Solution, Status
from wdro_cvx.moments.moment import as_moment
from wdro_cvx.validation import Array

_LOOK = 5  # iterations between two looks at the gap
_MOST = 200_000  # iterations


@dataclass(frozen=True, eq=False)
class Model:
    """The problem in numbers; the diagonal of ``costs`` is infinite."""

    costs: Array
    alpha: float
    beta: float

    @classmethod
    def of(cls, problem: GraphProblem) -> Model:
        """Read a problem."""
        moment = problem.nominal.second_moment
        squares = np.diagonal(moment)
        costs = np.add.outer(squares, squares) - 2 * moment
        np.fill_diagonal(costs, np.inf)
        return cls(costs, problem.prior.alpha, problem.prior.beta)

    @property
    def d(self) -> int:
        """The number of vertices."""
        return len(self.costs)

    @property
    def norm(self) -> float:
        """The largest singular value of A."""
        return float(np.sqrt(2.0 * (self.d - 1)))

    def weights(self, nu: Array, out: Array) -> Array:
        """Return the weights that are best at the multipliers ν."""
        np.add.outer(-nu, -nu, out=out)
        out -= self.costs
        np.maximum(out, 0.0, out=out)
        out /= 4 * self.beta
        return out

    def bound(self, nu: Array, weights: Array) -> float:
        """Return the dual at ν < 0, with the weights that are best there."""
        conjugate = self.alpha * float(np.log(-self.alpha / nu).sum()) - self.alpha * self.d
        return -self.beta * float(np.vdot(weights, weights)) - conjugate

    def scaled(self, weights: Array) -> tuple[float, float]:
        """Return the best factor for some weights, and the value with it."""
        degrees = weights.sum(axis=1)
        if degrees.min() <= 0.0:
            return 1.0, np.inf
        rows, columns = np.nonzero(weights)
        used = weights[rows, columns]
        cost = float(used @ self.costs[rows, columns]) / 2
        square = self.beta * float(used @ used)
        logs = self.alpha * self.d
        scale = 2 * logs / (cost + float(np.sqrt(cost**2 + 8 * logs * square)))
        value = scale * cost + scale**2 * square
        return scale, value - self.alpha * float(np.log(scale * degrees).sum())


class Iteration(Protocol):
    """An algorithm between two iterations."""

    def step(self) -> None:
        """Do one iteration."""

    def state(self) -> tuple[Array, Array]:
        """Return multipliers below zero, and the weights that are best there."""


@dataclass
class Best:
    """The best weights and multipliers so far."""

    value: float = np.inf
    bound: float = -np.inf
    laplacian: Array = field(default_factory=lambda: np.empty((0, 0)))
    nu: Array = field(default_factory=lambda: np.empty(0))

    def gap(self, floor: float) -> float:
        """Return the relative gap."""
        return (self.value - self.bound) / max(abs(self.value), abs(self.bound), floor)

    def look(self, model: Model, nu: Array, weights: Array) -> None:
        """Keep what is better than before."""
        bound = model.bound(nu, weights)
        if bound > self.bound:
            self.bound, self.nu = bound, nu.copy()
        scale, value = model.scaled(weights)
        if value < self.value:
            self.value = value
            self.laplacian = weights * -scale
            np.fill_diagonal(self.laplacian, scale * weights.sum(axis=1))


def check_log_degree(problem: GraphProblem) -> None:
    """Raise ProblemError unless the rivals know the problem."""
    average = isinstance(problem.ambiguity, Singleton)
    if not average or not isinstance(problem.prior, LogDegree) or problem.bounds is not None:
        raise ProblemError(
            "the log-degree rivals solve sample averages under LogDegree without bounds; "
            f"the problem is {problem!r}. Use CertifiedSolver."
        )


def run(problem: GraphProblem, model: Model, iteration: Iteration, tol: float) -> Solution:
    """Iterate until the duality gap is closed."""
    started, best = time.perf_counter(), Best()
    floor, iterations = model.alpha * model.d, 0
    # Values that are no numbers come from steps too long: such a run goes on to its limit.
    with np.errstate(all="ignore"):
        while not best.gap(floor) <= tol and iterations < _MOST:
            for _ in range(_LOOK):
                iteration.step()
            iterations += _LOOK
            best.look(model, *iteration.state())
    solved = best.gap(floor) <= tol
    return Solution(
        laplacian=best.laplacian,
        value=best.value,
        status=Status.SOLVED if solved else Status.ITERATION_LIMIT,
        bound=best.bound,
        iterations=iterations,
        certificate=Certificate(as_moment(problem.nominal.second_moment), best.nu),
        solve_s=time.perf_counter() - started,
        floor=floor,
    )
