"""What a fitted estimator does with a table: score, fill holes, measure stability."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from solvers.learned.edge_table import labelled
from solvers.learned.imputation import impute
from solvers.learned.views import GraphViews
from solvers.selection.fitting import either_spelling
from solvers.selection.frames import as_table, check_finite, check_frame, column_names
from solvers.selection.preparation import Preparation, prepare
from solvers.selection.signals import Signals
from solvers.selection.stability import edge_shares
from wdro_cvx import DataError
from wdro_cvx.validation import Array, finite_array


class GraphUses(
    GraphViews,
    OneToOneFeatureMixin,  # type: ignore[misc]  # scikit-learn is untyped
    TransformerMixin,  # type: ignore[misc]
):
    """Methods of ``RobustGraph`` that take a table after ``fit``."""

    if TYPE_CHECKING:  # set by __init__ and fit of the estimator
        standardise: bool | str
        standardize: bool | str | None
        moment: str
        absolute: bool
        block: int
        random_state: Any
        n_jobs: int | None
        change_: Preparation
        laplacian_: Array | sparse.csr_array
        adjacency_: Array | sparse.csr_array

    def score(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return how well neighbours predict each other on X; 1 is perfect, 0 is like the mean.

        Every entry of a signal is predicted by the weighted mean over the vertex's neighbours. The
        score is one minus the squared error, relative to that of the plain mean over all other
        vertices. The plain mean also predicts isolated vertices.

        The negative objective would not be a valid score: it contains ``eta`` and prefers the
        smallest. This score depends only on the graph, so it can compare any values of ``radius``,
        ``eta`` and ``ambiguity``.

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
            self.random_state, self.n_jobs,
        )  # fmt: skip
        self.graph_ = replace(graph, stability=shares)
        self.stability_ = shares if sparse.issparse(shares) else labelled(shares, graph.names)
        return shares

    def _prepared(self, X: ArrayLike, weights: ArrayLike | None) -> Signals:
        """Return a checked table in the units of the fit."""
        signals = self._signals(X, weights, reset=False)
        return replace(signals, table=self.change_.apply(signals.table))

    def _signals(self, X: ArrayLike, weights: ArrayLike | None, *, reset: bool) -> Signals:
        """Return a checked table; scikit-learn's errors are raised as DataError."""
        X = as_table(X)
        check_frame(X)
        try:
            table = validate_data(
                self, X, dtype=np.float64, ensure_min_features=2 if reset else 1, reset=reset,
                ensure_all_finite=False,
            )  # fmt: skip
        except ValueError as error:
            raise DataError(str(error)) from None
        names = column_names(X)
        check_finite(table, names or range(table.shape[1]))
        counts = None if weights is None else finite_array("sample_weight", weights, 1)
        # A data frame is stored by columns; sums in that order differ in their last digits.
        table = np.ascontiguousarray(table)
        return Signals(table, counts, names).counted()
