"""Refit the weights of given edges by the likelihood of a Gaussian Markov field.

Solves ``min_w cᵀw - log det(L(w) + 11ᵀ/d)`` over ``w ≥ 0`` on a list of edges that connects the
graph (Egilmez, Pavez and Ortega, IEEE J. Sel. Top. Signal Process. 2017); c are the mean squared
differences of the signals along the edges. The steps are those of the likelihood solver.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvers.likelihood.model import Model
from solvers.likelihood.newton import newton_step
from solvers.likelihood.risks import LinearRisk
from wdro_cvx import EdgeBounds, Frobenius, ProblemError, WorstCase
from wdro_cvx.validation import Array

_STEPS = 50
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
        The ends of the edges, which connect all vertices; ``heads < tails``.
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
    costs = np.maximum(costs, _LEAST_COST * float(costs.mean()))
    moment = np.zeros((d, d))
    moment[heads, tails] = moment[tails, heads] = -costs / 2  # so that each edge has its cost
    listed = heads * (2 * d - heads - 1) // 2 + tails - heads - 1
    upper, weights = np.zeros((2, d * (d - 1) // 2))
    upper[listed], weights[listed] = np.inf, (d - 1) / (len(costs) * costs)
    prior = Frobenius(0.0, None, bounds=EdgeBounds(np.zeros_like(upper), upper))
    point = Model(d, prior, LinearRisk(WorstCase(0.0, moment, 0.0)), 1.0).at(weights)
    if point is None:
        raise ProblemError("the edges to refit must connect all vertices; add a spanning tree.")
    for _ in range(_STEPS):
        gap = (point.above - point.bound().value) / d
        better = newton_step(point, 0.1) if gap > tol else None
        if better is None:
            break
        point = better
    return point.weights[listed]
