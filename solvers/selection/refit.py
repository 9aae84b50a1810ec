"""Refit the weights of given edges by the likelihood of a Gaussian Markov field.

Solves ``min_w cᵀw - log det(L(w) + 11ᵀ/d)`` over ``w ≥ 0`` on a list of edges that connects the
graph (Egilmez, Pavez and Ortega, IEEE J. Sel. Top. Signal Process. 2017); c are the mean squared
differences of the signals along the edges. With ``P = (L + 11ᵀ/d)⁻¹`` and the effective
resistances r of the edges, the gradient is ``c - r`` and the Hessian ``(b_eᵀ P b_f)²``. Each step
is a projected Newton step (Bertsekas, SIAM J. Control Optim. 1982) by conjugate gradients. Weights
are scaled such that ``cᵀw = d - 1``, as at the optimum; scaling P until no resistance exceeds its
cost then gives the dual bound ``f ≥ f(w) - (d - 1)·max log(r/c)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from wdro_cvx import ProblemError
from wdro_cvx.validation import Array

_STEPS = 50
_PRODUCTS = 30  # conjugate-gradient products per step
_SHORTEST = 1e-6  # step length at which rounding prevents progress
_LEAST_COST = 1e-9  # relative to the mean; two equal columns would have no finite optimum


def refit_weights(
    costs: Array,
    heads: NDArray[np.intp],
    tails: NDArray[np.intp],
    d: int,
    tol: float = 1e-3,
) -> Array:
    """Return the weights of given edges with the largest likelihood.

    Parameters
    ----------
    costs : array (m,)
        The mean squared difference of the signals at the ends of each edge.
    heads, tails : arrays (m,)
        The ends of the edges, which connect all vertices.
    d : int
        The number of vertices.
    tol : float
        The gap to the optimal log-likelihood, per vertex.

    Returns
    -------
    array (m,)

    Raises
    ------
    ProblemError
        If the edges do not connect all vertices.

    Examples
    --------
    >>> import numpy as np
    >>> from solvers.selection.refit import refit_weights
    >>> ends = np.array([0, 1]), np.array([1, 2])
    >>> refit_weights(np.array([0.5, 0.25]), *ends, d=3).round(3).tolist()  # a tree: 1/costs
    [2.0, 4.0]
    """
    model = _Likelihood(np.maximum(costs, _LEAST_COST * float(costs.mean())), heads, tails, d)
    point = model.at((d - 1) / (len(costs) * model.costs))
    if point is None:
        raise ProblemError("the edges to refit must connect all vertices; add a spanning tree.")
    for _ in range(_STEPS):
        excess = float((point.resistances / model.costs).max()) - 1.0
        if excess <= tol:
            break
        step = _newton_step(model, point, min(0.1, excess))
        better = _line_search(model, point, step)
        if better is None:
            break
        point = better
    return point.weights


def _line_search(model: _Likelihood, point: _Point, step: Array) -> _Point | None:
    """Return a better point along the step, or None if rounding prevents progress."""
    length = 1.0
    while length >= _SHORTEST:
        tried = model.at(np.maximum(point.weights + length * step, 0.0))
        if tried is not None and tried.value < point.value:
            return tried
        length /= 2.0
    return None


@dataclass(frozen=True, eq=False)
class _Point:
    """Weights with ``cᵀw = d - 1``, their objective, and what its derivatives need."""

    weights: Array
    value: float
    inverse: Array
    resistances: Array


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """The objective on a list of edges."""

    costs: Array
    heads: NDArray[np.intp]
    tails: NDArray[np.intp]
    d: int

    def laplacian(self, weights: Array) -> sparse.csr_array:
        """Return the Laplacian of weights, which may be negative."""
        ends = np.concatenate([self.heads, self.tails])
        other = np.concatenate([self.tails, self.heads])
        twice = np.concatenate([weights, weights])
        rows, columns = np.concatenate([ends, ends]), np.concatenate([other, ends])
        entries = np.concatenate([-twice, twice])
        return sparse.csr_array((entries, (rows, columns)), shape=(self.d, self.d))

    def at(self, weights: Array) -> _Point | None:
        """Return the rescaled point, or None if these weights do not connect the graph."""
        total = float(self.costs @ weights)
        if not total > 0.0:
            return None
        weights = weights * ((self.d - 1) / total)
        matrix = self.laplacian(weights).toarray() + 1.0 / self.d
        factor, failed = linalg.lapack.dpotrf(matrix, lower=True, overwrite_a=True)
        diagonal = np.diag(factor)
        if failed or diagonal.min() <= 1e-10 * diagonal.max():
            return None
        inverse, _ = linalg.lapack.dpotri(factor, lower=True, overwrite_c=False)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        return _Point(weights, -2.0 * float(np.log(diagonal).sum()), inverse, self.across(inverse))

    def across(self, matrix: Array) -> Array:
        """Return ``b_eᵀ M b_e`` for every edge of a symmetric matrix."""
        diagonal = np.diag(matrix)
        return np.asarray(
            diagonal[self.heads] + diagonal[self.tails] - 2.0 * matrix[self.heads, self.tails]
        )

    def curvature(self, point: _Point, direction: Array) -> Array:
        """Return the product of Hessian and direction."""
        return self.across(point.inverse @ (self.laplacian(direction) @ point.inverse))


def _newton_step(model: _Likelihood, point: _Point, tol: float) -> Array:
    """Return the step of the free weights; weights that would turn negative go to zero."""
    gradient = model.costs - point.resistances
    free = (point.weights > 0.0) | (gradient < 0.0)
    scale = point.resistances**2
    step = np.zeros_like(gradient)
    residual = np.where(free, -gradient, 0.0)
    first = float(residual @ (residual / scale))
    direction, size = np.zeros_like(gradient), np.inf
    for _ in range(_PRODUCTS):
        ahead = residual / scale
        new = float(residual @ ahead)
        if new <= tol**2 * first:
            break
        direction, size = ahead + (new / size) * direction, new
        product = np.where(free, model.curvature(point, direction), 0.0)
        step += (size / float(direction @ product)) * direction
        residual -= (size / float(direction @ product)) * product
        crossed = free & (point.weights + step < 0.0)
        if crossed.any():
            # Fix these at zero and restart with the rest: far fewer steps than projecting later.
            step[crossed] = -point.weights[crossed]
            free &= ~crossed
            residual = np.where(free, -gradient - model.curvature(point, step), 0.0)
            direction, size = np.zeros_like(gradient), np.inf
    return step
