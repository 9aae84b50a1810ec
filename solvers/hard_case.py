"""ADMM for the Gelbrich ball where its risk is not smooth: the hard case.

When the data leave directions without mass and the radius is large, γ meets λmax at the optimum,
where the top eigenvalue is multiple, and gradients tell little. In the unit in which the radius is
1 the robust premium is one LMI,

    min ⟨Θ, L⟩ + η‖L‖² + γ + Tr Z    s.t.  X = [[γI - L, LFᵀ], [FL, Z]] ⪰ 0,   FᵀF = Θ,

whose dual has corners of comparable size, since no transport is longer than the radius. It splits
into a projection onto the positive semidefinite matrices and a step in which L, γ and Z separate.
The L-step has the quadratic ``‖L‖² + 2‖LFᵀ‖²``; accelerated gradients with a curvature found by
backtracking solve it, each a Laplacian QP, as far as the residual of the ADMM deserves. γ meets L
through ``Tr L`` only, which is fixed (or goes into the trace penalty). The dual of X gives the
worst-case second moment, so every few iterations a certificate falls out. Over-relaxed, ρ balanced
(Wen, Goldfarb and Yin, Math. Program. Comput. 2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from solvers.incumbent import Incumbent
from solvers.newton import solve_laplacian_qp
from solvers.quadratic import LaplacianQP
from wdro_cvx import GraphProblem
from wdro_cvx.validation import Array

_RELAXATION = 1.6
_STEP_ERROR = 0.05  # of an L-step, as a share of the residual; with 0.3 it was seen to stall
_MAX_STEPS = 200  # of an L-step; it takes one or two
_FORGET = 0.9  # of the curvature from one L-step to the next, for it to follow the active edges
_CHECK_EVERY = 20  # a certificate costs about two iterations
_SLACK = 0.05  # γ starts this far above λmax
_QP_TOL = 1e-16  # to rounding: errors of the step add up over the iterations


def solve_hard_case(incumbent: Incumbent, radius: float, tol: float, max_iterations: int) -> None:
    """Improve the incumbent until its gap is ``tol`` or the limit is reached."""
    start = incumbent.laplacian
    if start is None or not start.any() or incumbent.gap <= tol or max_iterations < _CHECK_EVERY:
        return  # the empty graph, to which a trace penalty may lead, has no γ and so no LMI
    problem = incumbent.problem.scaled(1.0 / radius)
    d = problem.d
    primal, dual = _start(problem, start)
    rho = _capped(problem, float(np.linalg.norm(dual) / np.linalg.norm(primal)))
    state = primal - dual / rho
    residual = float(np.linalg.norm(primal))
    step = _Step(problem, start)
    for iteration in range(1, max_iterations + 1):
        positive, negative = _split(state)
        target = positive - negative
        laplacian, gamma = step.take(target, rho, _STEP_ERROR * residual)
        corner = target[d:, d:] - np.eye(target.shape[0] - d) / rho
        image = _operator(problem, laplacian, gamma, corner)
        residual = float(np.linalg.norm(image - positive))
        state = state + _RELAXATION * (image - positive)
        if iteration % _CHECK_EVERY:
            continue
        moment = _inside(problem, _moment(problem, -rho * negative)) * radius**2
        answer = incumbent.bound_by(moment, None)
        incumbent.evaluate(laplacian)
        incumbent.evaluate(answer.laplacian)
        incumbent.record(_CHECK_EVERY)
        if incumbent.gap <= tol:
            return
        moved, rest = _split(state)
        primal_error = residual * float(np.linalg.norm(negative))
        dual_error = float(np.linalg.norm(moved - positive) * np.linalg.norm(positive))
        ratio = float(np.sqrt(primal_error / dual_error)) if dual_error > 0 else 1.0
        if not 0.5 <= ratio <= 2.0:
            new = _capped(problem, rho * min(max(ratio, 0.2), 5.0))
            state = moved + rest * (rho / new)
            rho, step.multipliers = new, None


def _start(problem: GraphProblem, laplacian: Array) -> tuple[Array, Array]:
    """Return primal and dual matrices that belong to a Laplacian."""
    values, vectors = linalg.eigh(laplacian, driver="evd", check_finite=False)
    factor = problem.nominal.factor
    worst = problem.ambiguity.worst_case(problem.nominal, laplacian)
    gamma = max(worst.multiplier, (1 + _SLACK) * float(values[-1]))
    # How far each direction of the data moves: (γI - L)⁻¹L.
    stretch = values / (gamma - values)
    moves = (factor @ vectors * stretch) @ vectors.T
    # What the transport leaves of the budget is spread where the LMI is closest to singular.
    leftover = max(1.0 - float(np.sum(moves**2)), 0.0)
    spread = (vectors * stretch**2) @ vectors.T
    upper = moves.T @ moves + spread * (leftover / float(np.trace(spread)))
    primal = _operator(problem, laplacian, gamma, moves @ laplacian @ factor.T)
    dual = np.block([[upper, -moves.T], [-moves, np.eye(factor.shape[0])]])
    return primal, dual


def _operator(problem: GraphProblem, laplacian: Array, gamma: float, corner: Array) -> Array:
    """Return the matrix X of the LMI."""
    side = laplacian @ problem.nominal.factor.T
    return np.block([[gamma * np.eye(problem.d) - laplacian, side], [side.T, corner]])


def _moment(problem: GraphProblem, dual: Array) -> Array:
    """Return the second moment that a dual matrix stands for."""
    d = problem.d
    cross = dual[:d, d:] @ problem.nominal.factor
    return problem.nominal.second_moment + dual[:d, :d] - cross - cross.T


@dataclass
class _Step:
    """The step in L and γ, with what one call leaves to the next."""

    problem: GraphProblem
    laplacian: Array
    multipliers: tuple[Array, float] | None = None
    curvature: float = 1.0  # of 2‖LFᵀ‖², locally; over all matrices it may be 1e6 times larger

    def take(self, target: Array, rho: float, allowed: float) -> tuple[Array, float]:
        """Minimise the augmented Lagrangian over L and γ by accelerated gradients.

        The best γ is ``(Tr L + offset)/d``. With a trace penalty it is eliminated, which takes
        ``ρ/2d·(Tr L + offset)²`` off the penalty and leaves another one.
        """
        problem, d = self.problem, self.problem.d
        factor = problem.nominal.factor
        upper, side = target[:d, :d], target[:d, d:]
        offset = float(np.trace(upper)) - 1.0 / rho
        trace, penalty = problem.target_trace, problem.trace_penalty
        if penalty is not None:
            removed = rho / (2 * d)
            trace = (penalty * trace + removed * offset) / (penalty - removed)
            penalty -= removed
        centre = self.laplacian
        self.curvature *= _FORGET
        for _ in range(_MAX_STEPS):
            pull = (centre @ factor.T - side) @ factor
            slope = rho * (upper + pull + pull.T - self.curvature * centre)
            moment = problem.nominal.second_moment + slope
            eta = problem.eta + rho * (1.0 + self.curvature) / 2
            answer = solve_laplacian_qp(
                LaplacianQP(moment, eta, trace, penalty, problem.bounds), self.multipliers, _QP_TOL
            )
            self.multipliers = (answer.nu, answer.tau)
            change = answer.laplacian - centre
            length = float(np.vdot(change, change))
            bend = 2 * float(np.sum((change @ factor.T) ** 2))
            if bend > (1.0 + 1e-9) * self.curvature * length:
                self.curvature = max(2 * self.curvature, bend / length)
                continue
            previous, self.laplacian = self.laplacian, answer.laplacian
            root = float(np.sqrt(1.0 + self.curvature))  # the strong convexity is 1
            if root * np.sqrt(length) <= allowed:
                break
            momentum = (root - 1.0) / (root + 1.0)
            centre = self.laplacian + momentum * (self.laplacian - previous)
        return self.laplacian, (float(np.trace(self.laplacian)) + offset) / d


def _capped(problem: GraphProblem, rho: float) -> float:
    """Keep ρ small enough for the eliminated γ to leave a positive trace penalty."""
    penalty = problem.trace_penalty
    return rho if penalty is None else min(rho, penalty * problem.d)


def _split(matrix: Array) -> tuple[Array, Array]:
    """Return the positive and the negative semidefinite part."""
    values, vectors = linalg.eigh(matrix, driver="evd", check_finite=False)
    negative = values < 0.0
    if 2 * np.count_nonzero(negative) <= values.size:
        part = (vectors[:, negative] * values[negative]) @ vectors[:, negative].T
        return matrix - part, part
    part = (vectors[:, ~negative] * values[~negative]) @ vectors[:, ~negative].T
    return part, matrix - part


def _inside(problem: GraphProblem, moment: Array) -> Array:
    """Return the moment, moved towards the nominal one where it is outside the ball."""
    distance = problem.ambiguity.distance(problem.nominal, moment)
    if distance <= 1.0:
        return moment
    centre = problem.nominal.second_moment
    return centre + (moment - centre) / distance**2  # the squared distance is convex
