"""Statements outside lemmas and algorithms: misprints, metrics, a proof, other solvers."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from experiments.propositions.drawn import (
    ANY,
    REGULAR,
    SINGULAR_COVARIANCE,
    Drawn,
    signals,
    sized,
    with_choice,
    with_gamma,
)
from experiments.propositions.proposition import Attempt, Ruling, proposition
from experiments.propositions.routes import ROUNDING, certified, conic_optimum, deviation
from formulations import Formulation, GaussianSDP, RobustPremium
from solvers import solve
from wdro_cvx import GaussianBall, GraphProblem, MomentBall, Nominal, Singleton, judge
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.graphs.laplacian import adjoint
from wdro_cvx.metrics import edge_correlation, reliability
from wdro_cvx.moments.nominal import symmetric_root
from wdro_cvx.validation import Array

_TESTS = 4000


def printed_score(learned: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Return equation 51, with the factors (TN + TP)(TN + TN)."""
    tp, tn = np.sum(learned & truth), np.sum(~learned & ~truth)
    fp, fn = np.sum(learned & ~truth), np.sum(~learned & truth)
    below = float((tp + fp) * (tp + fn) * (tn + tp) * (tn + tn))
    return (float(tp) * float(tn) - float(fp) * float(fn)) / float(np.sqrt(below))


