"""What a formulation or a solver returns: its answer, its claim and the evidence for it."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.moments.points import Moment, as_moment
from wdro_cvx.validation import Array, finite_array, real_number

if TYPE_CHECKING:
    import networkx as nx

    from wdro_cvx.problem import GraphProblem

#: Laplacians of more vertices than this are sparse arrays.
SPARSE_FROM = 2000


class Status(Enum):
    """What a method says of its own answer; whether it is so is for ``judge`` to say."""

    SOLVED = "solved"
    INACCURATE = "inaccurate"
    ITERATION_LIMIT = "iteration limit"
    TIME_LIMIT = "time limit"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, eq=False)
class Certificate:
    """Evidence for a lower bound, which :func:`wdro_cvx.judge` verifies and recomputes.

    Attributes
    ----------
    moment : Moment or array (d, d)
        A second moment in the ambiguity set: the optimum is at least that of the sample-average
        problem for this moment. A bare matrix is explained by the set; one that says how it was
        made (:mod:`wdro_cvx.moments.points`) proves by itself where it is.
    degree_multipliers : array (d,) or None
        ν of the constraint ``u = Aw``; the judge takes ``2η·deg(L)`` where there is none.
    trace_multiplier : float or None
        τ of the trace constraint, for information: the judge finds the best one itself.
    """

    moment: Moment
    degree_multipliers: Array | None = None
    trace_multiplier: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "moment", as_moment(self.moment))
        if self.degree_multipliers is not None:
            nu = finite_array("degree_multipliers", self.degree_multipliers, 1, ProblemError)
            object.__setattr__(self, "degree_multipliers", nu)
        if self.trace_multiplier is not None:
            tau = real_number("trace_multiplier", self.trace_multiplier, -np.inf)
            object.__setattr__(self, "trace_multiplier", tau)

    @property
    def second_moment(self) -> Array:
        """The moment as a matrix."""
        return self.moment.second_moment

    def scaled(self, factor: float) -> Certificate:
        """Return the certificate for data in another unit, ``factor·x``."""
        if factor == 1.0:
            return self
        nu, tau = self.degree_multipliers, self.trace_multiplier
        return Certificate(
            self.moment.scaled(factor),
            None if nu is None else nu * factor**2,
            None if tau is None else tau * factor**2,
        )

    def __repr__(self) -> str:
        """Return kinds and sizes instead of arrays."""
        nu = "" if self.degree_multipliers is None else ", with multipliers"
        return f"Certificate({type(self.moment).__name__} of {self.moment.d} vertices{nu})"


def relative_gap(value: float, bound: float, constant: float = 0.0, floor: float = 0.0) -> float:
    """Return ``(value - bound)`` relative to the larger of the two in size.

    Parameters
    ----------
    value, bound : float
    constant : float
        The part of the value that every graph pays. The gap is relative to the rest of the value,
        however large the constant is. A constant above the value is none, and is ignored.
    floor : float
        A size that counts where value and bound are close to zero.
    """
    if not (np.isfinite(value) and np.isfinite(bound)):
        return np.inf
    if not 0.0 <= constant <= value:
        constant = 0.0
    # A bound below the constant is that of rounding in it, which says nothing of the graph.
    below = bound if bound >= constant or constant == 0.0 else constant
    scale = max(abs(value - constant), abs(below - constant), floor)
    if scale == 0.0:
        return 0.0 if value == bound else np.inf
    return (value - bound) / scale


@dataclass(frozen=True, eq=False)
class Solution:
    """An answer.

    Attributes
    ----------
    laplacian : array (d, d), or sparse array
        Sparse from more than ``SPARSE_FROM`` vertices on, or as the method made it.
    value : float
        The objective as the method computed it.
    status : Status
        The method's own claim.
    bound : float
        A lower bound of the optimum, where the method has one; ``-inf`` otherwise.
    iterations : int
    multiplier : float
        γ, the dual variable of the radius; NaN where the method has none.
    certificate : Certificate or None
    build_s, compile_s, solve_s : float
        Seconds spent on stating the model, on turning it into the solver's form, and on solving.
    history : sequence of mappings
        One entry per iteration for methods that record it.
    constant : float
        The part of the value that every graph pays; the gap is relative to the rest.
    floor : float
        What the gap is relative to where the value is close to zero, which priors with logarithms
        allow: ``αd``.
    distance : float
        How far the Laplacian may be from the optimal one in the Frobenius norm, by strong
        convexity: ``√((value - bound)/η)`` for the paper's prior. Infinite where nothing is proved.
    """

    laplacian: Array | sparse.csr_array
    value: float
    status: Status
    bound: float = -np.inf
    iterations: int = 0
    multiplier: float = np.nan
    certificate: Certificate | None = None
    build_s: float = 0.0
    compile_s: float = 0.0
    solve_s: float = 0.0
    history: Sequence[Mapping[str, float]] = field(default=(), repr=False)
    constant: float = 0.0
    floor: float = 0.0
    distance: float = np.inf

    @property
    def edges(self) -> EdgeList:
        """The edges of the graph with their weights: heads, tails, weights."""
        return EdgeList.from_laplacian(self.laplacian)

    @property
    def adjacency(self) -> Array | sparse.csr_array:
        """The edge weights as a matrix, dense or sparse as the Laplacian is."""
        if not sparse.issparse(self.laplacian):
            return np.maximum(np.diag(np.diagonal(self.laplacian)) - self.laplacian, 0.0)
        edges = self.edges
        upper = sparse.csr_array((edges.weights, (edges.heads, edges.tails)), shape=(edges.d,) * 2)
        return sparse.csr_array(upper + upper.T)

    def to_networkx(
        self, names: Sequence[Hashable] | None = None, threshold: float = 0.0
    ) -> nx.Graph:
        """Return the graph with its weights.

        Parameters
        ----------
        names : sequence, optional
            Of the vertices; their numbers if not given.
        threshold : float
            Edges with less weight are left out.
        """
        return network(above(self.adjacency, threshold), names)

    def save_proof(self, path: str | os.PathLike[str], problem: GraphProblem) -> Path:
        """Write a proof of the answer that can be checked in exact arithmetic; return its path.

        ``wdro verify FILE`` checks it, and so does ``python -I -S wdro_cvx/verify.py FILE`` on a
        machine that has nothing but Python (docs/proofs.md). The proof is checked before it is
        written, which takes seconds up to 200 vertices and minutes beyond.

        Parameters
        ----------
        path : path
            Such as ``proof.json``.
        problem : GraphProblem
            The problem that this is the answer to.

        Raises
        ------
        ProblemError
            If the ambiguity set is not one of those that come with this package.
        SolverError
            If exact arithmetic does not confirm the proof.
        """
        from wdro_cvx.proof import save_proof  # which needs the judge, which needs this module

        return save_proof(path, problem, self)

    @property
    def gap(self) -> float:
        """The relative gap between ``value`` and ``bound``; infinite without a bound."""
        return relative_gap(self.value, self.bound, self.constant, self.floor)

    @property
    def total_s(self) -> float:
        """Seconds from statement to answer."""
        return self.build_s + self.compile_s + self.solve_s

    def __repr__(self) -> str:
        """Return the figures, and sizes instead of arrays."""
        return (
            f"Solution({self.status.value}: value {self.value:.10g}, gap {self.gap:.1e}, "
            f"{self.laplacian.shape[0]} vertices, {self.iterations} iterations, "
            f"{self.total_s:.3g} s)"
        )


def above(adjacency: Array | sparse.csr_array, threshold: float) -> Array | sparse.csr_array:
    """Return the weights from a threshold on, the others as zeros."""
    if not sparse.issparse(adjacency):
        return np.where(adjacency >= threshold, adjacency, 0.0)
    kept = sparse.csr_array(adjacency, copy=True)
    kept.data[kept.data < threshold] = 0.0
    kept.eliminate_zeros()
    return kept


def network(
    adjacency: Array | sparse.csr_array, names: Sequence[Hashable] | None = None
) -> nx.Graph:
    """Return a matrix of weights as a graph, its vertices under their names."""
    import networkx as nx  # a fifth of a second that nobody else needs

    large = sparse.issparse(adjacency)
    graph = (nx.from_scipy_sparse_array if large else nx.from_numpy_array)(adjacency)
    if names is None:
        return graph
    if len(set(names)) != adjacency.shape[0]:
        raise ProblemError(f"names must be {adjacency.shape[0]} different names, one per vertex.")
    return nx.relabel_nodes(graph, dict(enumerate(names)))
