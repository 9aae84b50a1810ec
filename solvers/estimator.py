"""``RobustGraph``: the certified solver as a scikit-learn estimator.

Each column is a vertex and each row is a signal. What is certified is the solve; which of its edges
are selected is estimated (:mod:`solvers.selection.support`).
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from solvers.learned.edge_table import labelled
from solvers.learned.graph import LearnedGraph
from solvers.learned.imputation import impute
from solvers.learned.views import GraphViews
from solvers.selection.bootstrap import generator
from solvers.selection.fitting import (
    build_problem,
    check_options,
    default_eta,
    either_spelling,
    solve_stated,
    warn_if_uncovered,
)
from solvers.selection.prediction import cv_results
from solvers.selection.preparation import Prepared, check_preparation, prepare
from solvers.selection.radius import choose
from solvers.selection.signals import Signals
from solvers.selection.stability import edge_shares
from solvers.selection.support import check_selection, describe_selection, select_edges
from solvers.selection.tables import (
    TableWarning,
    check_frame,
    describe_copies,
    describe_opposites,
    describe_table,
)
from wdro_cvx import AmbiguitySet, DataError, EdgeBounds, Status
from wdro_cvx.validation import Array, finite_array


class RobustGraph(
    GraphViews,
    OneToOneFeatureMixin,  # type: ignore[misc]  # scikit-learn is untyped
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """The graph with the least worst-case risk over an ambiguity set around the data.

    Parameters
    ----------
    radius : float ≥ 0, "auto", "bootstrap" or "prediction"
        The radius of the set in ``unit``, squared for a moment ball; 0 trusts the data. A rule
        chooses it from the data; see :func:`solvers.selection.radius.choose`. ``"auto"`` is quick
        and small: the selected edges are as good as without robustness, and the risk is certified.
    eta : float > 0 or "auto", optional
        The strength of the prior in the squared ``unit``. Larger values give more edges with more
        even weights. For the log-degree prior, eta is the root of ``alpha·beta``. The default is
        0.6 for it, 0.3 for the paper's prior and 0.01 for the likelihood, which may have 0.
        ``"auto"`` takes the value that predicts held-out signals best.
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
    prior : "log-degree", "frobenius" or "likelihood"
        The cost of a graph without data: the model of Kalofolias, in which every vertex keeps an
        edge of the optimal graph; the paper's ``eta·‖L‖²``; or the log-likelihood of a Gaussian
        Markov field, ``eta·‖L‖² - log det(L + 11ᵀ/d)``, for up to 2000 vertices (docs/terms.md).
    neighbours, neighbors : float, optional
        How many neighbours a vertex should have on average. This chooses eta; see
        :func:`solvers.solve_for_neighbours`. All edges of that graph are selected.
    edges : "auto" or "all"
        Which edges of the optimal graph are selected: those up to the cut of their ranking, or all.
    fdr : float, optional
        Select the edges at this false-discovery rate instead, such as 0.1.
    moment : "auto", "clipped" or "sample"
        Whether outlying cells and rows are clipped; ``"auto"`` clips if the lengths of the rows
        vary more than those of Gaussian signals.
    standardise, standardize : "auto" or bool
        True gives columns mean 0 and deviation 1; False compares levels as they are; ``"auto"``
        gives mean 0, and deviation 1 if the columns are in different units.
    absolute : bool
        Join opposites too: columns are reversed such that as many as possible vary alike.
    block : int
        The length of the runs of rows that resampling draws; use more than 1 for time series.
    random_state : int, RandomState or None
        The seed for resampling and for the test of structure.
    time_limit : float
        Seconds after which the final solve stops, with a ``ConvergenceWarning``.
    progress : bool
        Show the candidates being tried, and the closing gap of a large graph, on standard error.

    Attributes
    ----------
    laplacian_ : array (d, d), or sparse array for more than 2000 vertices
        Its trace is d, unless the log-degree prior has ``bounds``. The likelihood has its own
        scale: the Laplacian estimates the precision matrix of the signals in ``unit_``.
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
    support_ : array (d, d) of bool, or sparse array for more than 2000 vertices
        The selected edges.
    edges_ : DataFrame
        The selected edges by weight, with ``source``, ``target``, ``weight``, ``z_score`` and
        ``q_value`` (how clearly the data show the edge), ``stability`` after :meth:`stability`, and
        ``in_optimum``: whether the optimal graph provably has it, which says nothing about the
        truth of the edge.
    structure_ : float
        The score of the test for structure, in standard deviations; above 2 there is some. NaN if
        all edges are selected.
    signs_ : array (d,)
        -1 for columns that ``absolute`` reversed, otherwise 1.
    cv_results_ : dict of arrays
        The candidates of the rule ``"prediction"`` and their scores, if it was used.
    stability_ : DataFrame (d, d), or sparse array for more than 2000 vertices
        The result of the last call of :meth:`stability`.
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
    >>> graph = RobustGraph(edges="all", standardise=False).fit(X)
    >>> graph.edges_[["source", "target"]].head(2).to_string(index=False, header=False).split()
    ['Oslo', 'Bergen', 'Rome', 'Bari']
    """

    def __init__(
        self,
        radius: float | str = "auto",
        eta: float | str | None = None,
        ambiguity: str | AmbiguitySet = "wasserstein",
        tol: float = 1e-6,
        *,
        unit: float | str = "auto",
        bounds: EdgeBounds | None = None,
        prior: str = "log-degree",
        neighbours: float | None = None,
        edges: str = "auto",
        fdr: float | None = None,
        moment: str = "auto",
        standardise: bool | str = "auto",
        absolute: bool = False,
        block: int = 1,
        random_state: int | np.random.RandomState | None = 0,
        time_limit: float = float("inf"),
        progress: bool = False,
        neighbors: float | None = None,
        standardize: bool | str | None = None,
    ) -> None:
        self.radius = radius
        self.eta = eta
        self.ambiguity = ambiguity
        self.tol = tol
        self.unit = unit
        self.bounds = bounds
        self.prior = prior
        self.neighbours = neighbours
        self.edges = edges
        self.fdr = fdr
        self.moment = moment
        self.standardise = standardise
        self.absolute = absolute
        self.block = block
        self.random_state = random_state
        self.time_limit = time_limit
        self.progress = progress
        self.neighbors = neighbors
        self.standardize = standardize

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
        neighbours = either_spelling("neighbours", self.neighbours, self.neighbors, None)
        standardise = either_spelling("standardise", self.standardise, self.standardize, "auto")
        kind = check_options(self.radius, self.eta, self.ambiguity, self.prior, neighbours)
        check_selection(self.edges, self.fdr, neighbours)
        check_preparation(standardise, self.moment, self.absolute)
        given = self._signals(X, sample_weight, reset=True)
        prepared = prepare(given, standardise, self.moment, self.absolute)
        notes = describe_table(given, prepared.spread, standardise)
        notes += describe_copies(prepared.entries)
        self.change_, self.signs_ = prepared.change, np.sign(prepared.change.scale)
        signals, self.unit_ = prepared.signals.in_unit(self.unit)
        if not signals.complete:
            kind = kind.for_overlaps(signals.overlaps)
        nominal, self.moved_ = signals.nominal()
        build = partial(build_problem, kind, self.prior, self.bounds)
        chosen = choose(
            signals, kind, self.radius, default_eta(self.prior) if self.eta is None else self.eta,
            build, block=self.block, seed=self.random_state, progress=self.progress,
        )  # fmt: skip
        for name in ("cv_results_", "stability_"):  # those of an earlier fit
            self.__dict__.pop(name, None)
        if chosen.tried:
            self.cv_results_ = cv_results(chosen.tried)
        if self.radius == "bootstrap":
            warn_if_uncovered(signals, nominal, kind, self.block)
        self.problem_, answer = solve_stated(
            build(nominal, chosen.radius, chosen.eta), self.tol, self.radius, neighbours,
            self.progress, self.time_limit,
        )  # fmt: skip
        if answer.status is not Status.SOLVED:
            warnings.warn(
                f"The solver stopped at a relative gap of {answer.gap:.1e} "
                f"({answer.status.value}); tol is {self.tol:g}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.solution_, self.status_ = answer, answer.status
        self._select(prepared, notes, neighbours)
        self.ambiguity_ = self.problem_.ambiguity
        self.radius_, self.eta_ = self.graph_.radius, self.graph_.eta
        self.laplacian_, self.adjacency_ = answer.laplacian, self.graph_.adjacency
        self.value_, self.bound_, self.gap_ = answer.value, answer.bound, answer.gap
        self.certificate_ = answer.certificate
        return self

    def _select(self, prepared: Prepared, notes: list[str], neighbours: float | None) -> None:
        """Select edges, and say what is to be said about the table."""
        signals, selection = prepared.signals, None
        if self.edges != "all" and neighbours is None:
            selection = select_edges(
                self.problem_, self.solution_, prepared, self.fdr, generator(self.random_state)
            )
            notes = [*notes, *describe_selection(selection, len(signals))]
            if not self.absolute:
                notes += describe_opposites(prepared.entries)
        for note in notes:
            warnings.warn(note, TableWarning, stacklevel=3)
        self.structure_ = np.nan if selection is None else selection.structure
        self.graph_ = LearnedGraph(
            self.problem_, self.solution_, signals.names, len(signals), self.unit_,
            notes=tuple(notes), selection=selection,
        )  # fmt: skip
        self.support_ = self.graph_.support

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
        return self._prepared(X, sample_weight).prediction(self.adjacency_)

    def transform(self, X: ArrayLike) -> Array:
        """Return X with missing values filled in: the weighted mean of the neighbours.

        Observed values do not change. All edges of the optimal graph count, also those that were
        not selected.

        Parameters
        ----------
        X : array or data frame (N, d)
            Missing values are NaN.
        """
        check_is_fitted(self)
        signals = self._signals(X, None, reset=False)
        filled = self.change_.undo(impute(self.change_.apply(signals.table), self.laplacian_))
        return np.where(signals.present, signals.table, filled)

    def stability(
        self, X: ArrayLike, resamples: int = 50, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Return the share of refits to resampled signals in which each edge appears (d, d).

        The share shows how much an edge of the optimal graph depends on which signals happened to
        be observed. It is not the probability that the edge is true, and need not rank edges better
        than weights do. ``stability_`` keeps the shares with labels, and ``edges_`` shows them.

        Parameters
        ----------
        X : array or data frame (N, d)
            The signals of ``fit``.
        resamples : int
        sample_weight : array (N,), optional
        """
        graph = self._graph()
        signals = self._signals(X, sample_weight, reset=False)
        standardise = either_spelling("standardise", self.standardise, self.standardize, "auto")
        signals = prepare(signals, standardise, self.moment, self.absolute).signals
        shares = edge_shares(
            signals.divided(graph.unit), graph.problem, graph.solution, resamples, self.block,
            self.random_state,
        )  # fmt: skip
        self.graph_ = replace(graph, stability=shares)
        self.stability_ = shares if sparse.issparse(shares) else labelled(shares, graph.names)
        return shares

    def __sklearn_tags__(self) -> Any:
        """Return tags that allow missing values."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _prepared(self, X: ArrayLike, weights: ArrayLike | None) -> Signals:
        """Return a checked table in the units of the fit."""
        signals = self._signals(X, weights, reset=False)
        return replace(signals, table=self.change_.apply(signals.table))

    def _signals(self, X: ArrayLike, weights: ArrayLike | None, *, reset: bool) -> Signals:
        """Return a checked table; scikit-learn's errors are raised as DataError."""
        check_frame(X)
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
        # A data frame is stored by columns; sums in that order differ in their last digits.
        table = np.ascontiguousarray(table)
        return Signals(table, counts, None if names is None else tuple(names))
