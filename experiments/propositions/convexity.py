"""The function g(γ, L): its convexity, its gradients, its shape in γ."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from scipy.linalg import block_diag

from experiments.propositions.drawn import REGULAR, SINGULAR, Drawn, sized, with_gamma
from experiments.propositions.gaussian import printed_objective
from experiments.propositions.proposition import Attempt, Ruling, proposition
from experiments.propositions.routes import (
    BETA,
    ROUNDING,
    bend,
    conic_optimum,
    deviation,
    numerical_gradient,
    slope,
)
from solvers.paper.printed_objectives import gaussian_objective
from wdro_cvx import GaussianBall
from wdro_cvx.graphs.laplacian import laplacian_from_weights, weights_from_laplacian
from wdro_cvx.validation import Array

_POLE = "fourth-order differences near the pole λmax"
_AT_GAMMA = with_gamma(REGULAR, 1.3, 3.0)
_DEFINITE = 1e-12  # smaller eigenvalues of a matrix of unit diagonal may be rounding errors


def kronecker_form(a: Array, b: Array, c: Array) -> float:
    """Return ``vec(C)ᵀ(B ⊗ Aᵀ)vec(C)``."""
    vector = c.ravel(order="F")
    return float(vector @ np.kron(b, a.T) @ vector)


@proposition(
    "Lemma 2", "Tr(ACBC) = vec(C)ᵀ(B ⊗ Aᵀ)vec(C) for symmetric C.", "It does.",
    sized("normal entries"), ROUNDING,
)  # fmt: skip
def lemma_2(d: int, rng: np.random.Generator) -> Attempt:
    """Compute both sides in NumPy."""
    a, b, c = rng.standard_normal((3, d, d))
    c = c + c.T
    size = np.linalg.norm(a) * np.linalg.norm(b) * np.linalg.norm(c) ** 2
    difference = abs(np.trace(a @ c @ b @ c) - kronecker_form(a, b, c))
    return Attempt(float(difference / size), {"A": a, "B": b, "C": c})


def kronecker_deviation(a: Array, b: Array) -> float:
    """Return how far ``(A ⊗ B)⁻¹`` is from ``A⁻¹ ⊗ B⁻¹``; NaN if there is no inverse."""
    if min(np.linalg.matrix_rank(a), np.linalg.matrix_rank(b)) < a.shape[0]:
        return float("nan")
    return deviation(np.kron(np.linalg.inv(a), np.linalg.inv(b)), np.linalg.inv(np.kron(a, b)))


@proposition(
    "Lemma 3", "(A ⊗ B)⁻¹ = A⁻¹ ⊗ B⁻¹ for A, B in S₊.",
    "It holds for A, B in S₊₊. Matrices in S₊ may have no inverse.",
    sized("rank 1–d"), (1e-8, "rounding times the condition number"),
    known=Ruling.CORRECTED, dimensions=(2, 5), erratum="E8",
)  # fmt: skip
def lemma_3(d: int, rng: np.random.Generator) -> Attempt:
    """Compute both sides in NumPy, for semidefinite matrices of any rank and for definite ones."""
    factors = [rng.standard_normal((d, int(rng.integers(1, d + 1)))) for _ in range(2)]
    a, b = (factor @ factor.T for factor in factors)
    definite = kronecker_deviation(a + np.eye(d), b + np.eye(d))
    return Attempt(kronecker_deviation(a, b), {"A": a, "B": b}, definite)


def printed_hessian(drawn: Drawn, gamma: float) -> Array:
    """Return equation 28 at ``(γ, L)``, a matrix of size d² + 1."""
    d, theta, inverse = drawn.d, drawn.theta, drawn.resolvent(gamma)
    rest = np.eye(d) - gamma * inverse
    upper = 2 * gamma**2 * np.kron(inverse @ theta @ inverse, inverse)
    upper += 2 * drawn.eta * np.eye(d * d)
    side = 2 * gamma * (inverse @ rest @ theta @ inverse).ravel(order="F")
    corner = 2 * np.trace(theta @ rest @ rest @ inverse)
    return np.block([[upper, side[:, None]], [side[None, :], np.array([[corner]])]])


def symmetric_basis(d: int) -> Array:
    """Return an orthonormal basis, as columns, of the vectors ``(vec D, δ)`` with symmetric D."""
    units = np.eye(d * d).reshape(-1, d, d)[np.tri(d, dtype=bool).ravel()]
    matrices = (units + units.transpose(0, 2, 1)).reshape(-1, d * d)
    matrices /= np.linalg.norm(matrices, axis=1, keepdims=True)
    return np.asarray(block_diag(matrices.T, 1.0))


@proposition(
    "Theorem 2, N < d", "The same; the proof assumes Σₓ ≻ 0.",
    "It holds for singular Σₓ too, as long as LΣₓ ≠ 0.",
    with_gamma(SINGULAR, 1.3, 3.0), (1e-5, _POLE), dimensions=(3, 6), key="theorem-2-few-samples",
)  # fmt: skip
@proposition(
    "Theorem 2",
    "g(γ, L) is jointly convex; its Hessian is the printed one, which is positive definite.",
    "Both hold for symmetric changes of L, if η > 0 and L ≠ 0; at L = 0 it is semidefinite.",
    _AT_GAMMA, (1e-5, _POLE),
)  # fmt: skip
def theorem_2(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the printed Hessian with differences of g along a random symmetric matrix.

    On symmetric matrices, and scaled to a unit diagonal, its eigenvalues must be positive.
    """
    gamma, basis = drawn["gamma"], symmetric_basis(drawn.d)
    hessian = basis.T @ printed_hessian(drawn, gamma) @ basis
    raw = rng.standard_normal(basis.shape[1])
    direction = np.asarray(raw * (drawn.top / np.linalg.norm(raw)))
    full = basis @ direction
    matrix = full[:-1].reshape(drawn.d, drawn.d)

    def along(step: float) -> float:
        return printed_objective(drawn, gamma + step * full[-1], drawn.laplacian + step * matrix)

    scale = 1 / np.sqrt(np.diag(hessian))
    least = float(np.linalg.eigvalsh(scale[:, None] * hessian * scale)[0])
    curvature = float(direction @ hessian @ direction)
    deviates = deviation(bend(along, 3e-3), curvature)
    return Attempt(deviates if least > _DEFINITE else np.inf, drawn.data | {"direction": full})


