"""The two robust estimators of precision matrices that the paper cites, and their Laplacian forms.

The paper takes proofs from both: duality from Nguyen, Kuhn and Mohajerin Esfahani, Theorem 3 from
Cisneros-Velarde, Petersen and Oh. Their likelihood over Laplacians is a :class:`~wdro_cvx.LogDet`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from experiments.propositions.drawn import ANY, Drawn, Family, log_uniform, with_choice
from experiments.propositions.proposition import Attempt, proposition
from experiments.propositions.routes import by_cvxpy, conic_optimum, deviation
from formulations import RobustPremium
from solvers import solve
from wdro_cvx import (
    EdgeBounds,
    Frobenius,
    GaussianBall,
    GraphProblem,
    LogDet,
    MomentBall,
    Nominal,
)
from wdro_cvx.ambiguity import Norm
from wdro_cvx.graphs.laplacian import laplacian_from_weights, weights_from_laplacian
from wdro_cvx.validation import Array

_TOL = 1e-9


@dataclass(frozen=True)
class Field:
    """A Gaussian field whose precision matrix is a graph Laplacian, and a radius."""

    precision: Array
    radius: float

    @property
    def problem(self) -> GraphProblem:
        """The likelihood of the field's covariance, robust by a Gaussian ball; no eta, no trace."""
        covariance = np.linalg.pinv(self.precision, hermitian=True)
        nominal = Nominal.from_moments(np.zeros(len(covariance)), covariance)
        ball, none = GaussianBall(self.radius), Frobenius(0.0, None)
        return GraphProblem(nominal, ball, prior=none, terms=(LogDet(1.0),))

    @property
    def data(self) -> Mapping[str, ArrayLike]:
        """What is needed to inspect a counterexample."""
        return {"precision": self.precision, "radius": self.radius}


def _field(rng: np.random.Generator, d: int) -> Field:
    present = rng.random(d * (d - 1) // 2) < 0.5
    edges = laplacian_from_weights(np.where(present, rng.uniform(0.1, 3.0, present.size), 0.0))
    path = 0.3 * (np.eye(d, k=1) + np.eye(d, k=-1))  # connects the graph
    return Field(edges + np.diag(path.sum(axis=1)) - path, log_uniform(rng, 0.05, 3.0))


FIELDS = Family("half of the edges and a path, weights 0.1–3.3, ε 0.05–3", _field)


def shrunk_precision(covariance: Array, radius: float) -> Array:
    """Return the Wasserstein shrinkage estimator among the matrices that vanish on constants.

    Every eigenvalue s of the covariance becomes the precision ``x < γ`` with
    ``(γ - x)² = γ²sx``, and γ is such that the transport costs the squared radius:
    ``Σ s(γ/(γ - x) - 1)² = ε²``.
    """
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[1:], vectors[:, 1:]

    def shrunk(gamma: float) -> Array:
        half = gamma * values / 2
        return gamma / (1 + half + np.sqrt(half * (half + 2)))

    def excess(logarithm: float) -> float:
        gamma = np.exp(logarithm)
        found = shrunk(gamma)
        return float(np.log(np.sum(values * (found / (gamma - found)) ** 2) / radius**2))

    gamma = np.exp(optimize.brentq(excess, -40.0, 40.0, xtol=1e-15, rtol=1e-15))
    return np.asarray((vectors * shrunk(gamma)) @ vectors.T)


@proposition(
    "Estimator, Wasserstein shrinkage",
    "(cites Nguyen, Kuhn and Mohajerin Esfahani: a precision matrix that is robust over a "
    "Gaussian ball, in closed form)",
    "If the inverse covariance is a graph Laplacian, so is their estimator, and it is our graph: "
    "`LogDet` with a `GaussianBall`.",
    FIELDS, (1e-6, "the certified gap of 1e-9, whose square root bounds the error of the graph, "
             "and SCS"),
    dimensions=(3, 8), ours=True,
)  # fmt: skip
def wasserstein_shrinkage(drawn: Field, rng: np.random.Generator) -> Attempt:
    """Compare the closed form with our solver's graph and value, and the value with SCS."""
    problem = drawn.problem
    answer = solve(problem, tol=_TOL)
    shrunk = shrunk_precision(problem.nominal.second_moment, drawn.radius)
    positive = max(float(-weights_from_laplacian(shrunk).min()), 0.0) / float(np.abs(shrunk).max())
    # An error of the graph enters its value squared.
    graph = deviation(answer.laplacian, shrunk) ** 2
    value = deviation(problem.value(shrunk), answer.value)
    conic = deviation(by_cvxpy(RobustPremium, problem, "SCS"), answer.value)
    return Attempt(max(positive, graph, value, conic), drawn.data)


def lasso_optimum(drawn: Drawn, p: float) -> float:
    """Return the optimum of the graphical lasso with a dual norm over Laplacians, by CVXPY."""
    d = drawn.d
    precision = cp.Variable((d, d), symmetric=True)
    norm = cp.pnorm(cp.vec(precision, order="F"), Norm(p).dual_order)
    likelihood = cp.log_det(precision + np.full((d, d), 1.0 / d))
    smooth = cp.trace(drawn.theta @ precision) + drawn.eta * cp.sum_squares(precision)
    signs = [precision[i, j] <= 0 for i in range(d) for j in range(i)]
    constraints = [cp.sum(precision, axis=1) == 0, *signs]
    objective = smooth + drawn.radius * norm - likelihood
    return conic_optimum(cp.Problem(cp.Minimize(objective), constraints))


def path_weights(drawn: Drawn) -> Array:
    """Return the weights on a path for p = ∞ and no eta, in closed form: ``1/(c + 4ε)``."""
    moves = np.diff(drawn.samples, axis=1)
    return np.asarray(1.0 / (np.mean(moves**2, axis=0) + 4 * drawn.radius))


@proposition(
    "Estimator, robust graphical lasso",
    "(cites Cisneros-Velarde, Petersen and Oh: the graphical lasso is robust over a ball of "
    "second moments; p = ∞ gives the 1-norm)",
    "Over Laplacians it is `LogDet` with a `MomentBall`. For p = ∞ every edge costs 4ε more, so "
    "the weights of a tree are 1/(c + 4ε).",
    with_choice(ANY, "p", "p", (1.5, 2.0, 4.0, np.inf)), (1e-6, "Clarabel's relative gap"),
    ours=True,
)  # fmt: skip
def robust_graphical_lasso(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare our solver with CVXPY on the penalised likelihood, and with weights on a path."""
    d, term = drawn.d, (LogDet(1.0),)
    prior, ball = Frobenius(drawn.eta, None), MomentBall(drawn.radius, p=drawn["p"])
    answer = solve(GraphProblem(drawn.nominal, ball, prior=prior, terms=term), tol=_TOL)
    found = deviation(lasso_optimum(drawn, drawn["p"]), answer.value)
    others = [(i, j) for i in range(d) for j in range(i + 2, d)]
    path = Frobenius(0.0, None, bounds=EdgeBounds.from_edges(d, absent=others))
    flat = MomentBall(drawn.radius, p=np.inf)
    tree = solve(GraphProblem(drawn.nominal, flat, prior=path, terms=term), tol=_TOL)
    weights = deviation(-np.diagonal(tree.laplacian, 1), path_weights(drawn))
    return Attempt(max(found, weights**2), drawn.data)
