"""``RobustGraph``: the certified solver as a scikit-learn estimator.

One column is one vertex and one row is one signal, used as it is: to compare variations rather than
levels, put a ``StandardScaler`` before it.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from solvers.path import solve
from solvers.selection import choose_radius
from wdro_cvx import (
    AmbiguitySet,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    ProblemError,
    Solution,
    Status,
    WassersteinBall,
)
from wdro_cvx.edges import EDGE_THRESHOLD
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    import networkx as nx

_SETS: dict[str, AmbiguitySet] = {
    "wasserstein": WassersteinBall(0.0),
    "gaussian": GaussianBall(0.0),
    "moment": MomentBall(0.0),
}
# Signals that vary less than this over the vertices, relative to their size, vary by rounding.
_ROUNDING = 1e-12


class RobustGraph(BaseEstimator):  # type: ignore[misc]  # untyped
    """The graph with the least worst-case risk over an ambiguity set around the data.

    Parameters
    ----------
    radius : float ≥ 0, "cv" or "reliability"
        The radius of the set in the unit of the data, squared for a moment ball; 0 trusts the data.
        A rule chooses it by cross-validation, see :func:`solvers.selection.choose_radius`.
    eta : float > 0
        The weight of ``‖L‖²`` in the squared unit of the data; larger values give more and more
        even edges. The default suits signals of unit variance.
    ambiguity : "wasserstein", "gaussian", "moment" or AmbiguitySet
        The set. One with other parameters is given with radius 0, as ``MomentBall(0.0, p=1.0)``;
        ``radius`` replaces it.
    tol : float > 0
        The relative gap between value and lower bound at which the solver stops.

    Attributes
    ----------
    laplacian_ : array (d, d), or sparse array of more than 2000 vertices
        Its trace is d.
    adjacency_ : array (d, d), or sparse array of more than 2000 vertices
        The edge weights; those below ``wdro_cvx.metrics.EDGE_THRESHOLD`` are left out.
    ambiguity_ : AmbiguitySet
        The set that was used, with its radius.
    radius_ : float
    value_, bound_, gap_ : float
        The optimum lies between ``bound_`` and ``value_``; ``gap_`` is their relative distance.
    certificate_ : Certificate
        The evidence for the bound, which :func:`wdro_cvx.judge` verifies.
    status_ : Status
    n_features_in_ : int
        The number of vertices.
    feature_names_in_ : array (d,)
        Their names, if the columns have any.
    """

    def __init__(
        self,
        radius: float | str = "cv",
        eta: float = 0.3,
        ambiguity: str | AmbiguitySet = "wasserstein",
        tol: float = 1e-6,
    ) -> None:
        self.radius = radius
        self.eta = eta
        self.ambiguity = ambiguity
        self.tol = tol

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn the graph.

        Parameters
        ----------
        X : array or data frame (N, d)
        y : ignored
        """
        kind = self._kind()
        samples = validate_data(self, X, dtype=np.float64, ensure_min_features=2)
        radius = self.radius
        if isinstance(radius, str):
            radius = choose_radius(samples, kind, self.eta, radius)
        ball = replace(kind, radius=radius)
        answer = solve(GraphProblem(Nominal.from_samples(samples), ball, self.eta), self.tol)
        if answer.status is not Status.SOLVED:
            warnings.warn(
                f"The solver stopped at a relative gap of {answer.gap:.1e} "
                f"({answer.status.value}); tol is {self.tol:g}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.laplacian_ = answer.laplacian
        self.adjacency_ = _adjacency(answer)
        self.ambiguity_ = ball
        self.radius_ = ball.radius
        self.value_, self.bound_, self.gap_ = answer.value, answer.bound, answer.gap
        self.certificate_ = answer.certificate
        self.status_ = answer.status
        return self

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return how well neighbours predict each other on X: at most 1; 0 if all are neighbours.

        Every entry of a signal is predicted by the weighted mean over the vertex's neighbours. The
        score is one minus the squared error, relative to that of the plain mean over all other
        vertices; an isolated vertex is predicted by this mean too.

        Minus the risk would not do: it contains ``eta``, and prefers the smallest. This score sees
        the graph alone, so that it compares any ``radius``, ``eta`` and ``ambiguity``.

        Parameters
        ----------
        X : array or data frame (N, d)
        y : ignored
        """
        check_is_fitted(self)
        samples: Array = validate_data(self, X, dtype=np.float64, reset=False)
        centred = samples - samples.mean(axis=1, keepdims=True)
        if np.linalg.norm(centred) <= _ROUNDING * np.linalg.norm(samples):
            return 0.0  # every graph predicts such signals
        d = samples.shape[1]
        uninformed = centred * (d / (d - 1))
        degrees = self.adjacency_.sum(axis=1)
        means = centred @ self.adjacency_ / np.where(degrees > 0.0, degrees, 1.0)
        errors = np.where(degrees > 0.0, centred - means, uninformed)
        return 1.0 - float(np.sum(errors**2) / np.sum(uninformed**2))

    def to_networkx(self) -> nx.Graph:
        """Return the graph, its vertices under the names of the columns, its edges with weights."""
        import networkx as nx  # a fifth of a second that nobody else who imports solvers needs

        check_is_fitted(self)
        large = sparse.issparse(self.adjacency_)
        convert = nx.from_scipy_sparse_array if large else nx.from_numpy_array
        graph = convert(self.adjacency_)
        if hasattr(self, "feature_names_in_"):
            return nx.relabel_nodes(graph, dict(enumerate(self.feature_names_in_)))
        return graph

    def _kind(self) -> AmbiguitySet:
        """Return the set without its radius."""
        kind = _SETS.get(self.ambiguity) if isinstance(self.ambiguity, str) else self.ambiguity
        if not isinstance(kind, AmbiguitySet):
            raise ProblemError(
                f"ambiguity must be one of {', '.join(_SETS)} or a set such as "
                f"MomentBall(0.0, p=1.0); it is {self.ambiguity!r}."
            )
        if kind.radius not in (0.0, self.radius):
            raise ProblemError(
                f"ambiguity has radius {kind.radius:g}, but radius is {self.radius!r}; "
                "give it as radius alone, and the set with radius 0."
            )
        return kind


def _adjacency(answer: Solution) -> Array | sparse.csr_array:
    """Return the weights from the threshold on, dense or sparse as the Laplacian is."""
    if not sparse.issparse(answer.laplacian):
        weights = np.diag(np.diagonal(answer.laplacian)) - answer.laplacian
        return np.where(weights >= EDGE_THRESHOLD, weights, 0.0)
    edges = answer.edges
    kept = edges.weights >= EDGE_THRESHOLD
    heads, tails, weights = edges.heads[kept], edges.tails[kept], edges.weights[kept]
    upper = sparse.csr_array((weights, (heads, tails)), shape=(edges.d, edges.d))
    return sparse.csr_array(upper + upper.T)
