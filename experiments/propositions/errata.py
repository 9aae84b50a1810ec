"""The errata that no other file holds: E5 to E10 of docs/paper.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.propositions.algorithms import SEARCH_FROM, SEARCH_TO
from experiments.propositions.claims import Trial, Verdict, claim, deviation
from experiments.propositions.draw import (
    REGULAR,
    REGULAR_ANY_RADIUS,
    Drawn,
    at_radius,
    draw_regular,
    draw_singular,
    log_uniform,
)
from formulations import GaussianSDP, RobustPremium
from solvers import solve
from wdro_cvx import GaussianBall, GraphProblem, Nominal, judge
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.nominal import symmetric_root
from wdro_cvx.validation import Array


def printed_score(learned: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Return equation 51, with the factors (TN + TP)(TN + TN)."""
    tp, tn = np.sum(learned & truth), np.sum(~learned & ~truth)
    fp, fn = np.sum(learned & ~truth), np.sum(~learned & truth)
    below = float((tp + fp) * (tp + fn) * (tn + tp) * (tn + tn))
    return (float(tp) * float(tn) - float(fp) * float(fn)) / float(np.sqrt(below))


@claim(
    "Erratum E5",
    "MCC has (TN + TP)(TN + TN) in its denominator; a graph with every edge right scores 1.",
    "the printed score of a random graph against itself",
    "d 5–10, density 0.2–0.8",
    1e-12,
    "rounding",
    Verdict.FAILS,
)
def erratum_5(rng: np.random.Generator) -> Trial:
    """Score a graph against itself."""
    d = int(rng.integers(5, 11))
    edges = rng.random(d * (d - 1) // 2) < rng.uniform(0.2, 0.8)
    edges[:2] = [True, False]
    return Trial(deviation(printed_score(edges, edges), 1.0), {"edges": edges})


@claim(
    "Erratum E6",
    "The root γ lies between λmax + b and aλmax.",
    "the root of the secular equation against the bracket (a = 10, b = 0.1)",
    REGULAR_ANY_RADIUS,
    1e-9,
    "rounding",
    Verdict.FAILS,
)
def erratum_6(rng: np.random.Generator) -> Trial:
    """Measure by how much the root misses the bracket."""
    drawn = at_radius(draw_regular(rng), log_uniform(rng, 0.003, 50.0))
    gamma = GaussianBall(drawn.radius).worst_case(drawn.nominal, drawn.laplacian).multiplier
    low, high = bracket(drawn)
    return Trial(max(low / gamma - 1.0, gamma / high - 1.0, 0.0), drawn.data())


def bracket(drawn: Drawn) -> tuple[float, float]:
    """Return Algorithm 1's search area."""
    return drawn.top + SEARCH_FROM, SEARCH_TO * drawn.top


@claim(
    "Erratum E7",
    "With the penalty β(Tr L - d)² the graph has the trace d.",
    "the trace of the certified penalised optimum",
    REGULAR + ", β 1–100",
    1e-6,
    "our solver's accuracy of the graph",
    Verdict.FAILS,
)
def erratum_7(rng: np.random.Generator) -> Trial:
    """Measure how far the trace falls short."""
    drawn = draw_regular(rng)
    beta = log_uniform(rng, 1.0, 100.0)
    trace = penalised_trace(drawn, beta)
    return Trial(deviation(trace, float(drawn.d)), drawn.data(beta=beta))


def penalised_trace(drawn: Drawn, beta: float) -> float:
    """Return the trace of the penalised optimum."""
    problem = drawn.problem(GaussianBall(drawn.radius), beta)
    return float(np.trace(solve(problem, tol=1e-10).laplacian))


def printed_mean_term(drawn: Drawn, gamma: float) -> float:
    """Return the mean's part of equation 60: the printed product is a matrix, so its trace."""
    mean = drawn.nominal.mean
    inverse = np.linalg.inv(gamma * np.eye(drawn.d) - drawn.laplacian)
    return float(gamma**2 * np.trace(inverse * (mean @ mean)) - gamma * mean @ mean)


@claim(
    "Erratum E8",
    "The supremum over the mean is -γμᵀμ + γ²(γI - L)⁻¹μᵀμ.",
    "the printed term, read as its trace, against the supremum, a linear system",
    REGULAR + ", γ 1.2–2 λmax",
    1e-6,
    "rounding",
    Verdict.FAILS,
)
def erratum_8(rng: np.random.Generator) -> Trial:
    """Compare the printed term with the supremum."""
    drawn = draw_regular(rng)
    gamma = drawn.top * rng.uniform(1.2, 2.0)
    mean = drawn.nominal.mean
    best = np.linalg.solve(gamma * np.eye(drawn.d) - drawn.laplacian, gamma * mean)
    supremum = float(best @ drawn.laplacian @ best - gamma * np.sum((best - mean) ** 2))
    return Trial(deviation(printed_mean_term(drawn, gamma), supremum), drawn.data(gamma=gamma))


def covariance_gain(drawn: Drawn, gamma: float, covariance: Array) -> float:
    """Return what a covariance adds to h(γ, L) of Lemma 1."""
    root = symmetric_root(drawn.nominal.covariance)
    overlap = symmetric_root(root @ covariance @ root)
    shifted = drawn.laplacian - gamma * np.eye(drawn.d)
    return float(np.vdot(shifted, covariance) + 2 * gamma * np.trace(overlap))


def printed_maximiser(drawn: Drawn, gamma: float) -> Array:
    """Return the covariance of the proof of Theorem 1, with a pseudo-inverse for the inverse."""
    root = symmetric_root(drawn.nominal.covariance)
    inverse = np.linalg.inv(gamma * np.eye(drawn.d) - drawn.laplacian)
    undone = np.linalg.pinv(root, rtol=1e-8) @ (gamma * root @ inverse @ root)
    return undone @ undone.T


@claim(
    "Erratum E9",
    "The substitution with Σₙ^-½ in the proof of Theorem 1 finds the supremum over Σ.",
    "what its covariance attains, with a pseudo-inverse, against γ²Tr((γI - L)⁻¹Σₙ)",
    "d 3–6, N 2–d-1, γ 1.2–2 λmax",
    1e-6,
    "roots of singular matrices",
    Verdict.FAILS,
)
def erratum_9(rng: np.random.Generator) -> Trial:
    """Compare what the substitution attains with the supremum."""
    drawn = draw_singular(rng, fewest=2)  # one sample has no covariance at all
    gamma = drawn.top * rng.uniform(1.2, 2.0)
    inverse = np.linalg.inv(gamma * np.eye(drawn.d) - drawn.laplacian)
    supremum = gamma**2 * float(np.vdot(inverse, drawn.nominal.covariance))
    attained = covariance_gain(drawn, gamma, printed_maximiser(drawn, gamma))
    return Trial(deviation(attained, supremum), drawn.data(gamma=gamma))


def seconds_by_interior_point(problem: GraphProblem) -> float:
    """Return the time that Clarabel takes for Proposition 2."""
    return _judged_seconds(problem, "CLARABEL")


def seconds_by_first_order(problem: GraphProblem) -> float:
    """Return the time that SCS takes for the premium form."""
    return _judged_seconds(problem, "SCS")


def _judged_seconds(problem: GraphProblem, backend: str) -> float:
    form = GaussianSDP(problem) if backend == "CLARABEL" else RobustPremium(problem)
    solution = form.solve(backend, tol=1e-6 if backend == "CLARABEL" else 1e-7)
    verdict = judge(problem, solution.laplacian, solution.certificate)
    return solution.total_s if verdict.solved(1e-5) else float("inf")


@claim(
    "Erratum E10",
    "Semidefinite forms take an interior-point method's time.",
    "the time of Clarabel on Proposition 2 over that of SCS on the premium form, both judged",
    "d 18–22, N 100, paper-like signals, ε 0.5, η 0.3",
    0.2,
    "timings on a shared machine",
    Verdict.FAILS,
    refuted=1.0,
)
def erratum_10(rng: np.random.Generator) -> Trial:
    """Compare the two times."""
    d = int(rng.integers(18, 23))
    signals = smooth_signals(rbf_graph(d, rng), 100, rng, noise=0.1)
    problem = GraphProblem(Nominal.from_samples(signals), GaussianBall(0.5), eta=0.3)
    ratio = seconds_by_interior_point(problem) / seconds_by_first_order(problem)
    return Trial(max(ratio - 1.0, 0.0), {"samples": signals, "radius": 0.5, "eta": 0.3})
