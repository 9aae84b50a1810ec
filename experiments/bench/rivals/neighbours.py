"""Learn large log-degree graphs from near pairs only, without a proof of optimality.

Kalofolias and Perraudin (ICLR 2019) restrict the model to approximate nearest neighbours, three
times as many as wanted. Here, neighbours are exact in the first principal components. The method
stops at the gap of the restricted problem; it does not compute a gap over all pairs.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.bench.rivals.fdpg import FastDual
from experiments.bench.rivals.model import Model, check_log_degree, iterate
from wdro_cvx import Certificate, GraphProblem, Solution, Status
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.solution import SPARSE_FROM
from wdro_cvx.validation import Array


@dataclass(frozen=True)
class NeighbourGraph:
    """The log-degree model on near pairs, solved by FDPG with restart and local steps.

    Parameters
    ----------
    tol : float
        The relative gap of the restricted problem at which to stop.
    candidates : int
        The number of nearest neighbours of each vertex that may become edges.
    components : int
        The number of principal components for the neighbour search.
    """

    tol: float = 1e-6
    candidates: int = 30
    components: int = 16

    def solve(self, problem: GraphProblem) -> Solution:
        """Solve the restricted problem."""
        check_log_degree(problem)
        started = time.process_time()
        rows = problem.nominal.factor
        heads, tails = _near_pairs(rows, self.components, self.candidates)
        model = _ListedModel(problem, heads, tails)
        best = iterate(model, FastDual(model, heads.shape), self.tol, most=20_000)
        graph = EdgeList(problem.d, heads, tails, best.weights).laplacian()
        solved = best.gap(problem.floor) <= self.tol
        return Solution(
            laplacian=graph.toarray() if problem.d <= SPARSE_FROM else graph,
            value=best.value,
            status=Status.INACCURATE if solved else Status.ITERATION_LIMIT,
            iterations=best.iterations,
            # The moment is that of the data, so only the multipliers can raise the bound.
            certificate=Certificate(TransportedMoment(rows), best.nu),
            solve_s=time.process_time() - started,
            floor=problem.floor,
        )


def _near_pairs(
    rows: Array, components: int, candidates: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return pairs of vertices that are near each other in the first principal components."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.neighbors import NearestNeighbors

    points = rows.T
    if components < min(points.shape):
        points = TruncatedSVD(components, random_state=0).fit_transform(points)
    d = len(points)
    near = NearestNeighbors(n_neighbors=min(candidates, d - 1), algorithm="kd_tree").fit(points)
    ends = near.kneighbors(return_distance=False)
    first = np.repeat(np.arange(d), ends.shape[1])
    second = ends.ravel()
    pairs = np.unique(np.minimum(first, second) * np.int64(d) + np.maximum(first, second))
    return (pairs // d).astype(np.int32), (pairs % d).astype(np.int32)


class _ListedModel(Model):
    """The log-degree model on a list of pairs; all other weights are zero."""

    def __init__(
        self, problem: GraphProblem, heads: NDArray[np.int32], tails: NDArray[np.int32]
    ) -> None:
        self.d, self.alpha, self.beta = problem.d, problem.prior.alpha, problem.prior.beta
        self.heads, self.tails = heads, tails
        self.costs = np.zeros(heads.size)
        for row in problem.nominal.factor:  # row by row: all differences take too much memory
            self.costs += (row[heads] - row[tails]) ** 2
        ends, places = np.concatenate([heads, tails]), np.tile(np.arange(heads.size), 2)
        ones = np.ones(ends.size)
        self._incidence = sparse.csr_array((ones, (ends, places)), shape=(self.d, heads.size))

    def weights(self, nu: Array, out: Array) -> Array:
        """Return the optimal weights for the multipliers ν."""
        prices = -nu[self.heads] - nu[self.tails] - self.costs
        return np.divide(np.maximum(prices, 0.0), 4 * self.beta, out=out)

    def degrees(self, weights: Array) -> Array:
        """Return the weighted degrees."""
        return np.asarray(self._incidence @ weights)

    def most_used(self, weights: Array) -> int:
        """Return the largest number of edges at a vertex."""
        return int(self.degrees((weights > 0.0).astype(float)).max())

    def terms(self, weights: Array) -> tuple[float, float]:
        """Return ``cᵀw`` and ``2β‖w‖²``."""
        return float(self.costs @ weights), 2 * self.beta * float(weights @ weights)
