"""The result of a formulation or solver, its status and its certificate."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.moments.points import Moment, as_moment
from wdro_cvx.validation import Array, finite_array, real_number, square_matrix

if TYPE_CHECKING:
    import networkx as nx

    from wdro_cvx.problem import GraphProblem

#: Laplacians of more vertices than this are sparse arrays.
SPARSE_FROM = 2000


class Status(Enum):
    """The status that a method reports for its own answer; ``judge`` does not rely on it.

    Examples
    --------
    >>> from wdro_cvx import Status
    >>> Status("solved") is Status.SOLVED
    True
    >>> [status.value for status in Status if status is not Status.SOLVED]
    ['inaccurate', 'iteration limit', 'time limit', 'interrupted', 'failed']
    """

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
        A second moment in the ambiguity set. The optimum is at least the optimum of the
        sample-average problem for this moment. A moment of :mod:`wdro_cvx.moments.points` contains
        the evidence that it is in the set; for a plain matrix the judge looks for evidence.
    degree_multipliers : array (d,) or None
        ν of the constraint ``u = Aw``; by default the judge uses the prior's slopes at the degrees.
    trace_multiplier : float or None
        τ of the trace constraint, for information: the judge finds the best one itself.
    slopes : tuple of arrays (d, d), or None
        One symmetric matrix for every term of the problem; the judge uses the gradients of the
        terms at the graph by default.

    Raises
    ------
    ProblemError
        If an entry is not a finite number.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Certificate
    >>> certificate = Certificate(np.eye(3), degree_multipliers=[0.1, 0.1, 0.1])
    >>> certificate
    Certificate(DenseMoment of 3 vertices, with multipliers)
    >>> certificate.scaled(10.0).second_moment[0].tolist()  # in another unit
    [100.0, 0.0, 0.0]
    """

    moment: Moment
    degree_multipliers: Array | None = None
    trace_multiplier: float | None = None
    slopes: tuple[Array, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "moment", as_moment(self.moment))
        if self.degree_multipliers is not None:
            nu = finite_array("degree_multipliers", self.degree_multipliers, 1, ProblemError)
            object.__setattr__(self, "degree_multipliers", nu)
        if self.trace_multiplier is not None:
            tau = real_number("trace_multiplier", self.trace_multiplier, -np.inf)
            object.__setattr__(self, "trace_multiplier", tau)
        if self.slopes is not None:
            matrices = [square_matrix("slopes", slope, None, ProblemError) for slope in self.slopes]
            slopes = tuple(slope / 2 + slope.T / 2 for slope in matrices)
            object.__setattr__(self, "slopes", slopes)

    @property
    def second_moment(self) -> Array:
        """The moment as a matrix."""
        return self.moment.second_moment

    def scaled(self, factor: float) -> Certificate:
        """Return the certificate for data multiplied by factor."""
        if factor == 1.0:
            return self
        nu, tau, slopes = self.degree_multipliers, self.trace_multiplier, self.slopes
        return Certificate(
            self.moment.scaled(factor),
            None if nu is None else nu * factor**2,
            None if tau is None else tau * factor**2,
            None if slopes is None else tuple(slope * factor**2 for slope in slopes),
        )

    def __repr__(self) -> str:
        """Return kinds and sizes instead of arrays."""
        nu = "" if self.degree_multipliers is None else ", with multipliers"
        return f"Certificate({type(self.moment).__name__} of {self.moment.d} vertices{nu})"


def relative_gap(value: float, bound: float, constant: float = 0.0, floor: float = 0.0) -> float:
    """Return ``value - bound`` relative to the larger of the two in absolute value.

    Parameters
    ----------
    value, bound : float
    constant : float
        The part of the value that is the same for every graph. The gap is relative to the rest. A
        constant above the value is ignored.
    floor : float
        The least denominator, for values and bounds close to zero.
    """
    if not (math.isfinite(value) and math.isfinite(bound)):
        return math.inf
    if not 0.0 <= constant <= value:
        constant = 0.0
    # A bound can fall below the constant by rounding only, which says nothing about the graph.
    below = bound if bound >= constant or constant == 0.0 else constant
    scale = max(abs(value - constant), abs(below - constant), floor)
    if scale == 0.0:
        return 0.0 if value == bound else np.inf
    return (value - bound) / scale


