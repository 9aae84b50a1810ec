"""``RobustGraph``: the certified solver as a scikit-learn estimator.

Each column is a vertex and each row is a signal. The solution of the optimisation problem is
certified. The selection of its edges is an estimate (:mod:`solvers.selection.support`).
"""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from solvers.learned.evidence import describe_evidence
from solvers.learned.graph import LearnedGraph
from solvers.learned.uses import GraphUses
from solvers.selection.codes import describe_codes
from solvers.selection.fitting import (
    build_problem,
    check_options,
    default_eta,
    either_spelling,
    solve_stated,
    warn_if_uncovered,
)
from solvers.selection.parallel import check_jobs
from solvers.selection.prediction import cv_results
from solvers.selection.preparation import Prepared, check_preparation, prepare
from solvers.selection.radius import choose
from solvers.selection.resampling import generator
from solvers.selection.signals import Signals
from solvers.selection.structure import sees_no_opposites
from solvers.selection.support import check_selection, describe_selection, select_edges
from solvers.selection.tables import (
    TableWarning,
    describe_copies,
    describe_moved,
    describe_opposites,
    describe_scaling,
    describe_table,
    say_clipped,
)
from wdro_cvx import AmbiguitySet, DataError, EdgeBounds, Status

_LOG = logging.getLogger(__name__)  # the stages of a fit


