"""The cost of every edge at a given moment, rounded downwards, in the judge's own arithmetic.

A cost ``[𝒯*M]_ij = M_ii + M_jj - 2M_ij`` that is too low only lowers the judge's bound. A bound of
the rounding error is therefore subtracted (docs/certificates.md derives it).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from wdro_cvx.ambiguity.frames import MatrixFrame
from wdro_cvx.ambiguity.smoothness import accumulation, pair_costs, reads_table
from wdro_cvx.graphs.laplacian import edge_index, upper_entries
from wdro_cvx.moments.composite import MappedMoment, SumMoment
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import MeanMoment, Moment, ReweighedMoment, TransportedMoment
from wdro_cvx.stacks import column, diagonals
from wdro_cvx.summation import gram, pair_sums, roundings
from wdro_cvx.terms.base import Term
from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)

_Part = tuple[Array, Array]


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
    return _summed(_parts(nominal, moment, exactly))


def _summed(parts: Iterator[_Part]) -> _Part:
    """Return the sum of the parts' costs, rounded downwards, and the sum of their slacks."""
    costs, slack = next(parts)
    for part in parts:
        costs, slack = costs + part[0], slack + part[1]
    slack = slack + 4 * _EPS * np.abs(costs)  # of these sums and of the subtraction below
    return costs - slack, slack


def rows_costs(nominals: Sequence[Nominal], rows: Array) -> tuple[Array, Array]:
    """Return :func:`safe_costs` for a stack of moved rows (B, r, d)."""
    errors = np.array([accumulation(nominal) for nominal in nominals])
    lengths = np.stack([nominal.lengths for nominal in nominals])
    return _summed(iter([_of_rows(rows, False, _factor_error(errors, lengths, rows))]))


def weights_costs(nominals: Sequence[Nominal], weights: Array) -> tuple[Array, Array]:
    """Return :func:`safe_costs` for a stack of weights (B, N) of the samples."""
    samples = np.stack([np.asarray(nominal.samples) for nominal in nominals])
    return _summed(iter([_of_gram(gram(samples, weights), weight_error(samples.shape[1]))]))


def shift_costs(nominals: Sequence[Nominal], shifts: Array) -> tuple[Array, Array]:
    """Return :func:`safe_costs` for a stack of shifts (B, d, d) of the nominal moments."""
    errors = np.array([accumulation(nominal) for nominal in nominals])
    theta = np.stack([nominal.second_moment for nominal in nominals])
    return _summed(iter([_of_gram(theta, errors), _of_matrix(shifts, 8 * _EPS)]))


def _factor_error(error: Any, lengths: Array, rows: Array) -> Array:
    """Return the rounding error of the columns of rows from factoring."""
    return np.asarray(column(error) * np.maximum(lengths, np.linalg.norm(rows, axis=-2)))


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
        yield from _of_mapped(nominal, moment, exactly)
        return
    if isinstance(moment, ReweighedMoment):
        yield _of_weights(moment, exactly)
        return
    if isinstance(moment, MeanMoment):
        yield _of_nominal(nominal, exactly)
        yield _of_mean(nominal, moment.mean, moment.change, np.zeros(moment.d))
        if moment.spread is not None:
            yield _of_rows(moment.spread, exactly, np.zeros(moment.d))
    elif isinstance(moment, TransportedMoment) and nominal.holds(moment.moved):
        yield _of_nominal(nominal, exactly)
        if moment.spread is not None:
            yield _of_rows(moment.spread, exactly, np.zeros(moment.d))
    elif moment.rows is not None:
        moved = _factor_error(accumulation(nominal), nominal.lengths, moment.rows)
        yield _of_rows(moment.rows, exactly, moved)
    if isinstance(moment, (MeanMoment, TransportedMoment)):
        if moment.shift is not None:  # its entries are exact
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
    error = weight_error(len(moment.samples))
    if exactly:
        costs = pair_sums(moment.samples, moment.weights)
        return costs, error * costs
    return _of_gram(moment.second_moment, error)


def weight_error(count: int) -> float:
    """Return a bound of the relative error of a moment of so many weighted samples."""
    return (roundings(count) + 48) * _EPS


def _of_rows(rows: Array, exactly: bool, moved: Array) -> _Part:
    """Return the costs of rows; ``moved`` bounds the rounding error of their columns."""
    error = (roundings(rows.shape[-2]) + 8) * _EPS
    if exactly:
        costs = pair_sums(rows)
        slack = error * costs
    else:
        costs, slack = _of_gram(gram(rows), error)
    return costs, slack + _shaken(costs + slack, moved)


def _of_gram(matrix: Array, error: Any) -> _Part:
    """Return the costs of ``RᵀR``, with the error of the entries relative to the columns."""
    heads, tails = edge_index(matrix.shape[-1])
    diagonal = diagonals(matrix)
    ends = diagonal.take(heads, axis=-1) + diagonal.take(tails, axis=-1)
    costs = np.maximum(ends - 2 * upper_entries(matrix), 0.0)
    return costs, (column(error) + 4 * _EPS) * ends


def _shaken(costs: Array, moved: Array) -> Array:
    """Return a bound of the change of the costs if columns move by at most ``moved``."""
    heads, tails = edge_index(moved.shape[-1])
    shaken = moved.take(heads, axis=-1) + moved.take(tails, axis=-1)
    return np.asarray(shaken * (2 * np.sqrt(costs) + shaken))