def printed_slope(drawn: Drawn, gamma: float) -> tuple[float, float]:
    """Return both lines of equation 30, the derivative of g in γ."""
    theta, inverse = drawn.theta, drawn.resolvent(gamma)
    first = drawn.radius**2 - np.trace(theta) + 2 * gamma * np.trace(inverse @ theta)
    first -= gamma**2 * np.trace(inverse @ theta @ inverse)
    rest = np.eye(drawn.d) - gamma * inverse
    return float(first), float(drawn.radius**2 - np.trace(rest @ rest @ theta))


@proposition(
    "Equation 30", "The derivative of g in γ, in both printed forms.", "Both are right.",
    _AT_GAMMA, (1e-6, _POLE),
)  # fmt: skip
def gradient_gamma(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare both formulas with differences of g."""
    gamma = drawn["gamma"]

    def along(step: float) -> float:
        return printed_objective(drawn, gamma + step, drawn.laplacian)

    found = slope(along, 1e-3 * drawn.top)
    # The derivative may vanish; its two parts do not.
    size = drawn.radius**2 + float(np.trace(drawn.theta))
    worst = max(abs(found - form) for form in printed_slope(drawn, gamma)) / size
    return Attempt(worst, drawn.data)


def penalised_objective(drawn: Drawn, gamma: float, weights: Array) -> float:
    """Return ``g(γ, L) + β(Tr L - d)²``, which is ``r(v)`` of equation 34 and a constant."""
    laplacian = laplacian_from_weights(weights)
    excess = float(np.trace(laplacian)) - drawn.d
    return printed_objective(drawn, gamma, laplacian) + BETA * excess**2


@proposition(
    "Equation 35", "∇r has γ²𝒯*((γI - 𝒯v)⁻²Σₓ).",
    "It has γ²𝒯*((γI - 𝒯v)⁻¹Σₓ(γI - 𝒯v)⁻¹). The printed product is right only if L commutes with "
    "PΣₓP, P = I - 11ᵀ/d.",
    _AT_GAMMA, (1e-6, _POLE), known=Ruling.CORRECTED, erratum="E3",
    dimensions=(3, 6),  # with one edge both formulas agree
)  # fmt: skip
def gradient_r(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the gradients of the printed Algorithm 2 with differences of r."""
    gamma, weights = drawn["gamma"], weights_from_laplacian(drawn.laplacian)
    truth = numerical_gradient(lambda v: penalised_objective(drawn, gamma, v), weights)
    problem = drawn.problem(GaussianBall, BETA)
    printed, corrected = (
        deviation(gaussian_objective(problem, gamma, as_printed)(weights)[1](), truth)
        for as_printed in (True, False)
    )
    return Attempt(printed, drawn.data, corrected)


def fixed_gamma_optimum(drawn: Drawn, gamma: float) -> float:
    """Return the minimum of :func:`penalised_objective` over ``γI ≻ L`` by CVXPY."""
    d = drawn.d
    laplacian = cp.Variable((d, d), symmetric=True)
    constraints = [cp.sum(laplacian, axis=1) == 0, laplacian[~np.eye(d, dtype=bool)] <= 0]
    fraction = cp.matrix_frac(gamma * drawn.nominal.factor.T, gamma * np.eye(d) - laplacian)
    penalty = BETA * cp.square(cp.trace(laplacian) - d)
    objective = fraction + drawn.eta * cp.sum_squares(laplacian) + penalty
    objective += gamma * (drawn.radius**2 - np.trace(drawn.theta))
    return conic_optimum(cp.Problem(cp.Minimize(objective), constraints))


def beyond_the_pole(drawn: Drawn, gamma: float, distance: float) -> float:
    """Return the objective at the multiple of L with λmax = γ(1 + distance), which v ≥ 0 allows."""
    scale = gamma * (1 + distance) / drawn.top
    return penalised_objective(drawn, gamma, scale * weights_from_laplacian(drawn.laplacian))


@proposition(
    "Equations 33, 34", "For fixed γ, L is found by minimising over all Laplacians (v ≥ 0).",
    "They drop γI ≻ L of equation 24. If Σ_x ≻ 0, the objective tends to −∞ as an eigenvalue of L "
    "falls to γ; in equation 33, where none exceeds d, for γ below d (d ≥ 3). With the constraint "
    "there is a minimum, in equation 33 for γ > d/(d - 1).",
    with_gamma(REGULAR, 1.2, 2.0), (1e-6, "Clarabel's relative gap"),
    known=Ruling.CORRECTED, refuted=10.0, erratum="E12",
)  # fmt: skip
def dropped_domain(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Measure how far the printed objective falls below the constrained optimum by CVXPY.

    Printed: just beyond the pole. Corrected: at points of the domain.
    """
    gamma = drawn["gamma"]
    optimum = fixed_gamma_optimum(drawn, gamma)
    outside = beyond_the_pole(drawn, gamma, 1e-9)
    inside = min(beyond_the_pole(drawn, gamma, -share) for share in np.linspace(0.02, 0.98, 25))
    below = [max(optimum - value, 0.0) / optimum for value in (outside, inside)]
    return Attempt(below[0], drawn.data, below[1])


@proposition(
    "Figure 2, Remark 1", "g(γ) is convex, explodes at λmax and is asymptotically linear.",
    "It is, if the data have mass on the top eigenvector.", REGULAR,
    (1e-4, "g differs from the line by Tr(L²Θ)/γ, relative to γε²; the pole is 1e6 away"),
)  # fmt: skip
def gamma_curve(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare g with its pole, at λmax(1 + 1e-6), and with its asymptote, at 1e6·λmax.

    The asymptote is γε² + ⟨Θ, L⟩ + η‖L‖². Second differences on a grid must not be negative.
    """
    top, theta = drawn.top, drawn.theta

    def g(gamma: float) -> float:
        return printed_objective(drawn, gamma, drawn.laplacian)

    values, vectors = np.linalg.eigh(drawn.laplacian)
    mass = float(vectors[:, -1] @ theta @ vectors[:, -1])
    close, far = 1e-6 * top, 1e6 * top
    pole = float(mass * values[-1] ** 2 / close)
    line = far * drawn.radius**2 + np.vdot(theta, drawn.laplacian)
    line += drawn.eta * np.sum(drawn.laplacian**2)
    curve = np.array([g(gamma) for gamma in top * np.linspace(1.05, 5.0, 60)])
    dent = max(-float(np.diff(curve, 2).min()), 0.0) / float(np.abs(curve).max())
    # The rest of g near the pole is small against it, and bounded by its value a little further.
    rest = abs(g(1.5 * top)) / pole
    near = deviation(g(top + close), pole) - 10 * rest
    return Attempt(max(near, deviation(g(far), float(line)), dent), drawn.data)
