"""Independent routes to the same number, which several propositions compare."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import cvxpy as cp
import numpy as np
import ot
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from experiments.propositions.drawn import Drawn
from formulations import Formulation
from solvers import solve
from wdro_cvx import Discrete, GraphProblem
from wdro_cvx.moments.nominal import symmetric_root
from wdro_cvx.validation import Array

#: Tolerances, each with what limits it.
CONIC = (1e-6, "Clarabel's and our solver's relative gap, 1e-7 each, with room for cancellation")
ROUNDING = (1e-12, "rounding")
#: The trace penalty of the paper's relaxation, wherever one is needed.
BETA = 2.0


def deviation(found: ArrayLike, expected: ArrayLike) -> float:
    """Return the relative distance between two numbers, vectors or matrices."""
    difference = np.linalg.norm(np.subtract(found, expected))
    return float(difference / np.linalg.norm(expected))


def certified(problem: GraphProblem) -> float:
    """Return the optimum by our certified solver."""
    return solve(problem, tol=1e-8).value


def by_cvxpy(
    form: type[Formulation], problem: GraphProblem, backend: str = "CLARABEL", tol: float = 1e-9
) -> float:
    """Return the optimum of a formulation."""
    return form(problem).solve(backend, tol).value


def conic_optimum(problem: cp.Problem) -> float:
    """Return the optimum by Clarabel, to two digits more than its default."""
    tighter = {f"tol_{kind}": 1e-10 for kind in ("gap_abs", "gap_rel", "feas")}
    with warnings.catch_warnings():  # comparing two routes shows how accurate they are
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        return float(problem.solve(solver=cp.CLARABEL, **tighter))


def numerical_gradient(function: Callable[[Array], float], point: Array) -> Array:
    """Return the gradient by central differences of fourth order."""
    step = 1e-4 * max(float(np.abs(point).max()), 1.0)

    def along(direction: Array) -> float:
        return slope(lambda distance: function(point + distance * direction), step)

    return np.array([along(direction) for direction in np.eye(point.size)])


def slope(function: Callable[[float], float], step: float) -> float:
    """Return the derivative at zero by a central difference of fourth order."""
    ahead = 8 * (function(step) - function(-step)) - (function(2 * step) - function(-2 * step))
    return ahead / (12 * step)


def bend(function: Callable[[float], float], step: float) -> float:
    """Return the second derivative at zero by a central difference of fourth order."""
    near = 16 * (function(step) + function(-step))
    far = function(2 * step) + function(-2 * step)
    return (near - far - 30 * function(0.0)) / (12 * step**2)


def worst_moment_risk(drawn: Drawn) -> float:
    """Return the largest ``⟨M, L⟩`` over the Gelbrich ball, as a primal SDP.

    A joint second moment ``[[Θ, C], [Cᵀ, M]]`` of the nominal and another signal has the transport
    cost ``Tr(M + Θ - 2C)``. This uses neither Theorem 1 nor a dual.
    """
    d, theta = drawn.d, drawn.theta
    joint = cp.Variable((2 * d, 2 * d), PSD=True)
    moment, cross = joint[d:, d:], joint[:d, d:]
    cost = cp.trace(moment) + np.trace(theta) - 2 * cp.trace(cross)
    constraints = [joint[:d, :d] == theta, cost <= drawn.radius**2]
    return conic_optimum(
        cp.Problem(cp.Maximize(cp.trace(drawn.laplacian @ moment)), constraints)
    )  # fmt: skip


def transport_distance(first: Discrete, second: Discrete, order: float = 2.0) -> float:
    """Return the Wasserstein distance of two discrete distributions by POT's exact solver."""
    # SciPy's distances are exactly zero between equal points; POT's lose half the digits there.
    costs = cdist(first.points, second.points) ** order
    return float(ot.emd2(first.weights, second.weights, costs) ** (1 / order))


def monge_distance(
    rng: np.random.Generator, mean: Array, covariance: Array, other_mean: Array, other: Array
) -> float:
    """Return the distance of two Gaussians from POT's plan between points with their moments.

    With ``Σ₂^½Σ₁^½ = ASBᵀ`` the pairs ``(Σ₁^½z, Σ₂^½ABᵀz)`` have both covariances, singular or not,
    and ``⟨x, y'⟩ = zᵀBSBᵀz'`` is positive semidefinite. The pairing is therefore optimal for any
    points z, and the plan must find its cost.
    """
    d = mean.size
    raw = rng.standard_normal((4 * d, d))
    orthonormal, _ = np.linalg.qr(raw - raw.mean(axis=0))
    standard = orthonormal * np.sqrt(4 * d)  # mean 0 and covariance I, exactly
    root, other_root = symmetric_root(covariance), symmetric_root(other)
    left, _, right = np.linalg.svd(other_root @ root)
    weights = np.full(4 * d, 1.0 / (4 * d))
    points = Discrete(mean + standard @ root, weights)
    moved = Discrete(other_mean + standard @ (other_root @ left @ right).T, weights)
    return transport_distance(points, moved)
