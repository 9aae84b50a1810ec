"""The objectives of Algorithms 2 and 4 with their gradients: equations 34, 35, 44 and 45.

Both are functions of the edge weights v ≥ 0 and contain the penalty ``β(Tr L - d)²``. The gradients
are corrected (docs/paper.md E3, E4) unless the printed ones are requested.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from solvers.paper.backtracking import OUTSIDE, Evaluation, Objective
from wdro_cvx import GraphProblem, MomentBall, ProblemError
from wdro_cvx.graphs.laplacian import adjoint, degrees, edge_index, laplacian_from_weights
from wdro_cvx.priors import frobenius_of
from wdro_cvx.validation import Array


def check_penalised(problem: GraphProblem, who: str) -> None:
    """Raise ProblemError unless the prior is the paper's with a penalised trace."""
    frobenius_of(problem.prior, who)
    if problem.prior.trace.fixed:
        raise ProblemError(
            f"{who} is printed for the penalty β(Tr L - d)²; this problem fixes the trace. Give "
            "the problem trace_penalty=β, or use an improved version, ProjectedGradient or "
            "BlockDescent."
        )
    if problem.prior.bounds is not None:
        raise ProblemError(f"{who} knows no bounds on edges. Use CertifiedSolver.")


def general_objective(problem: GraphProblem, as_printed: bool) -> Objective:
    """Return ``m(v)`` of equation 44 with its gradient.

    It is ``⟨Θ, L⟩ + η‖L‖² + ε‖vec L‖_q + β(Tr L - d)²``, computed from the entries of L: the
    weights and the degrees.
    """
    linear = adjoint(problem.nominal.second_moment)
    ambiguity, prior = problem.ambiguity, _prior(problem)

    def evaluate(weights: Array) -> Evaluation:
        degree = degrees(weights)
        value, prior_gradient = prior(weights, degree)
        value += float(linear @ weights)
        if not isinstance(ambiguity, MomentBall):  # a single point: ε = 0
            return value, lambda: linear + prior_gradient()
        radius = ambiguity.radius
        norm, norm_gradient = _vector_norm(weights, degree, ambiguity.q, as_printed)
        return (
            value + radius * norm,
            lambda: linear + prior_gradient() + radius * norm_gradient(),
        )

    return evaluate


def gaussian_objective(problem: GraphProblem, gamma: float, as_printed: bool) -> Objective:
    """Return ``g(γ, L) + β(Tr L - d)²`` for fixed γ: ``r(v)`` of equation 34 plus a constant.

    The constant is ``γ(ε² - Tr Θ)``. The risk is computed as ``⟨Θ, L⟩ + γε² + Tr(L(γI - L)⁻¹LΘ)``,
    which is equal but avoids cancellation of large terms. It is infinite unless ``γI ≻ L``; a
    Cholesky factorisation tests this.
    """
    root = problem.nominal.factor.T  # Θ = root rootᵀ
    linear = adjoint(problem.nominal.second_moment)
    identity = np.eye(problem.d)
    constant = gamma * problem.ambiguity.radius**2
    prior = _prior(problem)

    def evaluate(weights: Array) -> Evaluation:
        laplacian = laplacian_from_weights(weights)
        factor, failed = scipy.linalg.lapack.dpotrf(gamma * identity - laplacian)
        if failed:
            return OUTSIDE
        image = laplacian @ root
        shift, _ = scipy.linalg.lapack.dpotrs(factor, image)  # (γI - L)⁻¹ L root
        value, prior_gradient = prior(weights, np.diagonal(laplacian))
        value += float(linear @ weights) + constant + float(np.vdot(image, shift))

        def gradient() -> Array:
            moved = root + shift  # γ(γI - L)⁻¹ root
            if as_printed:  # γ²(γI - L)⁻²Θ
                moment = gamma * scipy.linalg.lapack.dpotrs(factor, moved)[0] @ root.T
            else:  # γ²(γI - L)⁻¹Θ(γI - L)⁻¹
                moment = moved @ moved.T
            return adjoint(moment) + prior_gradient()

        return value, gradient

    return evaluate


def _prior(problem: GraphProblem) -> Callable[[Array, Array], Evaluation]:
    """Return ``η‖L‖² + β(Tr L - d)²`` as a function of weights and degrees."""
    eta, beta = problem.prior.beta, problem.prior.trace.stiffness
    target = problem.prior.trace.target
    heads, tails = edge_index(problem.d)

    def evaluate(weights: Array, degree: Array) -> Evaluation:
        excess = 2.0 * float(weights.sum()) - target
        square = 2.0 * float(weights @ weights) + float(degree @ degree)

        def gradient() -> Array:
            found = degree[heads] + degree[tails]
            found += 2.0 * weights
            found *= 2.0 * eta
            found += 4.0 * beta * excess
            return np.asarray(found)

        return eta * square + beta * excess**2, gradient

    return evaluate


def _power_sum(entries: Array, q: float) -> float:
    return float(entries @ entries if q == 2.0 else (entries**q).sum())


def _vector_norm(weights: Array, degree: Array, q: float, as_printed: bool) -> Evaluation:
    """Return ``‖vec L‖_q`` with its gradient; L has the degrees and, twice, each negated weight."""
    largest = float(degree.max())
    if largest == 0.0:  # 0/0 in equation 45
        return 0.0, lambda: np.zeros_like(weights)
    heads, tails = edge_index(degree.size)
    if np.isinf(q):
        top = degree == largest
        share = top / np.count_nonzero(top)
        return largest, lambda: share[heads] + share[tails]
    # Divided by the largest entry, so powers neither overflow nor vanish.
    diagonal, entries = degree / largest, weights / largest
    total = _power_sum(diagonal, q) + 2.0 * _power_sum(entries, q)

    def gradient() -> Array:
        powers = diagonal ** (q - 1.0)
        with np.errstate(invalid="ignore"):  # printed: a negative number to a fractional power
            negated = -((-entries) ** (q - 1.0)) if as_printed else entries ** (q - 1.0)
        return np.asarray(
            total ** (1.0 / q - 1.0) * (powers[heads] + powers[tails] + 2.0 * negated)
        )

    return largest * total ** (1.0 / q), gradient
