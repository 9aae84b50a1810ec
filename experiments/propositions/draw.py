"""Random instances for the claims, and the independent routes that several of them share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
import ot
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from wdro_cvx import AmbiguitySet, Discrete, GraphProblem, Nominal
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.graphs.laplacian import laplacian_from_weights
from wdro_cvx.moments.nominal import symmetric_root
from wdro_cvx.validation import Array

#: What most claims are tried on, beside the number of vertices; the ledger prints it.
RANGES = "N 1–2d, ε 0.1–5, η 0.01–1"
REGULAR = "N d+2–3d, ε 0.1–2, η 0.01–1"
SINGULAR = "N 1–d-1, ε 0.1–2, η 0.01–1"


@dataclass(frozen=True)
class Drawn:
    """Data, a feasible Laplacian that is not optimal for them, a radius and an eta."""

    nominal: Nominal
    laplacian: Array
    radius: float
    eta: float

    @property
    def d(self) -> int:
        """The number of vertices."""
        return self.nominal.d

    @property
    def top(self) -> float:
        """λmax of the Laplacian."""
        return float(np.linalg.eigvalsh(self.laplacian)[-1])

    def problem(self, ball: AmbiguitySet, trace_penalty: float | None = None) -> GraphProblem:
        """Return the problem with one ball."""
        return GraphProblem(self.nominal, ball, self.eta, trace_penalty=trace_penalty)

    def data(self, **more: ArrayLike) -> Mapping[str, ArrayLike]:
        """Return what a counterexample needs to be looked at."""
        assert self.nominal.samples is not None
        return {
            "samples": self.nominal.samples, "laplacian": self.laplacian,
            "radius": self.radius, "eta": self.eta, **more,
        }  # fmt: skip


def draw(rng: np.random.Generator, d: int) -> Drawn:
    """Draw from ``RANGES``: correlated signals with a mean, uneven weights."""
    return _drawn(rng, d, int(rng.integers(1, 2 * d + 1)), log_uniform(rng, 0.1, 5.0))


def draw_regular(rng: np.random.Generator, d: int) -> Drawn:
    """Draw from ``REGULAR``: a covariance of full rank, so that γ stays above λmax."""
    return _drawn(rng, d, int(rng.integers(d + 2, 3 * d + 1)), log_uniform(rng, 0.1, 2.0))


def draw_singular(
    rng: np.random.Generator, d: int, fewest: int = 1, most: int | None = None
) -> Drawn:
    """Draw fewer samples than vertices."""
    n = int(rng.integers(fewest, min(most or d, d - 1) + 1))
    return _drawn(rng, d, n, log_uniform(rng, 0.1, 2.0))


def draw_signals(rng: np.random.Generator, d: int, n: int) -> Drawn:
    """Draw smooth signals of a similarity graph, as the paper's experiments do."""
    graph = rbf_graph(d, rng)
    nominal = Nominal.from_samples(smooth_signals(graph, n, rng, noise=0.1))
    return Drawn(nominal, graph, log_uniform(rng, 0.1, 2.0), log_uniform(rng, 0.1, 1.0))


def at_radius(drawn: Drawn, radius: float) -> Drawn:
    """Return the instance with another radius."""
    return replace(drawn, radius=radius)


def _drawn(rng: np.random.Generator, d: int, n: int, radius: float) -> Drawn:
    mixing = np.eye(d) + 0.4 * rng.standard_normal((d, d))
    samples = rng.standard_normal((n, d)) @ mixing + 0.5 * rng.standard_normal(d)
    # Even weights nearly commute with everything, and hide what depends on the order of products.
    weights = rng.uniform(0.2, 1.0, d * (d - 1) // 2) ** 3
    laplacian = laplacian_from_weights(weights * (d / (2 * weights.sum())))
    return Drawn(Nominal.from_samples(samples), laplacian, radius, log_uniform(rng, 0.01, 1.0))


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


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

    A joint second moment ``[[Θ, C], [Cᵀ, M]]`` of nominal and other signal has the transport cost
    ``Tr(M + Θ - 2C)``. Neither Theorem 1 nor any dual is used.
    """
    d, theta = drawn.d, drawn.nominal.second_moment
    joint = cp.Variable((2 * d, 2 * d), PSD=True)
    moment, cross = joint[d:, d:], joint[:d, d:]
    cost = cp.trace(moment) + np.trace(theta) - 2 * cp.trace(cross)
    constraints = [joint[:d, :d] == theta, cost <= drawn.radius**2]
    problem = cp.Problem(cp.Maximize(cp.trace(drawn.laplacian @ moment)), constraints)
    return conic_optimum(problem)


def conic_optimum(problem: cp.Problem) -> float:
    """Return the optimum by Clarabel, asked for two digits more than it gives by default."""
    tighter = {f"tol_{kind}": 1e-10 for kind in ("gap_abs", "gap_rel", "feas")}
    with warnings.catch_warnings():  # two routes are compared; their difference tells the accuracy
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        return float(problem.solve(solver=cp.CLARABEL, **tighter))


def transport_distance(first: Discrete, second: Discrete, order: float = 2.0) -> float:
    """Return the Wasserstein distance of two discrete distributions by POT's exact solver."""
    # SciPy's distances are exactly zero between equal points; POT's lose half the digits there.
    costs = cdist(first.points, second.points) ** order
    return float(ot.emd2(first.weights, second.weights, costs) ** (1 / order))


def gaussian_points(
    rng: np.random.Generator, mean: Array, covariance: Array
) -> tuple[Array, Array]:
    """Return points with exactly these two moments, and the standard points behind them."""
    d = mean.size
    raw = rng.standard_normal((4 * d, d))
    orthonormal, _ = np.linalg.qr(raw - raw.mean(axis=0))
    standard = orthonormal * np.sqrt(4 * d)
    return mean + standard @ symmetric_root(covariance), standard


def monge_distance(
    rng: np.random.Generator,
    first: tuple[Array, Array],
    second: tuple[Array, Array],
) -> float:
    """Return the distance of two Gaussians from POT's plan between points with their moments.

    With ``Σ₂^½Σ₁^½ = ASBᵀ`` the pairs ``(Σ₁^½z, Σ₂^½ABᵀz)`` have both covariances, singular or not,
    and ``⟨x, y'⟩ = zᵀBSBᵀz'`` is positive semidefinite: the pairing is optimal for any points z,
    and the plan must find its cost.
    """
    (mean, covariance), (other_mean, other_covariance) = first, second
    points, standard = gaussian_points(rng, mean, covariance)
    other_root = symmetric_root(other_covariance)
    left, _, right = np.linalg.svd(other_root @ symmetric_root(covariance))
    moved = other_mean + standard @ (other_root @ left @ right).T
    weights = np.full(len(points), 1.0 / len(points))
    return transport_distance(Discrete(points, weights), Discrete(moved, weights))
