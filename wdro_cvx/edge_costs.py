"""What a moment charges for every edge, never overstated: the judge's own arithmetic.

A cost ``[𝒯*M]_ij = M_ii + M_jj - 2M_ij`` that is too low only lowers the judge's bound. So whatever
rounding may have done to it is taken off (docs/certificates.md tells how much that is and why).
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist, squareform

from wdro_cvx.ambiguity.smoothness import accumulation
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.moment import Moment, TransportedMoment
from wdro_cvx.nominal import Nominal
from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)


def safe_costs(nominal: Nominal, moment: Moment, exactly: bool = False) -> tuple[Array, Array]:
    """Return costs that are at most the true ones, and by how much they may be below them.

    Parameters
    ----------
    nominal : Nominal
        Whose own rounding is part of the slack.
    moment : Moment
    exactly : bool
        Take differences of columns before squaring. Slower, and without the cancellation that costs
        digits where the vertices' signals are large and nearly equal.
    """
    heads, tails = edge_index(moment.d)
    rounding = accumulation(nominal)
    costs, slack = np.zeros(heads.size), np.zeros(heads.size)
    rows = moment.rows
    if rows is not None:
        sizes = np.einsum("ij,ij->j", rows, rows)
        # How far the columns of the data may have moved when they were levelled and factored.
        moved = rounding * np.maximum(nominal.lengths, np.sqrt(sizes))
        if exactly:
            costs = pdist(rows.T, "sqeuclidean")
            slack = (rows.shape[0] + 4) * _EPS * costs
        else:
            gram = nominal.second_moment if nominal.holds(rows) else rows.T @ rows
            ends = sizes[heads] + sizes[tails]
            costs = np.maximum(ends - 2 * squareform(gram, checks=False), 0.0)
            slack = (rows.shape[0] + 4) * _EPS * ends
        shaken = moved[heads] + moved[tails]
        slack += shaken * (2 * np.sqrt(costs + slack) + shaken)
    if moment.rest is not None:
        diagonal = np.diagonal(moment.rest)
        entries = moment.rest[heads, tails]
        costs = costs + (diagonal[heads] + diagonal[tails] - 2 * entries)
        sizes = np.abs(diagonal)
        if _is_shift(nominal, moment):
            rounding = 8 * _EPS
        slack += rounding * (sizes[heads] + sizes[tails] + 2 * np.abs(entries))
    return costs - slack, slack


def _is_shift(nominal: Nominal, moment: Moment) -> bool:
    """Say whether the rest is exact: all that was added up from the data is in the rows."""
    return isinstance(moment, TransportedMoment) and nominal.holds(moment.moved)


def nuclear_size(moment: Moment) -> float:
    """Return a bound of the sum of a moment's singular values."""
    size = 0.0 if moment.rows is None else float(np.vdot(moment.rows, moment.rows))
    if moment.rest is not None:
        size += float(np.sqrt(moment.d) * np.linalg.norm(moment.rest))
    return size
