"""Log-degree graphs of many vertices as the field learns them: near pairs only, nothing proved.

After Kalofolias and Perraudin (ICLR 2019): approximate nearest neighbours, here the exact ones of
the first principal components, three times as many as wanted, and the model on those pairs alone.
The gap that it stops at is that of the restricted problem; of all pairs it knows nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.bench.rivals.model import check_log_degree
from wdro_cvx import Certificate, GraphProblem, Solution, Status
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.moments.moment import TransportedMoment
from wdro_cvx.solution import SPARSE_FROM
from wdro_cvx.validation import Array

_LOOK = 5
_MOST = 20_000


@dataclass(frozen=True)
class NeighbourGraph:
    """The log-degree model on approximate neighbours, by restarted FDPG with local steps.

    Parameters
    ----------
    tol : float
        The relative gap of the restricted problem at which to stop.
    candidates : int
        Neighbours of every vertex that may become edges.
    components : int
        Principal components in which neighbours are looked for.
    """

    tol: float = 1e-6
    candidates: int = 30
    components: int = 16

    def solve(self, problem: GraphProblem) -> Solution:
        """Solve the restricted problem."""
        check_log_degree(problem)
        started = time.perf_counter()
        rows = problem.nominal.factor
        heads, tails = _near_pairs(rows, self.components, self.candidates)
        model = _Restricted(rows, heads, tails, problem.prior.alpha, problem.prior.beta)
        iterations, weights, multipliers, value, bound = model.solved(self.tol)
        graph = EdgeList(problem.d, heads, tails, weights).laplacian()
        gap = (value - bound) / max(abs(value), abs(bound), problem.floor)
        # As a certificate only the multipliers travel far: the moment is the data's own.
        offered = Certificate(TransportedMoment(rows), multipliers)
        return Solution(
            laplacian=graph.toarray() if problem.d <= SPARSE_FROM else graph,
            value=value,
            status=Status.INACCURATE if gap <= self.tol else Status.ITERATION_LIMIT,
            iterations=iterations,
            certificate=offered,
            solve_s=time.perf_counter() - started,
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


class _Restricted:
    """The log-degree model on a list of pairs."""

    def __init__(
        self, rows: Array, heads: NDArray[np.int32], tails: NDArray[np.int32],
        alpha: float, beta: float,
    ) -> None:  # fmt: skip
        self.d, self.alpha, self.beta = rows.shape[1], alpha, beta
        self.heads, self.tails = heads, tails
        self.costs = np.zeros(heads.size)
        for row in rows:  # one signal at a time: all differences at once are too many numbers
            self.costs += (row[heads] - row[tails]) ** 2
        ends = np.concatenate([heads, tails])
        ones, places = np.ones(ends.size), np.tile(np.arange(heads.size), 2)
        self.incidence = sparse.csr_array((ones, (ends, places)), shape=(self.d, heads.size))

    def weights(self, point: Array) -> Array:
        """Return the weights that are best at the multipliers ``-point``."""
        prices = point[self.heads] + point[self.tails] - self.costs
        return np.maximum(prices, 0.0) / (4 * self.beta)

    def look(self, point: Array) -> tuple[Array, float, float]:
        """Return scaled weights, value and bound at a point."""
        weights = self.weights(point)
        cost, square = float(self.costs @ weights), 2 * self.beta * float(weights @ weights)
        logs = self.alpha * self.d
        bound = -square + logs + self.alpha * float(np.log(point / self.alpha).sum())
        degrees = self.incidence @ weights
        if degrees.min() <= 0.0:
            return weights, np.inf, bound
        scale = 2 * logs / (cost + float(np.sqrt(cost**2 + 8 * logs * square)))
        value = scale * cost + scale**2 * square
        value -= self.alpha * float(np.log(scale * degrees).sum())
        return scale * weights, value, bound

    def solved(self, tol: float) -> tuple[int, Array, Array, float, float]:
        """Iterate; return iterations, weights, multipliers, value and bound."""
        point = ahead = np.full(self.d, float(np.sqrt(self.alpha * self.beta)))
        pace, iterations = 1.0, 0
        best, multipliers, value, bound = self.weights(point), -point, np.inf, -np.inf
        while iterations < _MOST:
            weights = self.weights(ahead)
            used = self.incidence @ (weights > 0.0).astype(float)
            step = 2 * self.beta / max(float(used.max()), 1.0)
            forward = ahead - step * (self.incidence @ weights)
            moved = (forward + np.sqrt(forward**2 + 4 * self.alpha * step)) / 2
            change = moved - point
            if float((ahead - moved) @ change) > 0.0:
                pace = 1.0
            following = (1.0 + float(np.sqrt(1.0 + 4.0 * pace**2))) / 2
            ahead = moved + (pace - 1.0) / following * change
            point, pace, iterations = moved, following, iterations + 1
            if iterations % _LOOK:
                continue
            found, primal, dual = self.look(point)
            if dual > bound:
                bound, multipliers = dual, -point
            if primal < value:
                best, value = found, primal
            size = max(abs(value), abs(bound), self.alpha * self.d)
            if np.isfinite(value) and value - bound <= tol * size:
                break
        return iterations, best, multipliers, value, bound
