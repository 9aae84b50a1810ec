"""The cost of every edge at a given moment, rounded downwards, in the judge's own arithmetic.

A cost ``[𝒯*M]_ij = M_ii + M_jj - 2M_ij`` that is too low only lowers the judge's bound. A bound of
the rounding error is therefore subtracted (docs/certificates.md derives it).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import squareform

from wdro_cvx.ambiguity.smoothness import accumulation, pair_costs, reads_table
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.moments.composite import MappedMoment, SumMoment
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import MeanMoment, Moment, ReweighedMoment, TransportedMoment
from wdro_cvx.summation import gram, pair_sums, roundings
from wdro_cvx.terms.base import Term
from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)


def safe_costs(nominal: Nominal, moment: Moment, exactly: bool = False) -> tuple[Array, Array]:
    """Return lower bounds of the costs, and by how much they may be too low.

    Parameters
    ----------
    nominal : Nominal
        Its rounding errors are part of the slack.
    moment : Moment
    exactly : bool
        Take differences of columns before squaring. This is slower, but does not cancel if the
        vertices' signals are large and nearly equal.
    """
    edges = moment.d * (moment.d - 1) // 2
    costs, slack = np.zeros(edges), np.zeros(edges)
    for part in _parts(nominal, moment, exactly):
        costs += part[0]
        slack += part[1]
    slack += 4 * _EPS * np.abs(costs)  # of these sums and of the subtraction below
    return costs - slack, slack


_Part = tuple[Array, Array]


def _parts(nominal: Nominal, moment: Moment, exactly: bool) -> Iterator[_Part]:
    """Yield the costs of a moment's parts, with a bound of the rounding error of each."""
    if isinstance(moment, SumMoment):
        # The centre is the nominal moment, whatever the certificate says.
        for factor, part in zip(moment.factors, moment.parts, strict=True):
            for costs, slack in _parts(nominal, part, exactly):
                yield factor * costs, factor * (slack + 4 * _EPS * np.abs(costs))
        costs, slack = _of_nominal(nominal, exactly)
        rest = 1.0 - sum(moment.factors)
        size = 1.0 + sum(moment.factors)
        yield rest * costs, abs(rest) * slack + (len(moment.factors) + 4) * _EPS * size * costs
        return
    if isinstance(moment, MappedMoment):
        yield _of_mapped(nominal, moment)
        return
    if isinstance(moment, ReweighedMoment):
        yield _of_weights(moment, exactly)
        return
    if isinstance(moment, MeanMoment):
        yield _of_nominal(nominal, exactly)
        yield _of_mean(nominal, moment)
        if moment.spread is not None:
            yield _of_rows(moment.spread, exactly, np.zeros(moment.d))
    elif isinstance(moment, TransportedMoment) and nominal.holds(moment.moved):
        yield _of_nominal(nominal, exactly)
        if moment.spread is not None:
            yield _of_rows(moment.spread, exactly, np.zeros(moment.d))
    elif moment.rows is not None:
        # The rounding error of the columns from factoring.
        sizes = np.linalg.norm(moment.rows, axis=0)
        moved = accumulation(nominal) * np.maximum(nominal.lengths, sizes)
        yield _of_rows(moment.rows, exactly, moved)
    if isinstance(moment, (MeanMoment, TransportedMoment)):
        if moment.shift is not None:  # exact: it is no sum
            yield _of_matrix(moment.shift, 8 * _EPS)
    elif moment.rest is not None:
        yield _of_matrix(moment.rest, accumulation(nominal))


def _of_nominal(nominal: Nominal, exactly: bool) -> _Part:
    """Return the costs of the nominal distribution."""
    heads, tails = edge_index(nominal.d)
    if not exactly:
        return _of_gram(nominal.second_moment, accumulation(nominal))
    costs, error = pair_costs(nominal, heads, tails)
    slack = error * costs
    if not reads_table(nominal, heads.size):
        slack += _shaken(costs + slack, accumulation(nominal) * nominal.lengths)
    return costs, slack


