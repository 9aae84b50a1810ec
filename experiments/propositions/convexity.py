"""The claims about g(γ, L): its convexity, its gradients, its shape in γ."""

from __future__ import annotations

import numpy as np

from experiments.propositions.claims import Trial, Verdict, claim, deviation
from experiments.propositions.draw import (
    REGULAR,
    SINGULAR,
    Drawn,
    bend,
    draw_regular,
    draw_singular,
    numerical_gradient,
    slope,
)
from experiments.propositions.gaussian import printed_objective
from solvers.paper.block_descent import fixed_gamma
from wdro_cvx import GaussianBall
from wdro_cvx.graphs.laplacian import adjoint, laplacian_from_weights, weights_from_laplacian
from wdro_cvx.validation import Array

_DIFFERENCES = "fourth-order differences near the pole λmax"
#: The penalty of the paper's relaxation wherever one is needed.
BETA = 2.0


def kronecker_form(a: Array, b: Array, c: Array) -> float:
    """Return ``vec(C)ᵀ(B ⊗ Aᵀ)vec(C)``."""
    vector = c.ravel(order="F")
    return float(vector @ np.kron(b, a.T) @ vector)


@claim(
    "Lemma 2",
    "Tr(ACBC) = vec(C)ᵀ(B ⊗ Aᵀ)vec(C) for symmetric C.",
    "It does.",
    "both sides in NumPy",
    "normal entries",
    1e-12,
    "rounding",
)
def lemma_2(rng: np.random.Generator, d: int) -> Trial:
    """Compute both sides."""
    a, b, c = rng.standard_normal((3, d, d))
    c = c + c.T
    right = kronecker_form(a, b, c)
    size = np.linalg.norm(a) * np.linalg.norm(b) * np.linalg.norm(c) ** 2
    return Trial(float(abs(np.trace(a @ c @ b @ c) - right) / size), {"A": a, "B": b, "C": c})


def kronecker_deviation(a: Array, b: Array) -> float:
    """Return how far ``(A ⊗ B)⁻¹`` is from ``A⁻¹ ⊗ B⁻¹``; NaN where there is no inverse."""
    if min(np.linalg.matrix_rank(a), np.linalg.matrix_rank(b)) < a.shape[0]:
        return float("nan")
    return deviation(np.kron(np.linalg.inv(a), np.linalg.inv(b)), np.linalg.inv(np.kron(a, b)))


@claim(
    "Lemma 3",
    "(A ⊗ B)⁻¹ = A⁻¹ ⊗ B⁻¹ for A, B in S₊.",
    "For A, B in S₊₊; in S₊ there may be no inverse.",
    "both sides in NumPy, for positive semidefinite matrices of any rank and of full rank",
    "rank 1–d",
    1e-8,
    "rounding times the condition number",
    Verdict.CORRECTED,
    dimensions=(2, 5),
    erratum="E8",
)
def lemma_3(rng: np.random.Generator, d: int) -> Trial:
    """Compute both sides for matrices of any rank, and for definite ones."""
    factors = [rng.standard_normal((d, int(rng.integers(1, d + 1)))) for _ in range(2)]
    a, b = (factor @ factor.T for factor in factors)
    definite = kronecker_deviation(a + np.eye(d), b + np.eye(d))
    return Trial(kronecker_deviation(a, b), {"A": a, "B": b}, definite)


def printed_hessian(drawn: Drawn, gamma: float) -> Array:
    """Return equation 28 at ``(γ, L)``, a matrix of size d² + 1."""
    d, theta = drawn.d, drawn.nominal.second_moment
    inverse = np.linalg.inv(gamma * np.eye(d) - drawn.laplacian)
    rest = np.eye(d) - gamma * inverse
    upper = 2 * gamma**2 * np.kron(inverse @ theta @ inverse, inverse)
    upper += 2 * drawn.eta * np.eye(d * d)
    side = 2 * gamma * (inverse @ rest @ theta @ inverse).ravel(order="F")
    corner = 2 * np.trace(theta @ rest @ rest @ inverse)
    return np.block([[upper, side[:, None]], [side[None, :], np.array([[corner]])]])


def symmetric_basis(d: int) -> Array:
    """Return an orthonormal basis, as columns, of the vectors ``(vec D, δ)`` with symmetric D."""
    columns = []
    for i in range(d):
        for j in range(i + 1):
            matrix = np.zeros((d, d))
            matrix[i, j] = matrix[j, i] = 1.0
            columns.append(np.append(matrix.ravel() / np.linalg.norm(matrix), 0.0))
    return np.column_stack([*columns, np.append(np.zeros(d * d), 1.0)])


