"""ADMM for the Gelbrich ball where its risk is not smooth: the hard case.

When the data leave directions without mass and the radius is large, γ meets λmax at the optimum,
where the top eigenvalue is multiple, and gradients tell little. The robust premium as one LMI,

    min ⟨Θ, L⟩ + η‖L‖² + γε² + Tr Z/σ²    s.t.  X = [[γI - L, σLFᵀ], [σFL, Z]] ⪰ 0,   FᵀF = Θ

splits into a projection onto the positive semidefinite matrices and a step in which L, γ and Z
separate. The L-step is strongly convex with the quadratic ``‖L‖² + 2σ²‖LFᵀ‖²``: accelerated
gradient steps solve it, each a Laplacian QP, as far as the residual of the ADMM deserves. γ meets
L through ``Tr L`` only, which is fixed (or goes into the trace penalty). The dual of X gives the
worst-case second moment, so every few iterations a certificate falls out. Over-relaxed, ρ balanced
(Wen, Goldfarb and Yin, Math. Program. Comput. 2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from solvers.incumbent import Incumbent
from solvers.newton import LaplacianQP, solve_laplacian_qp
from wdro_cvx import GraphProblem
from wdro_cvx.validation import Array

_RELAXATION = 1.6
_STEP_ERROR = 0.05  # of an L-step, as a share of the residual; with 0.3 it was seen to stall
_MAX_STEPS = 200  # of an L-step
_CONDITION = 400.0  # of an L-step, at most: it needs some 20 accelerated gradients
_CHECK_EVERY = 20  # a certificate costs about two iterations
_SLACK = 0.05  # γ starts this far above λmax
_QP_TOL = 1e-16  # to rounding: errors of the step add up over the iterations


@dataclass(frozen=True)
class _Model:
    """The LMI in the unit in which the radius is 1."""

    problem: GraphProblem
    factor: Array  # σF
    corner: float  # 1/σ²
    curvature: float  # the largest eigenvalue of I + 2σ²Θ

    @property
    def d(self) -> int:
        return self.problem.d

    def operator(self, laplacian: Array, gamma: float, corner: Array) -> Array:
        d, r = self.d, self.factor.shape[0]
        matrix = np.empty((d + r, d + r))
        matrix[:d, :d] = gamma * np.eye(d) - laplacian
        matrix[:d, d:] = laplacian @ self.factor.T
        matrix[d:, :d] = matrix[:d, d:].T
        matrix[d:, d:] = corner
        return matrix

    def moment(self, dual: Array) -> Array:
        """Return the second moment that a dual matrix stands for."""
        d = self.d
        cross = dual[:d, d:] @ self.factor
        return self.problem.nominal.second_moment + dual[:d, :d] - cross - cross.T


def solve_hard_case(incumbent: Incumbent, radius: float, tol: float, max_iterations: int) -> None:
    """Improve the incumbent until its gap is ``tol`` or the limit is reached."""
    start = incumbent.laplacian
    if start is None or not start.any() or incumbent.gap <= tol or max_iterations < _CHECK_EVERY:
        return  # the empty graph, to which a trace penalty may lead, has no γ and so no LMI
    problem = incumbent.problem.scaled(1.0 / radius)
    model, primal, dual = _start(problem, start)
    d, laplacian = model.d, start
    rho = _capped(model, float(np.linalg.norm(dual) / np.linalg.norm(primal)))
    state = primal - dual / rho
    multipliers: tuple[Array, float] | None = None
    residual = float(np.linalg.norm(primal))
    for iteration in range(1, max_iterations + 1):
        positive, negative = _split(state)
        target = positive - negative
        allowed = _STEP_ERROR * residual
        laplacian, gamma, multipliers = _step(model, target, rho, laplacian, multipliers, allowed)
        corner = target[d:, d:] - model.corner / rho * np.eye(target.shape[0] - d)
        image = model.operator(laplacian, gamma, corner)
        residual = float(np.linalg.norm(image - positive))
        state = state + _RELAXATION * (image - positive)
        if iteration % _CHECK_EVERY:
            continue
        moment = _inside(problem, model.moment(-rho * negative)) * radius**2
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
            new = _capped(model, rho * min(max(ratio, 0.2), 5.0))
            state = moved + rest * (rho / new)
            rho, multipliers = new, None


def _start(problem: GraphProblem, laplacian: Array) -> tuple[_Model, Array, Array]:
    """Return the model with primal and dual matrices that belong to a Laplacian."""
    values, vectors = linalg.eigh(laplacian, driver="evd", check_finite=False)
    nominal = problem.nominal
    worst = problem.ambiguity.worst_case(nominal, laplacian)
    gamma = max(worst.multiplier, (1 + _SLACK) * float(values[-1]))
    # How far each direction of the data moves: (γI - L)⁻¹L.
    stretch = values / (gamma - values)
    moves = (nominal.factor @ vectors * stretch) @ vectors.T
    # What the transport leaves of the budget is spread where the LMI is closest to singular.
    leftover = max(1.0 - float(np.sum(moves**2)), 0.0)
    spread = (vectors * stretch**2) @ vectors.T
    upper = moves.T @ moves + spread * (leftover / float(np.trace(spread)))
    largest = float(np.linalg.norm(nominal.factor, 2)) ** 2
    # The dual's corners are comparable for σ = 1: the transports have the radius, 1, as their norm.
    sigma = float(min(1.0, np.sqrt((_CONDITION - 1.0) / (2 * largest)))) if largest > 0 else 1.0
    factor = sigma * nominal.factor
    model = _Model(problem, factor, 1.0 / sigma**2, 1.0 + 2 * sigma**2 * largest)
    primal = model.operator(laplacian, gamma, sigma * moves @ laplacian @ factor.T)
    side = -moves / sigma
    dual = np.block([[upper, side.T], [side, model.corner * np.eye(side.shape[0])]])
    return model, primal, dual


def _step(
    model: _Model,
    target: Array,
    rho: float,
    start: Array,
    multipliers: tuple[Array, float] | None,
    allowed: float,
) -> tuple[Array, float, tuple[Array, float]]:
    """Minimise the augmented Lagrangian over L and γ by accelerated gradients.

    The best γ is ``(Tr L + offset)/d``. With a trace penalty it is eliminated, which takes
    ``ρ/2d·(Tr L + offset)²`` off the penalty and leaves another one.
    """
    problem, d = model.problem, model.d
    upper, side = target[:d, :d], target[:d, d:]
    offset = float(np.trace(upper)) - 1.0 / rho
    trace, penalty = problem.target_trace, problem.trace_penalty
    if penalty is not None:
        removed = rho / (2 * d)
        trace = (penalty * trace + removed * offset) / (penalty - removed)
        penalty -= removed
    root = float(np.sqrt(model.curvature))  # the strong convexity is 1
    momentum = (root - 1.0) / (root + 1.0)
    laplacian, centre = start, start
    for _ in range(_MAX_STEPS):
        pull = (centre @ model.factor.T - side) @ model.factor
        slope = rho * (upper + pull + pull.T - (model.curvature - 1.0) * centre)
        moment = problem.nominal.second_moment + slope
        quadratic = LaplacianQP(moment, problem.eta + rho * model.curvature / 2, trace, penalty)
        answer = solve_laplacian_qp(quadratic, multipliers, _QP_TOL)
        previous, laplacian = laplacian, answer.laplacian
        multipliers = (answer.nu, answer.tau)
        if root * float(np.linalg.norm(laplacian - centre)) <= allowed:
            break
        centre = laplacian + momentum * (laplacian - previous)
    gamma = (float(np.trace(laplacian)) + offset) / d
    assert multipliers is not None
    return laplacian, gamma, multipliers


def _capped(model: _Model, rho: float) -> float:
    """Keep ρ small enough for the eliminated γ to leave a positive trace penalty."""
    penalty = model.problem.trace_penalty
    return rho if penalty is None else min(rho, penalty * model.d)


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
