"""The claims about the q-norm of Theorem 3: its gradient, p = ∞ and p = 2."""

from __future__ import annotations

import numpy as np

from experiments.propositions.claims import Trial, Verdict, claim, deviation
from experiments.propositions.draw import RANGES, Drawn, draw, numerical_gradient
from formulations import GeneralRegularized
from solvers import solve
from wdro_cvx import GraphProblem, MomentBall, Singleton, judge
from wdro_cvx.graphs.laplacian import adjoint, laplacian_from_weights, weights_from_laplacian
from wdro_cvx.validation import Array

_CONIC = "Clarabel's and our solver's relative gap, 1e-7 each, with room for cancellation"


@claim(
    "p = ∞",
    "(Table 2: p = ∞ is an exception)",
    "The moment ball with p = ∞ is SAA plus the constant 2dε: the graph is SAA's.",
    "SAA's graph, judged in the problem with p = ∞; the difference of the optima, by CVXPY",
    RANGES,
    1e-6,
    _CONIC,
    ours=True,
)
def infinite_exponent(rng: np.random.Generator, d: int) -> Trial:
    """Judge SAA's graph, and compare the optima."""
    drawn = draw(rng, d)
    problem = drawn.problem(MomentBall(drawn.radius, p=np.inf))
    nominal = solve(drawn.problem(Singleton()), tol=1e-9)
    gap = judge(problem, nominal.laplacian).gap
    optimum = GeneralRegularized(problem).solve().value
    constant = 2 * drawn.d * drawn.radius
    return Trial(max(gap, deviation(nominal.value + constant, optimum)), drawn.data())


@claim(
    "p = 2",
    "(nothing)",
    "The moment ball with p = 2 has the graph of SAA with η' = η + ε/2‖L‖.",
    "our solver's graph for p = 2, judged in the SAA problem with η'",
    RANGES,
    1e-6,
    _CONIC,
    ours=True,
)
def on_the_sample_average_path(rng: np.random.Generator, d: int) -> Trial:
    """Judge the graph of p = 2 in the SAA problem with the larger eta."""
    drawn = draw(rng, d)
    laplacian = solve(drawn.problem(MomentBall(drawn.radius, p=2.0)), tol=1e-10).laplacian
    eta = larger_eta(drawn, laplacian)
    verdict = judge(GraphProblem(drawn.nominal, Singleton(), eta), laplacian)
    return Trial(max(verdict.gap, 0.0), drawn.data())


def larger_eta(drawn: Drawn, laplacian: Array) -> float:
    """Return the eta at which SAA has the graph of the moment ball with p = 2."""
    return drawn.eta + drawn.radius / (2 * float(np.linalg.norm(laplacian)))


def printed_norm_gradient(laplacian: Array, q: float) -> Array:
    """Return the last term of equation 45, without ε."""
    norm = float(np.linalg.norm(laplacian.ravel(), q))
    with np.errstate(invalid="ignore", divide="ignore"):
        return adjoint(norm ** (1 - q) * laplacian ** (q - 1))


def corrected_norm_gradient(drawn: Drawn, q: float) -> Array:
    """Return the gradient with ``sign(L)|L|^{q-1}``."""
    worst = MomentBall(1.0, p=q / (q - 1)).worst_case(drawn.nominal, drawn.laplacian)
    return adjoint(worst.second_moment - drawn.nominal.second_moment)


def _norm_case(rng: np.random.Generator, d: int) -> tuple[Drawn, float, Array]:
    drawn = draw(rng, d)
    q = float(rng.choice([4 / 3, 1.5, 2.5, 3.0, 5.0]))

    def norm(weights: Array) -> float:
        return float(np.linalg.norm(laplacian_from_weights(weights).ravel(), q))

    return drawn, q, numerical_gradient(norm, weights_from_laplacian(drawn.laplacian))


@claim(
    "Equation 45",
    "∇m has (𝒯v)^{.(q-1)}.",
    "sign(𝒯v)|𝒯v|^{q-1}: fractional powers of negative weights are undefined, even ones "
    "lose the sign.",
    "both gradients against differences of the norm",
    RANGES + ", q 4/3, 3/2, 5/2, 3, 5",
    1e-6,
    "fourth-order differences of weights down to 0.01",
    Verdict.CORRECTED,
    erratum="E4",
)
def gradient_m(rng: np.random.Generator, d: int) -> Trial:
    """Compare both gradients with differences."""
    drawn, q, found = _norm_case(rng, d)
    printed = deviation(printed_norm_gradient(drawn.laplacian, q), found)
    corrected = deviation(corrected_norm_gradient(drawn, q), found)
    return Trial(printed, drawn.data(q=q), corrected)