def _of_weights(moment: ReweighedMoment, exactly: bool) -> _Part:
    """Return the costs of reweighted samples, including the rounding of the weights."""
    error = (roundings(len(moment.samples)) + 48) * _EPS
    if exactly:
        costs = pair_sums(moment.samples, moment.weights)
        return costs, error * costs
    return _of_gram(moment.second_moment, error)


def _of_rows(rows: Array, exactly: bool, moved: Array) -> _Part:
    """Return the costs of rows; ``moved`` bounds the rounding error of their columns."""
    error = (roundings(len(rows)) + 8) * _EPS
    if exactly:
        costs = pair_sums(rows)
        slack = error * costs
    else:
        costs, slack = _of_gram(gram(rows), error)
    return costs, slack + _shaken(costs + slack, moved)


def _of_gram(matrix: Array, error: float) -> _Part:
    """Return the costs of ``RᵀR``, with the error of the entries relative to the columns."""
    heads, tails = edge_index(len(matrix))
    diagonal = np.diagonal(matrix)
    ends = diagonal[heads] + diagonal[tails]
    return np.maximum(ends - 2 * squareform(matrix, checks=False), 0.0), (error + 4 * _EPS) * ends


def _shaken(costs: Array, moved: Array) -> Array:
    """Return the largest decrease of the costs if columns move by at most ``moved``."""
    heads, tails = edge_index(moved.size)
    shaken = moved[heads] + moved[tails]
    return np.asarray(shaken * (2 * np.sqrt(costs) + shaken))


def _of_mean(nominal: Nominal, moment: MeanMoment) -> _Part:
    """Return the costs of ``mmᵀ - μμᵀ``: ``(δ_i - δ_j)((δ_i - δ_j) + 2(μ_i - μ_j))``.

    The mean has a rounding error; the change is exact.
    """
    heads, tails = edge_index(moment.d)
    change = moment.change[heads] - moment.change[tails]
    double = 2 * (moment.mean[heads] - moment.mean[tails])
    unsure = 2 * (nominal.mean_error[heads] + nominal.mean_error[tails])
    size = np.abs(change)
    return change * (change + double), size * (8 * _EPS * (size + np.abs(double)) + unsure)


def _of_mapped(nominal: Nominal, moment: MappedMoment) -> _Part:
    """Return the costs of a moment in other coordinates.

    The nominal distribution was mapped there and back, which multiplies rounding by the condition.
    """
    matrix = moment.second_moment
    error = accumulation(nominal) + 8 * moment.d * _EPS * float(np.linalg.cond(moment.matrix))
    largest = max(float(np.abs(matrix).max()), float(nominal.lengths.max()) ** 2)
    costs, slack = _of_matrix(matrix, 8 * _EPS)
    return costs, slack + 8 * moment.d * error * largest


def _of_matrix(matrix: Array, rounding: float) -> _Part:
    """Return the costs of a matrix with the given relative rounding error of its entries."""
    heads, tails = edge_index(len(matrix))
    diagonal, entries = np.diagonal(matrix), matrix[heads, tails]
    sizes = np.abs(diagonal)
    slack = rounding * (sizes[heads] + sizes[tails] + 2 * np.abs(entries))
    return diagonal[heads] + diagonal[tails] - 2 * entries, slack


def minorant_costs(
    costs: Array, terms: tuple[Term, ...], slopes: tuple[Array, ...]
) -> tuple[Array, float]:
    """Return costs plus those of the terms' minorants, rounded downwards, and their price."""
    total, sizes, price = costs, np.abs(costs), 0.0
    for term, slope in zip(terms, slopes, strict=True):
        found, paid = term.minorant(slope)
        total, sizes = total + found, sizes + np.abs(found)
        price += paid + 4 * _EPS * (abs(price) + abs(paid))
    if terms:
        total = total - 4 * _EPS * len(terms) * sizes
    return total, price


def nuclear_size(moment: Moment) -> float:
    """Return an upper bound of the sum of a moment's singular values."""
    size = 0.0 if moment.rows is None else float(np.vdot(moment.rows, moment.rows))
    if moment.rest is not None:
        size += float(np.sqrt(moment.d) * np.linalg.norm(moment.rest))
    return size