@claim(
    "Theorem 2",
    "g(γ, L) is jointly convex; its Hessian is the printed one, which is positive definite.",
    "Both, along symmetric matrices.",
    "the printed Hessian along random symmetric directions against differences of g; its smallest "
    "eigenvalue on symmetric matrices",
    REGULAR + ", γ 1.3–3 λmax",
    1e-5,
    _DIFFERENCES,
)
def theorem_2(rng: np.random.Generator, d: int) -> Trial:
    """Compare the printed Hessian with differences, and look at its eigenvalues."""
    return hessian_trial(rng, draw_regular(rng, d))


@claim(
    "Theorem 2, N < d",
    "The same; the proof supposes Σₓ ≻ 0.",
    "It holds for singular Σₓ too.",
    "as for Theorem 2",
    SINGULAR + ", γ 1.3–3 λmax",
    1e-5,
    _DIFFERENCES,
    dimensions=(3, 6),
)
def theorem_2_few_samples(rng: np.random.Generator, d: int) -> Trial:
    """Compare the printed Hessian with differences where the second moment is singular."""
    return hessian_trial(rng, draw_singular(rng, d))


def hessian_trial(rng: np.random.Generator, drawn: Drawn) -> Trial:
    """Compare the printed Hessian with differences of g, and look at its eigenvalues."""
    gamma = drawn.top * float(rng.uniform(1.3, 3.0))
    basis = symmetric_basis(drawn.d)
    hessian = basis.T @ printed_hessian(drawn, gamma) @ basis
    raw = rng.standard_normal(basis.shape[1])
    direction = np.asarray(raw * (drawn.top / np.linalg.norm(raw)))
    full = basis @ direction
    matrix = full[:-1].reshape(drawn.d, drawn.d)

    def along(step: float) -> float:
        return printed_objective(drawn, gamma + step * full[-1], drawn.laplacian + step * matrix)

    values = np.linalg.eigvalsh((hessian + hessian.T) / 2)
    curvature = float(direction @ hessian @ direction)
    indefinite = max(-float(values[0]), 0.0) / float(values[-1])
    worst = max(deviation(bend(along, 3e-3), curvature), indefinite)
    return Trial(worst, drawn.data(gamma=gamma, direction=full))


def printed_slope(drawn: Drawn, gamma: float) -> tuple[float, float]:
    """Return both lines of equation 30, the derivative of g in γ."""
    theta, eye = drawn.nominal.second_moment, np.eye(drawn.d)
    inverse = np.linalg.inv(gamma * eye - drawn.laplacian)
    first = drawn.radius**2 - np.trace(theta) + 2 * gamma * np.trace(inverse @ theta)
    first -= gamma**2 * np.trace(inverse @ theta @ inverse)
    rest = eye - gamma * inverse
    return float(first), float(drawn.radius**2 - np.trace(rest @ rest @ theta))


@claim(
    "Equation 30",
    "The derivative of g in γ, in both printed forms.",
    "Both are right.",
    "both formulas against differences of g",
    REGULAR + ", γ 1.3–3 λmax",
    1e-6,
    _DIFFERENCES,
)
def gradient_gamma(rng: np.random.Generator, d: int) -> Trial:
    """Compare both printed derivatives with differences."""
    drawn = draw_regular(rng, d)
    gamma = drawn.top * rng.uniform(1.3, 3.0)

    def along(step: float) -> float:
        return printed_objective(drawn, gamma + step, drawn.laplacian)

    found = slope(along, 1e-3 * drawn.top)
    # The derivative may vanish; its two parts do not.
    size = drawn.radius**2 + float(np.trace(drawn.nominal.second_moment))
    worst = max(abs(found - form) for form in printed_slope(drawn, gamma)) / size
    return Trial(worst, drawn.data(gamma=gamma))


def fixed_gamma_objective(drawn: Drawn, gamma: float, weights: Array) -> float:
    """Return ``r(v)`` of equation 34: fixed γ, penalised trace."""
    laplacian = laplacian_from_weights(weights)
    theta = drawn.nominal.second_moment
    inverse = np.linalg.inv(gamma * np.eye(drawn.d) - laplacian)
    penalty = BETA * (np.trace(laplacian) - drawn.d) ** 2
    smooth = gamma**2 * np.trace(inverse @ theta) + drawn.eta * np.sum(laplacian**2)
    return float(smooth + penalty)