def _of_mean(nominal: Nominal, mean: Array, change: Array, doubt: Array) -> _Part:
    """Return the costs of ``mmᵀ - μμᵀ``: ``(δ_i - δ_j)((δ_i - δ_j) + 2(μ_i - μ_j))``.

    The mean has a rounding error; ``doubt`` bounds that of the change δ.
    """
    heads, tails = edge_index(mean.size)
    apart = change[heads] - change[tails]
    double = 2 * (mean[heads] - mean[tails])
    unsure = 2 * (nominal.mean_error[heads] + nominal.mean_error[tails])
    shaken = doubt[heads] + doubt[tails]
    size = np.abs(apart)
    slack = size * (8 * _EPS * (size + np.abs(double)) + unsure)
    return apart * (apart + double), slack + shaken * (
        2 * size + shaken + np.abs(double) * (1.0 + 8 * _EPS) + unsure
    )


def _of_mapped(nominal: Nominal, moment: MappedMoment, exactly: bool) -> Iterator[_Part]:
    """Yield the costs of ``TMTᵀ``, where M is a moment of ``y = T⁻¹x``.

    Changes of the nominal distribution of y are exact numbers. They are mapped once and added to
    the nominal distribution of x, so the error of the inverse of T does not enter. Errors of
    products are bounded entry by entry, because the sizes of their terms may exceed the product by
    the squared condition number of T.
    """
    inner, frame = moment.inner, MatrixFrame(moment.matrix)
    inside = nominal.transformed(frame.inverse)
    if isinstance(inner, MeanMoment) and inside.holds(inner.kept):
        change, doubt = _mapped_rows(frame, inner.change[np.newaxis])
        yield _of_nominal(nominal, exactly)
        yield _of_mean(nominal, nominal.mean, change[0], doubt)
        yield from _of_mapped_changes(frame, inner, exactly)
    elif isinstance(inner, TransportedMoment) and inside.holds(inner.moved):
        yield _of_nominal(nominal, exactly)
        yield from _of_mapped_changes(frame, inner, exactly)
    else:
        yield from _of_mapped_whole(nominal, inside, frame, inner, exactly)


def _of_mapped_changes(
    frame: MatrixFrame, inner: MeanMoment | TransportedMoment, exactly: bool
) -> Iterator[_Part]:
    """Yield the costs of the spread and of the shift, mapped to x."""
    if inner.spread is not None:
        rows, doubt = _mapped_rows(frame, inner.spread)
        yield _of_rows(rows, exactly, doubt)
    if inner.shift is not None:
        yield _of_mapped_matrix(frame, inner.shift)


def _of_mapped_whole(
    nominal: Nominal, inside: Nominal, frame: MatrixFrame, inner: Moment, exactly: bool
) -> Iterator[_Part]:
    """Yield the costs of a moment of y that is not made of changes.

    The moment was measured from the computed nominal distribution of y. Mapped back to x, this
    distribution differs from the nominal one by the residual of the inverse and by rounding.
    """
    matrix, inverse = np.abs(frame.matrix), np.abs(frame.inverse)
    units = 2 * (frame.matrix.shape[0] + 8) * _EPS
    residual = np.abs(frame.matrix @ frame.inverse - np.eye(nominal.d)) + units * (matrix @ inverse)
    columns = np.sqrt(np.maximum(np.diagonal(inner.second_moment), 0.0))
    sizes = np.maximum(inside.lengths, columns)
    moved = residual @ np.maximum(nominal.lengths, np.sqrt(_mapped_sizes(frame, inner)))
    moved = moved + accumulation(inside) * (matrix @ sizes)
    if inner.rows is not None:
        rows, doubt = _mapped_rows(frame, inner.rows)
        yield _of_rows(rows, exactly, doubt + moved)
        if inner.rest is not None:
            yield _of_mapped_matrix(frame, inner.rest)
        return
    costs, slack = _of_mapped_matrix(frame, inner.second_moment)
    yield costs, slack + _shaken(np.abs(costs) + slack + 2 * _of_nominal(nominal, False)[0], moved)


def _mapped_sizes(frame: MatrixFrame, inner: Moment) -> Array:
    """Return the diagonal of ``TMTᵀ``, at least zero."""
    return np.maximum(np.diagonal(frame.moment(inner.second_moment)), 0.0)


def _mapped_rows(frame: MatrixFrame, rows: Array) -> tuple[Array, Array]:
    """Return the rows of x for rows of y, and the rounding error of each column."""
    sizes = np.abs(rows) @ np.abs(frame.matrix).T
    doubt = (frame.matrix.shape[0] + 8) * _EPS * np.sqrt(np.square(sizes).sum(axis=0))
    return frame.outside(rows), doubt


def _of_mapped_matrix(frame: MatrixFrame, matrix: Array) -> _Part:
    """Return the costs of ``TΔTᵀ``; the two products err by at most ``2(d + 4)ε |T||Δ||T|ᵀ``."""
    size = np.abs(frame.matrix)
    error = 2 * (len(matrix) + 4) * _EPS * (size @ np.abs(matrix) @ size.T)
    costs, slack = _of_matrix(frame.moment(matrix), 8 * _EPS)
    return costs, slack + _of_matrix(error, 1.0 + 8 * _EPS)[1]


def _of_matrix(matrix: Array, rounding: float) -> _Part:
    """Return the costs of a matrix with the given relative rounding error of its entries."""
    heads, tails = edge_index(matrix.shape[-1])
    diagonal, entries = diagonals(matrix), upper_entries(matrix)
    sizes = np.abs(diagonal)
    slack = rounding * (
        sizes.take(heads, axis=-1) + sizes.take(tails, axis=-1) + 2 * np.abs(entries)
    )
    return diagonal.take(heads, axis=-1) + diagonal.take(tails, axis=-1) - 2 * entries, slack


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