class RobustGraph(
    GraphUses,
    BaseEstimator,  # type: ignore[misc]  # scikit-learn is untyped
):
    """Estimator of the graph with the least worst-case risk over an ambiguity set around the data.

    Parameters
    ----------
    radius : float ≥ 0, "auto", "bootstrap" or "prediction"
        The radius of the set in ``unit``, squared for a moment or pair ball; a plain number for
        sets that reweigh signals. 0 means no robustness. A rule chooses it from the data; see
        :func:`solvers.selection.radius.choose`. ``"auto"`` is quick to compute and small: the
        selected edges are as good as without robustness, and the risk is certified.
    eta : float > 0 or "auto", optional
        The strength of the prior in the squared ``unit``. Larger values give more edges with more
        even weights. For the log-degree prior, eta is the square root of ``alpha·beta``. The
        default is 0.6 for it, 0.3 for the paper's prior and 0.01 for the likelihood, where 0 is
        allowed too. ``"auto"`` takes the value that predicts held-out signals best.
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
        Select the edges at this false-discovery rate instead, such as 0.1; for up to 1000 columns.
    moment : "auto", "clipped" or "sample"
        Whether outlying cells and rows are clipped; ``"auto"`` clips if the lengths of the rows
        vary more than those of Gaussian signals.
    standardise, standardize : "auto" or bool
        True gives columns mean 0 and deviation 1; False compares levels as they are; ``"auto"``
        gives mean 0, and deviation 1 if the columns vary as unequally as in different units.
    absolute : bool
        Join opposites too: columns are reversed such that as many as possible vary alike.
    block : int
        The length of the runs of rows that resampling draws; use more than 1 for time series.
        z-scores and q-values do not use it.
    random_state : int, RandomState or None
        The seed for resampling and for the test of structure.
    n_jobs : int, optional
        The number of processes for folds, bootstrap and :meth:`stability`; -1 is one per core. It
        does not change the result.
    time_limit : float
        Seconds after which the final solve, or the search for ``neighbours``, stops with a
        ``ConvergenceWarning``.
    progress : bool
        Show the candidates being tried, and the closing gap of a large graph, on standard error.

    Attributes
    ----------
    laplacian_ : array (d, d), or sparse array for more than 2000 vertices
        The optimal graph; minus its entry (i, j) is the weight of the edge between i and j. Its
        trace is d, unless the log-degree prior has ``bounds``. The likelihood has its own scale:
        the Laplacian estimates the precision matrix of the signals in ``unit_``.
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
        ``q_value`` (how clearly the data show the edge; absent if all edges are selected),
        ``stability`` after :meth:`stability`, and ``in_optimum``: whether the optimal graph
        provably has it, which says nothing about the truth of the edge.
    structure_ : float
        The score of the test for structure, in standard deviations. The table has structure if the
        score is above 2. NaN if all edges are selected.
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
        All of this in one object, including the judge's verdict. Its ``notes`` are the warnings
        about the table, and remarks on edges that are less certain than they seem.
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
        n_jobs: int | None = None,
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
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.progress = progress
        self.neighbors = neighbors
        self.standardize = standardize

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the graph, select its edges, and return the estimator.

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
        check_jobs(self.n_jobs)
        given = self._signals(X, sample_weight, reset=True)
        if len(given) < 2 and isinstance(self.radius, str):
            raise DataError(
                "X has 1 sample; learning a graph needs 2 or more. For the graph of one signal, "
                "give the radius as a number."
            )
        prepared = prepare(given, standardise, self.moment, self.absolute)
        notes = describe_codes(given.table) + describe_table(given, prepared.spread, standardise)
        notes += describe_copies(prepared.entries)
        remarks = describe_scaling(given, prepared, standardise)
        self.change_, self.signs_ = prepared.change, np.sign(prepared.change.scale)
        signals, self.unit_ = prepared.signals.in_unit(self.unit)
        if not signals.complete:
            kind = kind.for_overlaps(signals.overlaps)
        nominal, self.moved_ = signals.nominal()
        build = partial(build_problem, kind, self.prior, self.bounds)
        _LOG.info("choosing radius and eta" if self.eta == "auto" else "choosing the radius")
        usual = default_eta(self.prior)
        with build(nominal, kind.radius, usual).explained():  # a set that does not fit the columns
            chosen = choose(
                signals, kind, self.radius, usual if self.eta is None else self.eta, build,
                block=self.block, seed=self.random_state, progress=self.progress,
                n_jobs=self.n_jobs,
            )  # fmt: skip
        for name in ("cv_results_", "stability_"):  # those of an earlier fit
            self.__dict__.pop(name, None)
        if chosen.tried:
            self.cv_results_ = cv_results(chosen.tried)
        if self.radius == "bootstrap":
            warn_if_uncovered(signals, nominal, kind, self.block)
        _LOG.info("solving")
        self.problem_, answer = solve_stated(
            build(nominal, chosen.radius, chosen.eta), self.tol, self.radius, neighbours,
            self.progress, self.time_limit,
        )  # fmt: skip
        if answer.status is not Status.SOLVED:
            warnings.warn(
                f"The solver stopped at a relative gap of {answer.gap:.1e} "
                f"({answer.status.value}); tol is {self.tol:g}. The gap is proved nevertheless. "
                "Raise tol, or time_limit if there is one.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.solution_, self.status_ = answer, answer.status
        self._select(given, prepared, notes, remarks, neighbours)
        self.ambiguity_ = self.problem_.ambiguity
        self.radius_, self.eta_ = self.graph_.radius, self.graph_.eta
        self.laplacian_, self.adjacency_ = answer.laplacian, self.graph_.adjacency
        self.value_, self.bound_, self.gap_ = answer.value, answer.bound, answer.gap
        self.certificate_ = answer.certificate
        return self

    def _select(
        self,
        given: Signals,
        prepared: Prepared,
        notes: list[str],
        remarks: list[str],
        neighbours: float | None,
    ) -> None:
        """Select edges, and issue the warnings about the table."""
        signals, selection = prepared.signals, None
        if self.edges != "all" and neighbours is None:
            _LOG.info("selecting edges")
            selection = select_edges(
                self.problem_, self.solution_, prepared, self.fdr, generator(self.random_state)
            )
            notes = [*notes, *describe_selection(selection, len(signals))]
            if not self.absolute and (selection.found or sees_no_opposites(signals.d)):
                notes += describe_opposites(prepared.entries)
        for note in notes:
            warnings.warn(note, TableWarning, stacklevel=3)
        self.structure_ = np.nan if selection is None else selection.structure
        graph = LearnedGraph(
            self.problem_, self.solution_, signals.names, len(signals), self.unit_,
            selection=selection, prepared=prepared.description + say_clipped(given, prepared),
        )  # fmt: skip
        remarks = remarks + describe_moved(self.moved_) + describe_evidence(graph)
        self.graph_ = replace(graph, notes=(*notes, *remarks))
        self.support_ = self.graph_.support

    def __sklearn_tags__(self) -> Any:
        """Return tags that allow missing values."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