def printed_gradient_r(drawn: Drawn, gamma: float, weights: Array) -> Array:
    """Return equation 35: the two inverses side by side."""
    laplacian = laplacian_from_weights(weights)
    inverse = np.linalg.inv(gamma * np.eye(drawn.d) - laplacian)
    moment = gamma**2 * inverse @ inverse @ drawn.nominal.second_moment
    return adjoint(moment + _rest_of_gradient(drawn, laplacian))


def corrected_gradient_r(drawn: Drawn, gamma: float, weights: Array) -> Array:
    """Return the gradient with one inverse on each side of Σₓ."""
    laplacian = laplacian_from_weights(weights)
    problem = drawn.problem(GaussianBall(drawn.radius))
    _, moment = fixed_gamma(problem, laplacian, gamma)
    return adjoint(moment + _rest_of_gradient(drawn, laplacian))


def _rest_of_gradient(drawn: Drawn, laplacian: Array) -> Array:
    slack = np.trace(laplacian) - drawn.d
    return 2 * drawn.eta * laplacian + 2 * BETA * slack * np.eye(drawn.d)


@claim(
    "Equation 35",
    "∇r has γ²𝒯*((γI - 𝒯v)⁻²Σₓ).",
    "γ²𝒯*((γI - 𝒯v)⁻¹Σₓ(γI - 𝒯v)⁻¹); the printed product only where L and Σₓ commute.",
    "both gradients against differences of r",
    REGULAR + ", γ 1.3–3 λmax",
    1e-6,
    _DIFFERENCES,
    Verdict.CORRECTED,
    dimensions=(3, 6),  # with one edge the two matrices always have the same diagonal form
    erratum="E3",
)
def gradient_r(rng: np.random.Generator, d: int) -> Trial:
    """Compare both gradients with differences."""
    drawn, gamma, weights, found = _gradient_case(rng, d)
    printed = deviation(printed_gradient_r(drawn, gamma, weights), found)
    corrected = deviation(corrected_gradient_r(drawn, gamma, weights), found)
    return Trial(printed, drawn.data(gamma=gamma), corrected)


def _gradient_case(rng: np.random.Generator, d: int) -> tuple[Drawn, float, Array, Array]:
    drawn = draw_regular(rng, d)
    gamma = drawn.top * rng.uniform(1.3, 3.0)
    weights = weights_from_laplacian(drawn.laplacian)

    def objective(point: Array) -> float:
        return fixed_gamma_objective(drawn, gamma, point)

    return drawn, gamma, weights, numerical_gradient(objective, weights)


@claim(
    "Figure 2, Remark 1",
    "g(γ) is convex, explodes at λmax and is asymptotically linear.",
    "It is, where the data have mass on the top eigenvector.",
    "g at λmax(1 + 1e-6) and 1e6·λmax against its pole and the line γε² + ⟨Θ, L⟩ + η‖L‖²; second "
    "differences on a grid",
    REGULAR,
    1e-4,
    "g differs from the line by Tr(L²Θ)/γ, relative to γε²; the pole is 1e6 away",
)
def gamma_curve(rng: np.random.Generator, d: int) -> Trial:
    """Compare the curve with its pole and its asymptote."""
    drawn = draw_regular(rng, d)
    top, theta = drawn.top, drawn.nominal.second_moment
    values, vectors = np.linalg.eigh(drawn.laplacian)
    mass = float(vectors[:, -1] @ theta @ vectors[:, -1])
    close, far = 1e-6 * top, 1e6 * top
    pole = float(mass * values[-1] ** 2 / close)
    near = printed_objective(drawn, top + close, drawn.laplacian)
    line = far * drawn.radius**2 + np.vdot(theta, drawn.laplacian)
    line += drawn.eta * np.sum(drawn.laplacian**2)
    beyond = printed_objective(drawn, far, drawn.laplacian)
    grid = top * np.linspace(1.05, 5.0, 60)
    curve = np.array([printed_objective(drawn, gamma, drawn.laplacian) for gamma in grid])
    dent = max(-float(np.diff(curve, 2).min()), 0.0) / float(np.abs(curve).max())
    # The rest of g near the pole is small against it, and bounded by its value a little further.
    rest = abs(printed_objective(drawn, 1.5 * top, drawn.laplacian)) / pole
    worst = max(deviation(near, pole) - 10 * rest, deviation(beyond, float(line)), dent)
    return Trial(worst, drawn.data())
