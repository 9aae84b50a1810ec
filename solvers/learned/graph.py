"""What a fitted estimator offers beside its arrays: edges with certainty, stability, pictures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike
from scipy import sparse

from solvers.learned.drawing import draw_graph, draw_path
from solvers.learned.edge_table import edge_table
from solvers.selection.bootstrap import Seed
from solvers.selection.signals import Signals
from solvers.selection.stability import edge_shares
from wdro_cvx import GraphProblem, Solution, judge
from wdro_cvx.judging.edges import EdgeBrackets
from wdro_cvx.solution import network
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    from matplotlib.axes import Axes


class LearnedGraph(ABC):
    """The part of an estimator that looks at the graph it has learned."""

    adjacency_: Array | sparse.csr_array
    problem_: GraphProblem
    solution_: Solution
    unit_: float
    block: int
    random_state: Seed
    _brackets: EdgeBrackets | None

    @abstractmethod
    def _signals(self, X: ArrayLike, weights: ArrayLike | None, *, reset: bool) -> Signals:
        """Check a table."""

    def stability(
        self, X: ArrayLike, resamples: int = 50, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Return the share of refits to resampled signals in which an edge appears (d, d).

        It tells how much the edge depends on which signals happened to be observed. It is not the
        probability that the edge is true, and need not rank edges better than their weights do.

        Parameters
        ----------
        X : array or data frame (N, d)
            The signals of ``fit``.
        resamples : int
        sample_weight : array (N,), optional
        """
        self._check_fitted()
        signals = self._signals(X, sample_weight, reset=False).divided(self.unit_)
        return edge_shares(
            signals, self.problem_, self.solution_, resamples, self.block, self.random_state
        )

    @property
    def brackets_(self) -> EdgeBrackets:
        """Between which weights every edge of the optimal graph lies, by the judge."""
        self._check_fitted()
        if self._brackets is None:
            self._brackets = judge(self.problem_, self.solution_).edges
        return self._brackets

    @property
    def edges_(self) -> pd.DataFrame:
        """The edges by weight, and whether the optimal graph has them for certain."""
        self._check_fitted()
        return edge_table(self.adjacency_, self.brackets_, self._names())

    def to_networkx(self) -> nx.Graph:
        """Return the graph, its vertices under the names of the columns, its edges with weights."""
        self._check_fitted()
        return network(self.adjacency_, self._names())

    def plot(self, axes: Axes | None = None, places: ArrayLike | None = None) -> Axes:
        """Draw the graph: width by weight; edges that are not certain are dashed.

        Parameters
        ----------
        axes : matplotlib axes, optional
        places : array (d, 2), optional
            Where the vertices are, x and y; found by the forces of the edges if not given.
        """
        self._check_fitted()
        return draw_graph(self.adjacency_, self.brackets_, self._names(), axes, places)

    def plot_path(self, radii: Sequence[float] | None = None, axes: Axes | None = None) -> Axes:
        """Draw the weights of the edges along the radius, the learned one marked.

        Parameters
        ----------
        radii : sequence of float, optional
            Ascending; from a tenth of the learned one to ten times as much if not given.
        axes : matplotlib axes, optional
        """
        self._check_fitted()
        return draw_path(self.problem_, radii, self._names(), axes)

    def _names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _check_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
