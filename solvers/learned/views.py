"""What an estimator shows of its graph: tables, pictures, and graphs of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from solvers.learned.exports import to_igraph, to_pyg, to_pygsp
from solvers.learned.graph import LearnedGraph
from wdro_cvx.judging.edges import EdgeBrackets

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from solvers.learned.drawing import Axes


class GraphViews:
    """Views of ``graph_``, which ``fit`` sets."""

    graph_: LearnedGraph

    @property
    def brackets_(self) -> EdgeBrackets:
        """The judge's lower and upper bounds on every edge weight of the optimal graph."""
        return self._graph().verdict.edges

    @property
    def edges_(self) -> pd.DataFrame:
        """The selected edges by weight, with what data and certificate say about them."""
        return self._graph().edges

    def to_networkx(self) -> nx.Graph:
        """Return a networkx graph of the selected edges, with column names and weights."""
        return self._graph().to_networkx()

    def to_igraph(self) -> Any:
        """Return an igraph graph of the selected edges, with column names and weights."""
        return to_igraph(self._graph().selected, self._graph().names)

    def to_pyg(self) -> Any:
        """Return a PyTorch Geometric graph of the selected edges, in both directions."""
        return to_pyg(self._graph().selected)

    def to_pygsp(self) -> Any:
        """Return a PyGSP graph of the selected edges."""
        return to_pygsp(self._graph().selected)

    def plot(self, axes: Axes | None = None, places: ArrayLike | None = None) -> Axes:
        """Draw the selected edges; width shows weight.

        Dashed edges are not proved to be in the optimal graph.

        Parameters
        ----------
        axes : matplotlib axes, optional
        places : array (d, 2), optional
            The x and y coordinates of the vertices; by default a force-directed layout.
        """
        return self._graph().plot(axes, places)

    def plot_path(self, radii: Sequence[float] | None = None, axes: Axes | None = None) -> Axes:
        """Draw the edge weights as functions of the radius, and mark the learned radius.

        Parameters
        ----------
        radii : sequence of float, optional
            Ascending; by default from a tenth of the learned radius to ten times it.
        axes : matplotlib axes, optional
        """
        return self._graph().plot_path(radii, axes)

    def save_html(self, path: str | Path, places: ArrayLike | None = None) -> None:
        """Write the graph as one HTML file that needs no network and checks the certificate itself.

        It has graphs for other radii and etas too, which takes up to twenty seconds.

        Parameters
        ----------
        path : str or Path
        places : array (d, 2), optional
            The x and y coordinates of the vertices; by default a layout.

        Examples
        --------
        >>> import numpy as np, tempfile
        >>> from solvers import RobustGraph
        >>> X = np.random.default_rng(0).standard_normal((20, 4))
        >>> graph = RobustGraph(0.3, edges="all").fit(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     graph.save_html(f"{folder}/graph.html")
        """
        self._graph().save_html(path, places)

    def _graph(self) -> LearnedGraph:
        from sklearn.utils.validation import check_is_fitted  # slow to import

        check_is_fitted(self)
        return self.graph_
