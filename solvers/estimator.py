"""``RobustGraph``: the certified solver as a scikit-learn estimator.

Each column is a vertex and each row is a signal. To compare variations rather than levels, put a
``StandardScaler`` before the estimator.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from solvers.learned.graph import LearnedGraph
from solvers.selection.fitting import (
    build_problem,
    check_options,
    radius_rule,
    solve_stated,
    warn_if_uncovered,
)
from solvers.selection.radius import choose
from solvers.selection.signals import Signals
from solvers.selection.stability import edge_shares
from wdro_cvx import AmbiguitySet, DataError, EdgeBounds, Status
from wdro_cvx.judging.edges import EdgeBrackets
from wdro_cvx.validation import Array, finite_array

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from solvers.learned.drawing import Axes


class RobustGraph(BaseEstimator):  # type: ignore[misc]  # untyped
    """The graph with the least worst-case risk over an ambiguity set around the data.

    Parameters
    ----------
    radius : float ≥ 0, "auto", "prediction", "bootstrap", "reliability" or "cv"
        The radius of the set in ``unit``, squared for a moment ball; 0 trusts the data. A rule
        chooses it from the data; see :func:`solvers.selection.radius.choose`. ``"auto"`` means
        prediction, or the bootstrap if ``neighbours`` is given, which chooses eta.
    eta : float > 0 or "auto"
        The weight of ``‖L‖²`` in the squared ``unit``. Larger values give more edges with more even
        weights. ``"auto"`` takes the value whose graph predicts held-out signals best. For the
        log-degree prior, eta is the root of ``alpha·beta``.
    ambiguity : str or AmbiguitySet
        The name of a set, such as "wasserstein", "gaussian", "moment". For other parameters, pass a
        set with radius 0, such as ``MomentBall(0.0, p=1.0)``; it gets the radius ``radius``.
    tol : float > 0
        The relative gap between value and lower bound at which the solver stops.
    unit : "auto" or float > 0
        The signals are divided by this number. ``"auto"`` is the root mean square of the centred
        signals, so nothing depends on the unit of measurement; 1 leaves the signals unchanged.
    bounds : EdgeBounds, optional
        Bounds on the edge weights; vertices may be given by column names.
    prior : "frobenius" or "log-degree"
        The cost of a graph without data: the paper's ``eta·‖L‖²``, or the model of Kalofolias, in
        which every vertex keeps an edge.
    neighbours : float, optional
        How many neighbours a vertex should have on average. This chooses eta; see
        :func:`solvers.solve_for_neighbours`.
    block : int
        The length of the runs of rows that resampling draws; use more than 1 for time series.
    random_state : int, RandomState or None
        The seed for resampling.
    progress : bool
        Show the candidates being tried, and the closing gap of a large graph, on standard error.

    Attributes
    ----------
    laplacian_ : array (d, d), or sparse array for more than 2000 vertices
        Its trace is d, unless the log-degree prior has ``bounds``.
    adjacency_ : array (d, d), or sparse array for more than 2000 vertices
        The edge weights, without those below ``wdro_cvx.metrics.EDGE_THRESHOLD``.
    radius_, eta_, unit_ : float
        The values that were used.
    ambiguity_ : AmbiguitySet
        The set that was used, with its radius.
    solution_ : Solution
    problem_ : GraphProblem
        The solved problem; :func:`wdro_cvx.judge` takes it, ``laplacian_`` and ``certificate_``.
    value_, bound_, gap_ : float
        The optimum lies between ``bound_`` and ``value_``; ``gap_`` is their relative distance.
    certificate_ : Certificate
        The evidence for the bound, which :func:`wdro_cvx.judge` verifies.
    status_ : Status
    moved_ : float
        The relative change that makes the second moment valid despite missing values; else 0.
    edges_ : DataFrame
        The edges by weight, with ``source``, ``target``, ``weight`` and ``certain``: whether the
        optimal graph provably has the edge.
    brackets_ : EdgeBrackets
        Lower and upper bounds on every edge weight of the optimal graph; they show which edges are
        present, absent or undecided.
    graph_ : LearnedGraph
        All of this in one object, including the judge's verdict.
    n_features_in_ : int
        The number of vertices.
    feature_names_in_ : array (d,)
        Their names, if the columns have any.

    Examples
    --------
    >>> import pandas as pd
    >>> from solvers import RobustGraph
    >>> X = pd.DataFrame(
    ...     [[1.0, 0.9, -1.0, -0.8], [-0.8, -1.0, 0.9, 1.1], [0.5, 0.4, -0.6, -0.5]],
    ...     columns=["Oslo", "Bergen", "Rome", "Bari"],
    ... )
    >>> graph = RobustGraph(radius=0.1, eta=0.1).fit(X)
    >>> graph.edges_[["source", "target"]].to_string(index=False, header=False).split()
    ['Oslo', 'Bergen', 'Rome', 'Bari']
    """

    def __init__(
        self,
        radius: float | str = "auto",
        eta: float | str = 0.3,
        ambiguity: str | AmbiguitySet = "wasserstein",
        tol: float = 1e-6,
        *,
        unit: float | str = "auto",
        bounds: EdgeBounds | None = None,
        prior: str = "frobenius",
        neighbours: float | None = None,
        block: int = 1,
        random_state: int | np.random.RandomState | None = 0,
        progress: bool = False,
    ) -> None:
        self.radius = radius
        self.eta = eta
        self.ambiguity = ambiguity
        self.tol = tol
        self.unit = unit
        self.bounds = bounds
        self.prior = prior
        self.neighbours = neighbours
        self.block = block
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the graph.

        Parameters
        ----------
        X : array or data frame (N, d)
            Missing values are NaN.
        y : ignored
        sample_weight : array (N,), optional
            The weight of every signal.
        """
        kind = check_options(self.radius, self.eta, self.ambiguity, self.prior, self.neighbours)
        signals = self._signals(X, sample_weight, reset=True)
        signals, self.unit_ = signals.in_unit(self.unit)
        if not signals.complete:
            kind = kind.for_overlaps(signals.overlaps)
        nominal, self.moved_ = signals.nominal()
        build = partial(build_problem, kind, self.prior, self.bounds)
        chosen = choose(
            signals, kind, radius_rule(self.radius, self.neighbours), self.eta, build,
            block=self.block, seed=self.random_state, progress=self.progress,
        )  # fmt: skip
        if self.radius == "bootstrap":
            warn_if_uncovered(signals, nominal, kind, self.block)
        self.problem_, answer = solve_stated(
            build(nominal, chosen.radius, chosen.eta), self.tol, self.radius, self.neighbours,
            self.progress,
        )  # fmt: skip
        if answer.status is not Status.SOLVED:
            warnings.warn(
                f"The solver stopped at a relative gap of {answer.gap:.1e} "
                f"({answer.status.value}); tol is {self.tol:g}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.solution_, self.status_ = answer, answer.status
        self.graph_ = LearnedGraph(self.problem_, answer, signals.names, len(signals), self.unit_)
        self.ambiguity_ = self.problem_.ambiguity
        self.radius_, self.eta_ = self.graph_.radius, self.graph_.eta
        self.laplacian_, self.adjacency_ = answer.laplacian, self.graph_.adjacency
        self.value_, self.bound_, self.gap_ = answer.value, answer.bound, answer.gap
        self.certificate_ = answer.certificate
        return self

    def score(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return how well neighbours predict each other on X: at most 1; 0 if all are neighbours.

        Every entry of a signal is predicted by the weighted mean over the vertex's neighbours. The
        score is one minus the squared error, relative to that of the plain mean over all other
        vertices. The plain mean also predicts isolated vertices.

        The negative risk would be no valid score: it contains ``eta`` and prefers the smallest.
        This score depends only on the graph, so it compares any ``radius``, ``eta``, ``ambiguity``.

        Parameters
        ----------
        X : array or data frame (N, d)
            Missing values are NaN.
        y : ignored
        sample_weight : array (N,), optional
            The weight of every signal.
        """
        check_is_fitted(self)
        return self._signals(X, sample_weight, reset=False).prediction(self.adjacency_)

    @property
    def brackets_(self) -> EdgeBrackets:
        """The judge's lower and upper bounds on every edge weight of the optimal graph."""
        return self._graph().verdict.edges

    @property
    def edges_(self) -> pd.DataFrame:
        """The edges by weight, and whether the optimal graph provably has them."""
        return self._graph().edges

    def to_networkx(self) -> nx.Graph:
        """Return a networkx graph with column names and weights."""
        return self._graph().to_networkx()

    def plot(self, axes: Axes | None = None, places: ArrayLike | None = None) -> Axes:
        """Draw the graph; width shows weight, and edges that are not certain are dashed.

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

    def stability(
        self, X: ArrayLike, resamples: int = 50, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Return the share of refits to resampled signals in which each edge appears (d, d).

        The share shows how much an edge depends on which signals happened to be observed. It is not
        the probability that the edge is true, and need not rank edges better than weights do.

        Parameters
        ----------
        X : array or data frame (N, d)
            The signals of ``fit``.
        resamples : int
        sample_weight : array (N,), optional
        """
        graph = self._graph()
        signals = self._signals(X, sample_weight, reset=False).divided(graph.unit)
        return edge_shares(
            signals, graph.problem, graph.solution, resamples, self.block, self.random_state
        )

    def _graph(self) -> LearnedGraph:
        check_is_fitted(self)
        return self.graph_

    def __sklearn_tags__(self) -> Any:
        """Return tags that allow missing values."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _signals(self, X: ArrayLike, weights: ArrayLike | None, *, reset: bool) -> Signals:
        """Return a checked table; scikit-learn's errors are raised as DataError."""
        try:
            table = validate_data(
                self, X, dtype=np.float64, ensure_min_features=2 if reset else 1, reset=reset,
                ensure_all_finite="allow-nan",
            )  # fmt: skip
        except ValueError as error:
            raise DataError(str(error)) from None
        names = getattr(self, "feature_names_in_", None)
        if names is not None and len(set(names)) < len(names):  # older scikit-learn allows it
            raise DataError("X must have unique column names; rename those that occur twice.")
        counts = None if weights is None else finite_array("sample_weight", weights, 1)
        return Signals(table, counts, None if names is None else tuple(names))
