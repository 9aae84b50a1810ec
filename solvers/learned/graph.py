"""``LearnedGraph``: a solved problem with names, edges, proofs and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from solvers.learned.drawing import CROWDED, draw_graph, draw_path, new_axes, spread_out
from solvers.learned.edge_table import edge_arrays, edge_table, optimal_edges
from solvers.selection.support import Selection
from wdro_cvx import DataError, GraphProblem, LogDegree, Solution, Verdict, judge
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.solution import above, network
from wdro_cvx.validation import Array, finite_array

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from solvers.learned.drawing import Axes

_SOLVED = 1e-6


@dataclass(frozen=True, eq=False)
class LearnedGraph:
    """A learned graph together with the problem that it solves.

    Attributes
    ----------
    problem : GraphProblem
    solution : Solution
    names : tuple of str or None
        The names of the vertices, if any.
    samples : int
        The number of signals.
    unit : float
        The number by which the signals were divided.
    threshold : float
        Edges with less weight are omitted.
    stability : array or sparse array (d, d), or None
        For every edge, the share of refits to resampled signals that contain it.
    notes : tuple of str
        Remarks on the table, on missing values, on how radius and eta were chosen, and on edges
        that are less certain than they seem.
    selection : Selection or None
        The selected edges; None selects all.
    held_out : float, str or None
        The score of such graphs on signals that they were not learned from, if it was computed; or
        why there is none.
    prepared : str
        How the columns were prepared, ``"centred"``, ``"standardised"`` or ``"raw"``, and whether
        outliers were clipped.

    Examples
    --------
    >>> import numpy as np
    >>> from solvers import RobustGraph
    >>> X = np.random.default_rng(0).standard_normal((20, 4))
    >>> graph = RobustGraph(0.3, edges="all").fit(X).graph_
    >>> graph.solved
    True
    """

    problem: GraphProblem
    solution: Solution
    names: tuple[str, ...] | None = None
    samples: int = 0
    unit: float = 1.0
    threshold: float = EDGE_THRESHOLD
    stability: Array | sparse.csr_array | None = None
    notes: tuple[str, ...] = ()
    selection: Selection | None = None
    held_out: float | str | None = None
    prepared: str = ""

    @property
    def laplacian(self) -> Array | sparse.csr_array:
        """The Laplacian; a sparse array if there are many vertices."""
        return self.solution.laplacian

    @property
    def radius(self) -> float:
        """The radius, in ``unit``."""
        return self.problem.ambiguity.radius

    @property
    def eta(self) -> float:
        """Eta in the squared ``unit``; for the log-degree prior, the root of ``alpha·beta``."""
        prior = self.problem.prior
        if isinstance(prior, LogDegree):
            return float(np.sqrt(prior.alpha * prior.beta))
        return prior.beta

    @cached_property
    def verdict(self) -> Verdict:
        """The judge's verdict on the graph."""
        return judge(self.problem, self.solution)

    @property
    def gap(self) -> float:
        """The relative gap between value and bound, computed by the judge."""
        return self.verdict.gap

    @property
    def solved(self) -> bool:
        """Whether the judge finds the graph optimal to a relative gap of 1e-6."""
        return self.verdict.solved(_SOLVED)

    @cached_property
    def adjacency(self) -> Array | sparse.csr_array:
        """The edge weights, without those below the threshold."""
        return above(self.solution.adjacency, self.threshold)

    @cached_property
    def support(self) -> NDArray[np.bool_] | sparse.csr_array:
        """Which pairs are selected edges."""
        if self.selection is None:
            return self.adjacency > 0.0
        chosen = self.selection.support
        if isinstance(self.adjacency, np.ndarray):
            return np.asarray(chosen.toarray() & (self.adjacency > 0.0))
        return sparse.csr_array(chosen.multiply(self.adjacency > 0.0)).astype(bool)

    @cached_property
    def selected(self) -> Array | sparse.csr_array:
        """The weights of the selected edges."""
        if isinstance(self.adjacency, np.ndarray):
            return np.where(self.support, self.adjacency, 0.0)
        return sparse.csr_array(self.adjacency.multiply(self.support))

    @property
    def in_optimum(self) -> NDArray[np.bool_]:
        """Whether the optimal graph provably has each selected edge, ordered as `edge_arrays`."""
        heads, tails, _ = edge_arrays(self.selected)
        threshold = self.threshold or EDGE_THRESHOLD
        return optimal_edges(self.problem.d, self.verdict.edges, heads, tails, threshold)

    @cached_property
    def edges(self) -> pd.DataFrame:
        """The selected edges by weight, with what data and certificate say about them."""
        evidence = None if self.selection is None else self._evidence(self.selection)
        return edge_table(self.selected, self.in_optimum, self.names, self.stability, evidence)

    @property
    def q_values(self) -> Array:
        """The q-values of the selected edges, ordered as `edge_arrays`; empty without a test."""
        return np.zeros(0) if self.selection is None else self._evidence(self.selection)["q_value"]

    def _evidence(self, selection: Selection) -> dict[str, Array]:
        heads, tails, _ = edge_arrays(self.selected)
        listed = selection.heads.astype(np.int64) * selection.d + selection.tails
        order = np.argsort(listed)
        place = order[np.searchsorted(listed[order], heads.astype(np.int64) * selection.d + tails)]
        return {"z_score": selection.z_scores[place], "q_value": selection.q_values[place]}

    @property
    def isolated(self) -> tuple[Any, ...]:
        """The vertices without a selected edge."""
        degrees = np.asarray(self.selected.sum(axis=1)).ravel()
        names = range(self.problem.d) if self.names is None else self.names
        return tuple(names[vertex] for vertex in np.flatnonzero(degrees == 0.0))

    def to_networkx(self) -> nx.Graph:
        """Return a networkx graph of the selected edges, with vertex names and weights."""
        return network(self.selected, self.names)

    def plot(self, axes: Axes | None = None, places: ArrayLike | None = None) -> Axes:
        """Draw the graph; see :meth:`RobustGraph.plot`."""
        d = self.problem.d
        points = spread_out(self.selected) if places is None else self._points(places)
        if axes is None:
            axes = new_axes((9.0, 8.0) if d > CROWDED else (6.4, 5.6))
        unsure = ~self.in_optimum
        draw_graph(axes, self.selected, points, self.names, unsure=unsure)
        note = f", {np.count_nonzero(unsure)} perhaps not in the optimum" if unsure.any() else ""
        axes.set_title(f"{d} vertices, {unsure.size} edges{note}")
        axes.set_axis_off()
        return axes

    def plot_path(self, radii: Sequence[float] | None = None, axes: Axes | None = None) -> Axes:
        """Draw the edge weights as functions of the radius; see :meth:`RobustGraph.plot_path`."""
        return draw_path(self.problem, radii, self.names, axes)

    def save_html(self, path: str | Path, places: ArrayLike | None = None) -> None:
        """Write the graph as a page; see :meth:`RobustGraph.save_html`."""
        from solvers.learned.html import graph_html

        points = None if places is None else self._points(places)
        Path(path).write_text(graph_html(self, Path(path).stem, points), encoding="utf-8")

    def _repr_html_(self) -> str:
        """Return the page, for notebooks."""
        from solvers.learned.html import inline_html

        return inline_html(self)

    def _points(self, places: ArrayLike) -> Array:
        points = finite_array("places", places, 2)
        if points.shape != (self.problem.d, 2):
            raise DataError(
                f"places must have shape {(self.problem.d, 2)}, two coordinates per vertex; it has "
                f"{points.shape}."
            )
        return points
