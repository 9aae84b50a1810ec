"""Sections IV and V: distributions of any kind, moved as signals or as matrices, and the q-norm."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from experiments.propositions.drawn import ANY, Drawn, signals, with_choice, with_radius
from experiments.propositions.proposition import Attempt, Ruling, proposition
from experiments.propositions.routes import (
    BETA,
    CONIC,
    by_cvxpy,
    certified,
    conic_optimum,
    deviation,
    numerical_gradient,
    transport_distance,
)
from formulations import GaussianClosedForm, GaussianSDP, GeneralRegularized, GeneralSDP
from solvers import solve
from solvers.paper.printed_objectives import general_objective
from wdro_cvx import (
    Discrete,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Singleton,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.laplacian import laplacian_from_weights, weights_from_laplacian
from wdro_cvx.moments.distribution import uniform

_EXPONENTS = with_choice(ANY, "p", "p", (1.0, 4 / 3, 1.5, 2.0, 3.0, 4.0, np.inf))


def signal_dual(drawn: Drawn) -> float:
    """Return the right side of Lemma 4 for α = p = 2, its inner suprema as LMIs."""
    gamma, bounds = cp.Variable(), cp.Variable(len(drawn.samples))
    upper = gamma * np.eye(drawn.d) - drawn.laplacian
    constraints = []
    for index, sample in enumerate(drawn.samples):
        side = gamma * sample[:, None]
        corner = cp.reshape(bounds[index] + gamma * float(sample @ sample), (1, 1), order="C")
        constraints.append(cp.bmat([[upper, side], [side.T, corner]]) >> 0)
    objective = gamma * drawn.radius**2 + cp.sum(bounds) / len(drawn.samples)
    return conic_optimum(cp.Problem(cp.Minimize(objective), constraints))


@proposition(
    "Lemma 4", "Strong duality in signal space: the worst-case risk is the infimum over γ.",
    "It is, for α = p = 2.", ANY, CONIC,
)  # fmt: skip
def lemma_4(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the dual, an SDP at fixed L, with the risk of moved samples, within ε by POT."""
    moved = drawn.worst(WassersteinBall).distribution
    assert isinstance(moved, Discrete)
    distance = transport_distance(uniform(drawn.samples), moved)
    attained = float(np.vdot(moved.second_moment, drawn.laplacian))
    outside = max(distance / drawn.radius - 1.0, 0.0)
    return Attempt(max(deviation(attained, signal_dual(drawn)), outside), drawn.data)


def matrix_dual(drawn: Drawn, p: float) -> float:
    """Return the right side of Corollary 1 for α = 2, where the suprema over U are squares.

    ``sup_Δ ⟨L, Δ⟩ - γ‖vec Δ‖_p² = ‖vec L‖_q²/4γ``.
    """
    norm = float(np.linalg.norm(drawn.laplacian.ravel(), MomentBall(1.0, p=p).q))
    gamma = cp.Variable(nonneg=True)
    objective = gamma * drawn.radius**2 + cp.quad_over_lin(norm / 2, gamma)
    value = conic_optimum(cp.Problem(cp.Minimize(objective)))
    return value + float(np.vdot(drawn.theta, drawn.laplacian))


def matrix_primal(drawn: Drawn, p: float) -> float:
    """Return the supremum over distributions of matrices, each ``xᵢxᵢᵀ`` moved by its own Δᵢ."""
    n, d = drawn.samples.shape
    shifts = cp.Variable((n, d * d))
    lengths = cp.hstack([cp.pnorm(shifts[i], p) for i in range(n)])
    gain = cp.sum(shifts @ drawn.laplacian.ravel()) / n
    constraint = cp.norm2(lengths) <= drawn.radius * np.sqrt(n)
    value = conic_optimum(cp.Problem(cp.Maximize(gain), [constraint]))
    return value + float(np.vdot(drawn.theta, drawn.laplacian))


