"""``RobustGraph``: the certified solver as a scikit-learn estimator.

One column is one vertex and one row is one signal. To compare variations rather than levels, put a
``StandardScaler`` before it.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from solvers.learned.graph import LearnedGraph
from solvers.selection.bootstrap import has_law
from solvers.selection.radius import ChoiceWarning, choose
from solvers.selection.signals import Signals
from solvers.selection.target_degree import (
    of_mean_degree_one,
    solve_for_neighbours,
    with_smaller_radius,
)
from solvers.solve import solve
from wdro_cvx import (
    AmbiguitySet,
    DataError,
    EdgeBounds,
    GraphProblem,
    LogDegree,
    Nominal,
    ProblemError,
    Solution,
    Status,
)
from wdro_cvx.ambiguity import Transport, ambiguity_names, named_ambiguity
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.solution import SPARSE_FROM, above
from wdro_cvx.validation import finite_array, real_number

PRIORS = ("frobenius", "log-degree")


class RobustGraph(LearnedGraph, BaseEstimator):  # type: ignore[misc]  # untyped
    """The graph with the least worst-case risk over an ambiguity set around the data.

    Parameters
    ----------
    radius : float ≥ 0, "auto", "prediction", "bootstrap", "reliability" or "cv"
        The radius of the set in ``unit``, squared for a moment ball; 0 trusts the data. A rule
        chooses it from the data, see :func:`solvers.selection.radius.choose`; ``"auto"`` is
        prediction, or the bootstrap where ``neighbours`` leaves no eta to predict with.
    eta : float > 0 or "auto"
        The weight of ``‖L‖²`` in the squared ``unit``; larger values give more and more even edges.
        ``"auto"`` takes the one whose neighbours predict each other best on held-out signals. Of
        the log-degree prior it is the root of ``alpha·beta``.
    ambiguity : str or AmbiguitySet
        The name of a set, such as "wasserstein", "gaussian", "moment". One with other parameters is
        given with radius 0, as ``MomentBall(0.0, p=1.0)``; ``radius`` replaces it.
    tol : float > 0
        The relative gap between value and lower bound at which the solver stops.
    unit : "auto" or float > 0
        What the signals are divided by. ``"auto"`` is their root mean square, less the mean of
        every signal, so that nothing depends on the unit of measurement; 1 takes them as they are.
    bounds : EdgeBounds, optional
        What is known of the edges; their vertices may have the names of the columns.
    prior : "frobenius" or "log-degree"
        What a graph costs by itself: the paper's ``eta·‖L‖²``, or the model of Kalofolias, under
        which every vertex keeps an edge.
    neighbours : float, optional
        How many neighbours a vertex should have on average: chooses eta, see
        :func:`solvers.solve_for_neighbours`.
    block : int
        The length of the runs of rows that resampling draws; more than 1 for time series.
    random_state : int, RandomState or None
        For resampling.
    progress : bool
        Show which candidates are tried, and how the gap of a large graph closes, on standard error.

    Attributes
    ----------
    laplacian_ : array (d, d), or sparse array of more than 2000 vertices
        Its trace is d, unless the log-degree prior has ``bounds``.
    adjacency_ : array (d, d), or sparse array of more than 2000 vertices
        The edge weights; those below ``wdro_cvx.metrics.EDGE_THRESHOLD`` are left out.
    radius_, eta_, unit_ : float
        What was used.
    ambiguity_ : AmbiguitySet
        The set that was used, with its radius.
    solution_ : Solution
    problem_ : GraphProblem
        What was solved; :func:`wdro_cvx.judge` takes it with ``laplacian_`` and ``certificate_``.
    value_, bound_, gap_ : float
        The optimum lies between ``bound_`` and ``value_``; ``gap_`` is their relative distance.
    certificate_ : Certificate
        The evidence for the bound, which :func:`wdro_cvx.judge` verifies.
    status_ : Status
    moved_ : float
        How far missing values moved the second moment to be one, relative to it; 0 without any.
    edges_ : DataFrame
        The edges by weight, with ``source``, ``target``, ``weight`` and ``certain``: whether the
        optimal graph has the edge for certain.
    brackets_ : EdgeBrackets
        Between which weights every edge of the optimal graph lies: which are present, absent,
        undecided.
    n_features_in_ : int
        The number of vertices.
    feature_names_in_ : array (d,)
        Their names, if the columns have any.
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
            NaN where a value is missing.
        y : ignored
        sample_weight : array (N,), optional
            How much every signal counts.
        """
        for name in ("radius", "eta", "unit"):  # a number, or a word that is looked at later
            if not isinstance(value := getattr(self, name), str):
                real_number(name, value, 0.0, strict=name != "radius")
        kind = self._kind()
        self._check_prior()
        signals = self._signals(X, sample_weight, reset=True)
        self.unit_ = self._unit(signals)
        signals = signals.divided(self.unit_)
        nominal, self.moved_ = signals.nominal()
        if not signals.complete:
            kind = kind.for_overlaps(signals.overlaps)
        build = partial(self._problem, kind)
        chosen = choose(
            signals, kind, self._rule(), self.eta, build,
            block=self.block, seed=self.random_state, progress=self.progress,
        )  # fmt: skip
        structure = kind.structure(nominal) if len(signals) < signals.d else None
        few = isinstance(structure, Transport) and structure.moves_all
        if self.radius == "bootstrap" and few and not has_law(signals, kind, self.block):
            warnings.warn(
                f"{len(signals)} signals of {signals.d} vertices: with fewer signals than vertices "
                "and holes, blocks or very many vertices "
                f"a {type(kind).__name__} of the bootstrap's radius does not contain the truth "
                "with its 95 % (docs/validation.md); ambiguity='moment' does.",
                ChoiceWarning,
                stacklevel=2,
            )
        self.problem_, answer = self._solved(build(nominal, chosen.radius, chosen.eta))
        self.ambiguity_ = self.problem_.ambiguity
        self.radius_, self.eta_ = self.ambiguity_.radius, _strength(self.problem_)
        if answer.status is not Status.SOLVED:
            warnings.warn(
                f"The solver stopped at a relative gap of {answer.gap:.1e} "
                f"({answer.status.value}); tol is {self.tol:g}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.solution_, self._brackets = answer, None
        self.laplacian_ = answer.laplacian
        self.adjacency_ = above(answer.adjacency, EDGE_THRESHOLD)
        self.value_, self.bound_, self.gap_ = answer.value, answer.bound, answer.gap
        self.certificate_ = answer.certificate
        self.status_ = answer.status
        return self

    def score(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return how well neighbours predict each other on X: at most 1; 0 if all are neighbours.

        Every entry of a signal is predicted by the weighted mean over the vertex's neighbours. The
        score is one minus the squared error, relative to that of the plain mean over all other
        vertices; an isolated vertex is predicted by this mean too.

        Minus the risk would not do: it contains ``eta``, and prefers the smallest. This score sees
        the graph alone, so that it compares any ``radius``, ``eta`` and ``ambiguity``.

        Parameters
        ----------
        X : array or data frame (N, d)
            NaN where a value is missing.
        y : ignored
        sample_weight : array (N,), optional
            How much every signal counts.
        """
        check_is_fitted(self)
        return self._signals(X, sample_weight, reset=False).prediction(self.adjacency_)

    def __sklearn_tags__(self) -> Any:
        """Say that values may be missing."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _signals(self, X: ArrayLike, weights: ArrayLike | None, *, reset: bool) -> Signals:
        """Check a table; what scikit-learn finds wrong with it is an error of ours."""
        try:
            table = validate_data(
                self, X, dtype=np.float64, ensure_min_features=2 if reset else 1, reset=reset,
                ensure_all_finite="allow-nan",
            )  # fmt: skip
        except ValueError as error:
            raise DataError(str(error)) from None
        names = getattr(self, "feature_names_in_", None)
        if names is not None and len(set(names)) < len(names):  # older scikit-learns let it pass
            raise DataError("X must have unique column names; rename those that occur twice.")
        counts = None if weights is None else finite_array("sample_weight", weights, 1)
        return Signals(table, counts, None if names is None else tuple(names))

    def _unit(self, signals: Signals) -> float:
        if self.unit == "auto":
            return signals.unit()
        if isinstance(self.unit, str):
            raise ProblemError(f"unit must be 'auto' or a number; it is {self.unit!r}.")
        return real_number("unit", self.unit, 0.0, strict=True, sized=True)

    def _problem(
        self, kind: AmbiguitySet, nominal: Nominal, radius: float, eta: float
    ) -> GraphProblem:
        ball = replace(kind, radius=radius)
        if self.prior == "log-degree":
            return GraphProblem(nominal, ball, prior=LogDegree(eta, eta, self.bounds))
        return GraphProblem(nominal, ball, eta, bounds=self.bounds)

    def _solved(self, problem: GraphProblem) -> tuple[GraphProblem, Solution]:
        """Return the answer, and the problem with the strength and scale that it ended up with."""
        if self.neighbours is not None:
            find = with_smaller_radius if isinstance(self.radius, str) else solve_for_neighbours
            fit = find(problem, self.neighbours, self.tol)
            before, after = problem.ambiguity.radius, fit.problem.ambiguity.radius
            if after < before:
                warnings.warn(
                    f"radius {before:.3g}, chosen by {self._rule()}, leaves more than "
                    f"{float(self.neighbours):g} neighbours whatever eta; it was lowered to "
                    f"{after:.3g}.",
                    ChoiceWarning,
                    stacklevel=3,
                )
            return fit.problem, fit.solution
        # Only large graphs take long enough to look at.
        shown = problem.d > SPARSE_FROM and self.progress
        answer = solve(problem, self.tol, progress=shown)
        finished = answer.status is not Status.INTERRUPTED
        if finished and isinstance(problem.prior, LogDegree) and problem.bounds is None:
            return of_mean_degree_one(problem, answer, self.tol)
        return problem, answer

    def _rule(self) -> float | str:
        if self.radius == "auto":
            return "prediction" if self.neighbours is None else "bootstrap"
        return self.radius

    def _check_prior(self) -> None:
        if not (isinstance(self.prior, str) and self.prior in PRIORS):
            raise ProblemError(f"prior must be one of {', '.join(PRIORS)}; it is {self.prior!r}.")
        if self.prior == "log-degree" and self.radius in ("cv", "reliability"):
            raise ProblemError(
                f"radius={self.radius!r} compares risks that contain eta·‖L‖², which the "
                "log-degree prior has not; use radius='bootstrap', 'prediction' or a number."
            )
        rule = self._rule()
        chosen = isinstance(rule, str) and rule != "bootstrap"
        if self.neighbours is not None and (chosen or isinstance(self.eta, str)):
            name, value = ("radius", self.radius) if chosen else ("eta", self.eta)
            raise ProblemError(
                f"neighbours chooses eta, and {name}={value!r} compares graphs of given etas; use "
                "radius='bootstrap' or a number, and no eta."
            )

    def _kind(self) -> AmbiguitySet:
        """Return the set without its radius."""
        kind = self.ambiguity
        if isinstance(kind, str):
            kind = named_ambiguity(kind)
        if not isinstance(kind, AmbiguitySet):
            raise ProblemError(
                f"ambiguity must be one of {', '.join(ambiguity_names())} or a set such as "
                f"MomentBall(0.0, p=1.0); it is {self.ambiguity!r}."
            )
        if kind.radius not in (0.0, self.radius):
            raise ProblemError(
                f"ambiguity has radius {kind.radius:g}, but radius is {self.radius!r}; "
                "give it as radius alone, and the set with radius 0."
            )
        return kind


def _strength(problem: GraphProblem) -> float:
    """Return eta, or the root of alpha·beta."""
    prior = problem.prior
    if isinstance(prior, LogDegree):
        return float(np.sqrt(prior.alpha * prior.beta))
    return prior.beta