@proposition(
    "Equation 51",
    "MCC has (TN + TP)(TN + TN) in its denominator, and lies in [-1, 1], 1 for a perfect graph.",
    "It has (TN + FP)(TN + FN); with the printed factors a perfect graph scores below 0.71.",
    sized("density 0.2–0.8"), ROUNDING,
    known=Ruling.CORRECTED, dimensions=(5, 10), erratum="E5",
)  # fmt: skip
def misprinted_score(d: int, rng: np.random.Generator) -> Attempt:
    """Compare both scores of a random graph against itself with 1."""
    edges = rng.random(d * (d - 1) // 2) < rng.uniform(0.2, 0.8)
    edges[:2] = [True, False]
    printed = deviation(printed_score(edges, edges), 1.0)
    return Attempt(printed, {"edges": edges}, deviation(edge_correlation(edges, edges), 1.0))


@proposition(
    "Equation 60", "The supremum over the mean is -γμᵀμ + γ²(γI - L)⁻¹μᵀμ.",
    "The last product is a matrix. It should be the number γ²μᵀ(γI - L)⁻¹μ, as in the next line.",
    with_gamma(REGULAR, 1.2, 2.0), (1e-6, "rounding"), known=Ruling.CORRECTED, erratum="E8",
)  # fmt: skip
def mean_term(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the printed term, read as its trace, and ours with the supremum, a linear system."""
    gamma, mean = drawn["gamma"], drawn.nominal.mean
    best = np.linalg.solve(gamma * np.eye(drawn.d) - drawn.laplacian, gamma * mean)
    supremum = float(best @ drawn.laplacian @ best - gamma * np.sum((best - mean) ** 2))
    inverse, square = drawn.resolvent(gamma), mean @ mean
    printed = float(gamma**2 * np.trace(inverse * square) - gamma * square)
    corrected = float(gamma**2 * mean @ inverse @ mean - gamma * square)
    return Attempt(deviation(printed, supremum), drawn.data, deviation(corrected, supremum))


@proposition(
    "Equation 72", "𝒯*V has V_ii - V_ij - V_ji + V_jj at k = i - j + (j - 1)(2p - j)/2.",
    "At k = i - j + (j - 1)(2d - j)/2: p is a norm's exponent. 2d gives the numbering of 𝒯.",
    sized("normal entries"), ROUNDING,
    known=Ruling.CORRECTED, dimensions=(4, 8), erratum="E8",
)  # fmt: skip
def index_of_adjoint(d: int, rng: np.random.Generator) -> Attempt:
    """Compare both numberings (p = 2) with our adjoint of a random matrix."""
    matrix = rng.standard_normal((d, d))
    expected = adjoint(matrix)
    a, b = np.tril_indices(d, -1)
    entries = matrix[a, a] - matrix[a, b] - matrix[b, a] + matrix[b, b]
    found = []
    for size in (2, d):
        i, j = a + 1, b + 1
        filled = np.zeros(expected.size)
        filled[(i - j + (j - 1) * (2 * size - j) // 2 - 1) % expected.size] = entries
        found.append(deviation(filled, expected))
    return Attempt(found[0], {"matrix": matrix}, found[1])


@proposition(
    "Section III-C", "The common method to calculate eigenvalues is Cholesky decomposition.",
    "A Cholesky factor tells whether γ exceeds λmax, but not what λmax is. Lanczos' method finds "
    "λmax, as the paper says.",
    REGULAR, (1e-3, "a pivot may be close to λmax by chance"),
    known=Ruling.CORRECTED, refuted=0.01, dimensions=(3, 6), erratum="E8",
)  # fmt: skip
def cholesky_eigenvalues(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Look for λmax among the squared pivots of L + I, less one.

    Corrected: whether γI - L is definite, for γ on both sides of λmax.
    """
    eye = np.eye(drawn.d)
    pivots = np.diag(np.linalg.cholesky(drawn.laplacian + eye)) ** 2 - 1
    nearest = float(np.abs(pivots / drawn.top - 1.0).min())
    wrong = sum(
        is_definite(drawn.top * (1 + shift) * eye - drawn.laplacian) != (shift > 0)
        for shift in (-1e-6, 1e-6)
    )
    return Attempt(nearest, drawn.data, float(wrong))


def is_definite(matrix: Array) -> bool:
    """Return whether a Cholesky factor exists."""
    return bool(lapack.dpotrf(matrix)[1] == 0)


def covariance_gain(drawn: Drawn, gamma: float, covariance: Array) -> float:
    """Return the terms of h(γ, L) of Lemma 1 that depend on the covariance."""
    root = symmetric_root(drawn.nominal.covariance)
    overlap = symmetric_root(root @ covariance @ root)
    shifted = drawn.laplacian - gamma * np.eye(drawn.d)
    return float(np.vdot(shifted, covariance) + 2 * gamma * np.trace(overlap))


def printed_maximiser(drawn: Drawn, gamma: float) -> Array:
    """Return the covariance of the proof of Theorem 1; NaN if Σₙ^½ has no inverse."""
    root = symmetric_root(drawn.nominal.covariance)
    if np.linalg.matrix_rank(root, tol=1e-8) < drawn.d:
        return np.full((drawn.d, drawn.d), np.nan)
    undone = np.linalg.solve(root, gamma * root @ drawn.resolvent(gamma) @ root)
    return undone @ undone.T


def own_maximiser(drawn: Drawn, gamma: float) -> Array:
    """Return ``γ²(γI - L)⁻¹Σₙ(γI - L)⁻¹``, the limit of the proof's covariances from full rank."""
    inverse = drawn.resolvent(gamma)
    return gamma**2 * inverse @ drawn.nominal.covariance @ inverse


@proposition(
    "Theorem 1, its proof", "The substitution with Σₙ^-½ finds the supremum over Σ.",
    "For N ≤ d there is no Σₙ^-½. The limit of the proof's covariances from full rank attains the "
    "supremum, and the theorem holds.",
    with_gamma(SINGULAR_COVARIANCE, 1.2, 2.0), (1e-6, "roots of singular matrices"),
    known=Ruling.CORRECTED, dimensions=(3, 6), erratum="E9",
)  # fmt: skip
def proof_of_theorem_1(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare what the proof's covariance and ours attain with γ²Tr((γI - L)⁻¹Σₙ)."""
    gamma = drawn["gamma"]
    supremum = gamma**2 * float(np.vdot(drawn.resolvent(gamma), drawn.nominal.covariance))
    maximiser = printed_maximiser(drawn, gamma)
    undefined = bool(np.isnan(maximiser).any())
    printed = np.nan if undefined else deviation(covariance_gain(drawn, gamma, maximiser), supremum)
    own = deviation(covariance_gain(drawn, gamma, own_maximiser(drawn, gamma)), supremum)
    return Attempt(float(printed), drawn.data, own)


@proposition(
    "Reliability",
    "Reliability is the probability that the uncertainty set contains the true distribution.",
    "It is the share of single signals with a risk below the worst case, and these risks scatter. "
    "A ball of radius 0 around the true distribution contains it, but its reliability is 0.5–0.7.",
    sized("true moments, η 0.3, 4000 test signals"), (0.05, "4000 test signals"),
    known=Ruling.FAILS, refuted=0.2, dimensions=(10, 20), erratum="E13",
)  # fmt: skip
def reliability_of_the_truth(d: int, rng: np.random.Generator) -> Attempt:
    """Compare the reliability of that ball on fresh signals with 1."""
    graph = rbf_graph(d, rng)
    nominal = Nominal.from_moments(np.zeros(d), np.linalg.pinv(graph, hermitian=True))
    problem = GraphProblem(nominal, Singleton(), eta=0.3)
    answer = solve(problem)
    tests = smooth_signals(graph, _TESTS, rng)
    found = reliability(answer.laplacian, answer.value, 0.3, tests)
    return Attempt(abs(1.0 - found), {"graph": graph, "reliability": found})


def optimum_over(drawn: Drawn, trace: float | None, norm: bool) -> float:
    """Return the optimum over Laplacians of a given trace, or of any trace.

    With ``norm`` the problem is Theorem 3's (p = 2), otherwise equation 24's.
    """
    d, theta = drawn.d, drawn.theta
    laplacian, gamma = cp.Variable((d, d), symmetric=True), cp.Variable(nonneg=True)
    constraints = [cp.sum(laplacian, axis=1) == 0, laplacian[~np.eye(d, dtype=bool)] <= 0]
    if trace is not None:
        constraints.append(cp.trace(laplacian) == trace)
    objective = cp.trace(theta @ laplacian) + drawn.eta * cp.sum_squares(laplacian)
    if norm:
        objective += drawn.radius * cp.norm(laplacian, "fro")
    else:  # γ²(γI - L)⁻¹ = γI + L + L(γI - L)⁻¹L, whose last term is a matrix fraction
        root, fraction = symmetric_root(theta), cp.Variable((d, d), symmetric=True)
        upper = gamma * np.eye(d) - laplacian
        constraints.append(cp.bmat([[upper, laplacian @ root], [root @ laplacian, fraction]]) >> 0)
        objective += gamma * drawn.radius**2 + cp.trace(fraction)
    return conic_optimum(cp.Problem(cp.Minimize(objective), constraints))


@proposition(
    "The set 𝓛",
    "The optima of equations 5 to 9, 12, 16, 24, 38, 42, 47 and 49 are over all Laplacians, 𝓛.",
    "Over 𝓛 the empty graph is optimal with value 0, for every problem, and equations 24, 47 and "
    "49 have no minimiser for ε > 0 because γ tends to 0. The statements are meaningful over 𝓛_c, "
    "of trace d.",
    ANY, (1e-4, "Clarabel's accuracy at the optimum 0, where its LMI is singular"),
    known=Ruling.CORRECTED, erratum="E17",
)  # fmt: skip
def laplacians_of_any_trace(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the optima over 𝓛, which ought to be those of a graph, with the optima over 𝓛_c.

    Corrected: the optima over 𝓛_c with the certified solver.
    """
    printed, corrected = [], []
    for norm, ball in ((True, MomentBall), (False, GaussianBall)):
        graph = certified(drawn.problem(ball))
        printed.append(deviation(optimum_over(drawn, None, norm), graph))
        corrected.append(deviation(optimum_over(drawn, drawn.d, norm), graph))
    return Attempt(max(printed), drawn.data, max(corrected))


def aligned(laplacian: Array, power: float) -> Array:
    """Return Δ with the signs of L and a power of its entries."""
    return np.asarray(np.sign(laplacian) * np.abs(laplacian) ** power)


@proposition(
    "Appendix B",
    "Hölder's inequality is an equality for Tr(LΔ) > 0 and |Δ_ij|^p = λ|L_ij|^q (the set 𝒮).",
    "𝒮 lacks sign(Δ) = sign(L). With it the equality holds for 1 < p < ∞; for p = 1 and p = ∞ the "
    "condition has no meaning. The supremum is the same, so Theorem 3's dual is not affected.",
    with_choice(ANY, "p", "p", (4 / 3, 1.5, 2.0, 3.0, 4.0)), (1e-10, "rounding of powers"),
    known=Ruling.CORRECTED, dimensions=(3, 6), erratum="E18",
)  # fmt: skip
def equality_in_hoelder(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare ⟨L, Δ⟩ with ‖L‖_q‖Δ‖_p; printed: one off-diagonal pair of Δ has the other sign."""
    p, laplacian = drawn["p"], drawn.laplacian
    q = p / (p - 1)
    signed = aligned(laplacian, q / p)
    flipped = signed.copy()
    i, j = np.unravel_index(np.argmin(laplacian), laplacian.shape)
    flipped[[i, j], [j, i]] *= -1.0  # the diagonal keeps the product positive
    largest = float(np.linalg.norm(laplacian.ravel(), q) * np.linalg.norm(signed.ravel(), p))
    found = [float(np.vdot(laplacian, delta)) for delta in (flipped, signed)]
    assert found[0] > 0.0
    return Attempt(deviation(found[0], largest), drawn.data, deviation(found[1], largest))


def judged_seconds(
    form: type[Formulation], problem: GraphProblem, backend: str, tol: float
) -> float:
    """Return the time of a backend on a formulation, infinite if its answer does not pass."""
    solution = form(problem).solve(backend, tol=tol)
    verdict = judge(problem, solution.laplacian, solution.certificate)
    return solution.total_s if verdict.solved(1e-5) else float("inf")


@proposition(
    "First-order conic solvers",
    "(semidefinite forms are impractical: interior-point methods, the most common, run out of "
    "memory beyond 150 vertices)",
    "SCS on our premium form takes a fraction of Clarabel's time on the form of Proposition 2.",
    signals("100", lambda rng, d: 100), (0.5, "timings on a shared machine"),
    refuted=1.0, dimensions=(18, 22), most=10, erratum="E10", ours=True,
)  # fmt: skip
def first_order_solvers(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Divide the time of SCS by that of Clarabel, both answers judged; at most one half holds."""
    problem = drawn.problem(GaussianBall)
    first_order = judged_seconds(RobustPremium, problem, "SCS", 1e-7)
    return Attempt(first_order / judged_seconds(GaussianSDP, problem, "CLARABEL", 1e-6), drawn.data)
