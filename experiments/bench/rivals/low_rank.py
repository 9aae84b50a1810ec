"""A low-rank method in the manner of Burer and Monteiro (Math. Program. 2003), for transport balls.

It maximises ``min_L ⟨GᵀG, L⟩ + prior(L)`` over factors G within the radius of a factor F of Θ, by
L-BFGS. ``G = F + εV/‖V‖`` is an explicit coupling, so every iterate proves a lower bound. The inner
minimum is a Laplacian QP, and its graph gives the upper bound; no semidefinite constraint is left.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from solvers import LaplacianQP, Solver, solve_laplacian_qp
from solvers.qp.qp import QPSolution
from wdro_cvx import Certificate, GaussianBall, GraphProblem, Solution, Status, WassersteinBall
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.validation import Array

_MEMORY = 20  # pairs that L-BFGS remembers
_SPARE = 1e-3  # size of the start in rows that F does not have


class _Ascent:
    """The dual function of the moves V, and the best graph and bound so far."""

    def __init__(self, problem: GraphProblem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        factor = problem.nominal.factor
        self.rows, d = factor.shape
        # With fewer rows than vertices, the worst moment may have a higher rank than Θ.
        self.factor: Array = np.vstack([factor, np.zeros((max(d - self.rows, 0), d))])
        self.value, self.bound, self.iterations = np.inf, -np.inf, 0
        self.laplacian: Array = np.zeros((d, d))
        self.moved, self.nu = self.factor, np.zeros(d)
        self._found: QPSolution | None = None

    def start(self) -> Array:
        """Return the direction of steepest ascent at F, with a little of every other direction."""
        slope = self.factor @ self._minimum(self.factor).laplacian
        noise = np.random.default_rng(0).standard_normal(self.factor.shape)
        start = slope + _SPARE * np.linalg.norm(slope) / np.linalg.norm(noise) * noise
        return np.asarray(start / np.linalg.norm(start)).ravel()

    def descent(self, point: Array) -> tuple[float, Array]:
        """Return the negated dual function of V, and its gradient."""
        size = float(np.linalg.norm(point))
        direction = point.reshape(self.factor.shape) / size
        radius = self.problem.ambiguity.radius
        moved = self.factor + radius * direction
        found = self._minimum(moved)
        if found.bound > self.bound:
            self.bound, self.moved, self.nu = found.bound, moved, found.nu
        slope = 2 * radius * (moved @ found.laplacian)
        tangent = slope - np.sum(slope * direction) * direction
        return -found.bound, -tangent.ravel() / size

    def look(self, intermediate_result: OptimizeResult) -> None:
        """Evaluate the graph of an iterate; stop at the wanted gap."""
        self.iterations += 1
        self.evaluate()
        if self.solved:
            raise StopIteration

    def evaluate(self) -> None:
        """Keep the latest graph if it is the best so far."""
        assert self._found is not None
        value = self.problem.value(self._found.laplacian)
        if value < self.value:
            self.value, self.laplacian = value, self._found.laplacian

    @property
    def solved(self) -> bool:
        """Whether the gap is at most the tolerance."""
        return self.value - self.bound <= self.tol * max(abs(self.value), self.problem.floor)

    def _minimum(self, moved: Array) -> QPSolution:
        qp = LaplacianQP(moved.T @ moved, self.problem.prior)
        warm = None if self._found is None else (self._found.nu, self._found.tau)
        self._found = solve_laplacian_qp(qp, warm, tol=self.tol / 100)
        return self._found


@dataclass(frozen=True)
class LowRank(Solver):
    """L-BFGS over factors of the worst second moment.

    Parameters
    ----------
    tol : float
        The relative gap at which to stop.
    most : int
        The largest number of iterations.
    """

    claims = (GaussianBall, WassersteinBall)

    tol: float = 1e-6
    most: int = 5000

    def solve(self, problem: GraphProblem) -> Solution:
        """Solve the problem; the status is ``iteration limit`` if the gap stays above ``tol``."""
        self.check_claim(problem)
        started, ascent = time.perf_counter(), _Ascent(problem, self.tol)
        options = {"maxcor": _MEMORY, "maxiter": self.most, "ftol": 0.0, "gtol": 0.0}
        start = ascent.start()
        ascent.descent(start)
        ascent.evaluate()  # at radius 0, this is the optimum
        if not ascent.solved:
            minimize(
                ascent.descent, start, jac=True, method="L-BFGS-B", callback=ascent.look,
                options=options | {"maxfun": 2 * self.most},
            )  # fmt: skip
        spread = ascent.moved[ascent.rows :]
        moment = TransportedMoment(ascent.moved[: ascent.rows], spread if len(spread) else None)
        return Solution(
            laplacian=ascent.laplacian,
            value=ascent.value,
            status=Status.SOLVED if ascent.solved else Status.ITERATION_LIMIT,
            bound=ascent.bound,
            iterations=ascent.iterations,
            certificate=Certificate(moment, ascent.nu),
            solve_s=time.perf_counter() - started,
            floor=problem.floor,
        )