@dataclass(frozen=True, eq=False)
class Solution:
    """A graph with the method's value, bound and status.

    Attributes
    ----------
    laplacian : array (d, d), or sparse array
        Sparse for more than ``SPARSE_FROM`` vertices, or if the method works with sparse arrays.
    value : float
        The objective as the method computed it.
    status : Status
        The method's own claim.
    bound : float
        The method's lower bound of the optimum; ``-inf`` if it has none.
    iterations : int
    multiplier : float
        γ, the dual variable of the radius; NaN if the method has none.
    certificate : Certificate or None
    build_s, compile_s, solve_s : float
        CPU seconds to state the model, to compile it for the solver, and to solve it.
    history : sequence of mappings
        One entry per iteration, if the method records it.
    constant : float
        The part of the value that is the same for every graph; the gap is relative to the rest.
    floor : float
        The least denominator of the gap (``GraphProblem.floor``). It is positive if the prior or a
        term has logarithms, because values may then be close to zero.
    distance : float
        A bound of the Frobenius distance to the optimal Laplacian, by strong convexity:
        ``√((value - bound)/η)`` for the paper's prior. Infinite without a proof.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Solution, Status
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> solution = Solution(edge, value=2.0, status=Status.SOLVED, bound=1.9)
    >>> print(round(solution.gap, 3), solution.edges.weights, solution.adjacency.tolist())
    0.05 [1.] [[0.0, 1.0], [1.0, 0.0]]
    """

    laplacian: Array | scipy.sparse.csr_array
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
        """The edges as an :class:`EdgeList` of heads, tails and weights."""
        return EdgeList.from_laplacian(self.laplacian)

    @property
    def adjacency(self) -> Array | scipy.sparse.csr_array:
        """The matrix of edge weights, dense or sparse like the Laplacian."""
        if not scipy.sparse.issparse(self.laplacian):
            return np.maximum(np.diag(np.diagonal(self.laplacian)) - self.laplacian, 0.0)
        edges = self.edges
        upper = scipy.sparse.csr_array(
            (edges.weights, (edges.heads, edges.tails)), shape=(edges.d,) * 2
        )
        return scipy.sparse.csr_array(upper + upper.T)

    def to_networkx(
        self, names: Sequence[Hashable] | None = None, threshold: float = 0.0
    ) -> nx.Graph:
        """Return the graph with its weights.

        Parameters
        ----------
        names : sequence, optional
            The names of the vertices; their numbers by default.
        threshold : float
            Edges with less weight are left out.
        """
        return network(above(self.adjacency, threshold), names)

    def save_proof(self, path: str | os.PathLike[str], problem: GraphProblem) -> Path:
        """Write a proof of the answer that can be checked in exact arithmetic; return its path.

        ``wdro verify FILE`` checks it, and so does ``python -I -S wdro_cvx/verify.py FILE`` on a
        machine with nothing but Python (docs/proofs.md). The proof is checked before it is written,
        which takes seconds up to 200 vertices and minutes beyond.

        Parameters
        ----------
        path : path
            Such as ``proof.json``.
        problem : GraphProblem
            The problem that was solved.

        Raises
        ------
        ProblemError
            If the ambiguity set is not built in.
        SolverError
            If exact arithmetic does not confirm the proof.
        """
        from wdro_cvx.proof import save_proof  # imports the judge, which imports this module

        return save_proof(path, problem, self)

    @property
    def gap(self) -> float:
        """The relative gap between ``value`` and ``bound``; infinite without a bound."""
        return relative_gap(self.value, self.bound, self.constant, self.floor)

    @property
    def total_s(self) -> float:
        """The seconds for all three stages."""
        return self.build_s + self.compile_s + self.solve_s

    def __repr__(self) -> str:
        """Return the figures, and sizes instead of arrays."""
        return (
            f"Solution({self.status.value}: value {self.value:.10g}, gap {self.gap:.1e}, "
            f"{self.laplacian.shape[0]} vertices, {self.iterations} iterations, "
            f"{self.total_s:.3g} s)"
        )


def above(
    adjacency: Array | scipy.sparse.csr_array, threshold: float
) -> Array | scipy.sparse.csr_array:
    """Return the weights of at least ``threshold``, and zero for the others."""
    if not scipy.sparse.issparse(adjacency):
        return np.where(adjacency >= threshold, adjacency, 0.0)
    kept = scipy.sparse.csr_array(adjacency, copy=True)
    kept.data[kept.data < threshold] = 0.0
    kept.eliminate_zeros()
    return kept


def network(
    adjacency: Array | scipy.sparse.csr_array, names: Sequence[Hashable] | None = None
) -> nx.Graph:
    """Return a matrix of weights as a networkx graph with named vertices."""
    import networkx as nx  # slow to import, and only needed here

    large = scipy.sparse.issparse(adjacency)
    graph = (nx.from_scipy_sparse_array if large else nx.from_numpy_array)(adjacency)
    if names is None:
        return graph
    if len(set(names)) != adjacency.shape[0]:
        raise ProblemError(
            f"names must be {adjacency.shape[0]} different names, one per vertex; there are "
            f"{len(set(names))} different ones."
        )
    return nx.relabel_nodes(graph, dict(enumerate(names)))