@proposition(
    "Corollary 1", "The risk is the infimum over γ with suprema over U in S^d.",
    "That is the risk over distributions of matrices, not of signals.",
    with_choice(ANY, "α = 2, p", "p", (4 / 3, 2.0, 4.0)), CONIC,
    known=Ruling.CORRECTED, erratum="E1",
)  # fmt: skip
def corollary_1(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the dual over matrices with two risks, all by CVXPY.

    Printed: the risk over signals, p = 2. Corrected: the risk over matrices.
    """
    printed = deviation(matrix_dual(drawn, 2.0), signal_dual(drawn))
    corrected = deviation(matrix_dual(drawn, drawn["p"]), matrix_primal(drawn, drawn["p"]))
    return Attempt(printed, drawn.data, corrected)


def order_dual(problem: GraphProblem) -> float:
    """Return the optimum of Theorem 3's dual for its order α, with a power cone.

    For α > 1 the supremum over Δ is ``(α-1)α^{-a} u^a γ^{1-a}`` with ``a = α/(α-1)`` and
    ``u = ‖vec L‖_q``; for α = 1 it is finite only for ``γ ≥ u``.
    """
    ball = problem.ambiguity
    assert isinstance(ball, MomentBall)
    d, alpha, theta = problem.d, ball.alpha, problem.nominal.second_moment
    laplacian = cp.Variable((d, d), symmetric=True)
    gamma, bound, norm = cp.Variable(nonneg=True), cp.Variable(nonneg=True), cp.Variable()
    constraints = [
        cp.sum(laplacian, axis=1) == 0,
        cp.trace(laplacian) == d,
        laplacian[~np.eye(d, dtype=bool)] <= 0,
        cp.pnorm(cp.vec(laplacian, order="C"), ball.q) <= norm,
    ]
    if alpha == 1.0:
        constraints += [norm <= gamma, bound == 0]
        factor = 0.0
    else:
        power = alpha / (alpha - 1)
        factor = (alpha - 1) * alpha ** (-power)
        constraints.append(cp.PowCone3D(bound, gamma, norm, 1 / power))
    objective = cp.trace(theta @ laplacian) + problem.eta * cp.sum_squares(laplacian)
    objective += gamma * ball.radius**alpha + factor * bound
    return conic_optimum(cp.Problem(cp.Minimize(objective), constraints))


@proposition(
    "Theorem 3", "The general scenario is SAA plus ε‖vec L‖_q.",
    "It is for a ball of matrices, for all p and α. For signals (Proposition 3) the value differs.",
    with_choice(_EXPONENTS, "α", "alpha", (1.0, 1.5, 2.0, 3.0)), (2e-6, CONIC[1]),
    known=Ruling.CORRECTED, erratum="E1",
)  # fmt: skip
def theorem_3(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare optima. Printed: Theorem 3 with Proposition 3, for α = p = 2, by CVXPY.

    Corrected: the theorem's dual with a power cone, by CVXPY, with the certified solver.
    """
    regularised = by_cvxpy(GeneralRegularized, drawn.problem(MomentBall, p=2.0, alpha=2.0))
    printed = deviation(regularised, by_cvxpy(GeneralSDP, drawn.problem(WassersteinBall)))
    problem = drawn.problem(MomentBall, p=drawn["p"], alpha=drawn["alpha"])
    return Attempt(printed, drawn.data, deviation(order_dual(problem), certified(problem)))


def distant_atom(drawn: Drawn, alpha: float, risk: float) -> Discrete:
    """Move a little mass along the top eigenvector, at cost εᵅ, until it adds 10 times ``risk``."""
    samples, radius = drawn.samples, drawn.radius
    enough = (10 * risk / (radius**alpha * drawn.top)) ** (1 / (2 - alpha))
    distance = max(enough, 2 * radius * len(samples) ** (1 / alpha))
    mass = (radius / distance) ** alpha
    _, vectors = np.linalg.eigh(drawn.laplacian)
    weights = np.full(len(samples) + 1, 1.0 / len(samples))
    weights[0] -= mass
    weights[-1] = mass
    return Discrete(np.vstack([samples, samples[0] + distance * vectors[:, -1]]), weights)


@proposition(
    "Theorem 3, α < 2", "Theorem 3 holds for any α ≥ 1.",
    "For signals in a ball of order α < 2 the worst-case risk is infinite.",
    with_choice(ANY, "p = 2, α", "alpha", (1.0, 1.5)), (1e-6, "rounding"),
    known=Ruling.FAILS, erratum="E11",
)  # fmt: skip
def theorem_3_low_order(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the printed risk with that of samples with one distant atom, within ε by POT."""
    alpha, printed = drawn["alpha"], drawn.worst(MomentBall).risk
    atom = distant_atom(drawn, alpha, printed)
    apart = transport_distance(uniform(drawn.samples), atom, alpha)
    risk = float(np.vdot(atom.second_moment, drawn.laplacian))
    inside = apart <= drawn.radius * (1 + 1e-9)
    excess = max(risk / printed - 1.0, 0.0) if inside else 0.0
    return Attempt(excess, drawn.data | {"atom": atom.points[-1], "mass": atom.weights[-1]})


_SDP = "The general scenario (α = p = 2) is an SDP with one LMI per sample."


@proposition("Proposition 3", _SDP, "It is.", ANY, CONIC)
def proposition_3(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare CVXPY on the printed SDP with the certified solver."""
    problem = drawn.problem(WassersteinBall)
    return Attempt(deviation(by_cvxpy(GeneralSDP, problem), certified(problem)), drawn.data)


@proposition(
    "Proposition 3, larger", _SDP,
    "It is, also at sizes for which interior-point methods take minutes.",
    # At smaller radii γ is so large that SCS takes minutes.
    with_radius(signals("2–6", lambda rng, d: int(rng.integers(2, 7))), 0.3, 2.0),
    (1e-3, "SCS stops at 1e-5 of its own residuals, and γ Tr Θ is many times the value"),
    refuted=0.05, dimensions=(10, 40), most=6,
)  # fmt: skip
def proposition_3_larger(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare SCS on the printed SDP with the certified solver."""
    problem = drawn.problem(WassersteinBall)
    found = by_cvxpy(GeneralSDP, problem, "SCS", tol=1e-5)
    return Attempt(deviation(found, certified(problem)), drawn.data)


@proposition(
    "Scenarios", "(two scenarios: Gaussian signals, and signals of any distribution)",
    "For α = p = 2 Theorem 1, Proposition 2 and Proposition 3 have the same value.", ANY, CONIC,
    erratum="E2", ours=True,
)  # fmt: skip
def one_value(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the optima of Theorem 1, Proposition 2 and Proposition 3, each by CVXPY."""
    gaussian = drawn.problem(GaussianBall)
    values = [by_cvxpy(form, gaussian) for form in (GaussianClosedForm, GaussianSDP)]
    values.append(by_cvxpy(GeneralSDP, drawn.problem(WassersteinBall)))
    return Attempt((max(values) - min(values)) / min(values), drawn.data)


@proposition(
    "p = ∞", "(Table 2: p = ∞ is an exception)",
    "The moment ball with p = ∞ is SAA plus the constant 2dε: the graph is SAA's.", ANY, CONIC,
    ours=True,
)  # fmt: skip
def infinite_exponent(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Judge SAA's graph in the problem with p = ∞, and compare the optima by CVXPY."""
    problem = drawn.problem(MomentBall, p=np.inf)
    nominal = solve(GraphProblem(drawn.nominal, Singleton(), drawn.eta), tol=1e-9)
    gap = judge(problem, nominal.laplacian).gap
    optimum = by_cvxpy(GeneralRegularized, problem)
    constant = 2 * drawn.d * drawn.radius
    return Attempt(max(gap, deviation(nominal.value + constant, optimum)), drawn.data)


@proposition(
    "p = 2", "(nothing)", "The moment ball with p = 2 has the graph of SAA with η' = η + ε/(2‖L‖).",
    ANY, CONIC, ours=True,
)  # fmt: skip
def on_the_sample_average_path(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Judge our solver's graph for p = 2 in the SAA problem with η'."""
    laplacian = solve(drawn.problem(MomentBall, p=2.0), tol=1e-10).laplacian
    eta = drawn.eta + drawn.radius / (2 * float(np.linalg.norm(laplacian)))
    average = GraphProblem(drawn.nominal, Singleton(), eta)
    return Attempt(max(judge(average, laplacian).gap, 0.0), drawn.data)


@proposition(
    "Equation 45", "∇m has (𝒯v)^{.(q-1)}.",
    "It has sign(𝒯v)|𝒯v|^{q-1}: fractional powers of negative weights are undefined, and even ones "
    "lose the sign.",
    with_choice(ANY, "q", "q", (4 / 3, 1.5, 2.5, 3.0, 5.0)),
    (1e-6, "fourth-order differences of weights down to 0.01"),
    known=Ruling.CORRECTED, erratum="E4",
)  # fmt: skip
def gradient_m(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the gradients of the printed Algorithm 4 with differences of m."""
    q, weights = drawn["q"], weights_from_laplacian(drawn.laplacian)
    problem = drawn.problem(MomentBall, BETA, p=q / (q - 1))
    truth = numerical_gradient(lambda v: problem.value(laplacian_from_weights(v)), weights)
    printed, corrected = (
        deviation(general_objective(problem, as_printed)(weights)[1](), truth)
        for as_printed in (True, False)
    )
    return Attempt(printed, drawn.data, corrected)
