"""The first candidate edges: pairs of nearby vertices.

With few vertices, the neighbour search is exact. With many, each vertex joins the cells of its
nearest random pivots and looks for neighbours only there. Pricing all pairs later finds the pairs
that the cells miss.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from solvers.large.structure import Candidates
from wdro_cvx.validation import Array

Cell = NDArray[np.intp]
Single = NDArray[np.float32]

_CELL = 1024  # average vertices per cell; the maximum is twice this
_PIVOTS = 3  # cells that each vertex joins per draw of pivots
_DRAWS = 2
# Up to this many vertices, the cells contain no fewer pairs than the whole graph.
_EXACT = 2 * _CELL * _PIVOTS * _DRAWS


def pivot_cells(points: Array, rng: np.random.Generator) -> list[Cell]:
    """Return cells of nearby rows of ``points``; none if there are few rows."""
    d = points.shape[0]
    if d <= _EXACT:
        return []
    single = _centred(points)
    cells: list[Cell] = []
    for _ in range(_DRAWS):
        pivots = single[rng.choice(d, _PIVOTS * d // _CELL, replace=False)]
        owners = np.empty((d, _PIVOTS), dtype=np.intp)
        for first in range(0, d, _CELL):
            rows = slice(first, first + _CELL)
            owners[rows] = _nearest(single[rows], pivots, _PIVOTS)[0]
        order = np.argsort(owners.ravel(), kind="stable")
        ends = np.searchsorted(owners.ravel()[order], np.arange(1, len(pivots)))
        for cell in np.split(order // _PIVOTS, ends):
            cells.extend(_halved(single, cell, rng))
    return cells


def near_pairs(points: Array, neighbours: int, cells: list[Cell]) -> Candidates:
    """Return about ``neighbours`` pairs with nearby rows for every row of ``points``."""
    d = points.shape[0]
    single = _centred(points)
    near = np.zeros((d, neighbours + 1), dtype=np.int32)
    distances = np.full((d, neighbours + 1), np.inf, dtype=np.float32)
    for rows, cell in _searches(d, cells):
        found, length = _nearest(single[rows], single[cell], neighbours + 1)
        near[rows], distances[rows] = _merged(near[rows], distances[rows], cell[found], length)
    heads = np.repeat(np.arange(d, dtype=np.int32), neighbours + 1)
    kept = np.isfinite(distances.ravel()) & (heads != near.ravel())  # a vertex finds itself
    return Candidates.from_pairs(d, heads[kept], near.ravel()[kept])


def _merged(
    known: NDArray[np.int32], lengths: Single, found: NDArray[np.intp], others: Single
) -> tuple[NDArray[np.int32], Single]:
    """Return the nearest among the known and the newly found vertices, without duplicates."""
    near = np.hstack([known, found.astype(np.int32)])
    distances = np.hstack([lengths, others])
    # Sorting puts duplicates next to each other; their distances are nearly equal.
    order = np.lexsort((distances, near), axis=1)
    near = np.take_along_axis(near, order, 1)
    distances = np.take_along_axis(distances, order, 1)
    distances[:, 1:][near[:, 1:] == near[:, :-1]] = np.inf
    count = known.shape[1]
    best = np.argpartition(distances, count - 1, axis=1)[:, :count]
    return np.take_along_axis(near, best, 1), np.take_along_axis(distances, best, 1)


def _centred(points: Array) -> Single:
    """Return the centred rows in single precision, without a second copy in double."""
    single = np.empty(points.shape, dtype=np.float32)
    middle = points.mean(axis=0)
    for first in range(0, points.shape[0], _CELL):
        np.subtract(points[first : first + _CELL], middle, out=single[first : first + _CELL],
                    casting="same_kind")  # fmt: skip
    return single


def _searches(d: int, cells: list[Cell]) -> Iterator[tuple[Cell, Cell]]:
    """Yield vertices together with the vertices among which to search for their neighbours."""
    for cell in cells:
        yield cell, cell
    if not cells:
        for first in range(0, d, _CELL):
            yield np.arange(first, min(first + _CELL, d)), np.arange(d)


def _halved(points: Single, members: Cell, rng: np.random.Generator) -> Iterator[Cell]:
    """Split a cell along the line through two random members until the parts are small enough."""
    if members.size <= 2 * _CELL:
        if members.size > 1:
            yield members
        return
    first, second = points[rng.choice(members, 2, replace=False)]
    order = np.argsort(points[members] @ (first - second), kind="stable")
    half = members.size // 2
    yield from _halved(points, members[order[:half]], rng)
    yield from _halved(points, members[order[half:]], rng)


def _nearest(rows: Single, others: Single, count: int) -> tuple[NDArray[np.intp], Single]:
    """Return each row's nearest others and their squared distances, up to a per-row constant."""
    count = min(count, others.shape[0])
    distances = rows @ others.T
    distances *= -2
    distances += np.einsum("ij,ij->i", others, others)
    found = np.argpartition(distances, count - 1, axis=1)[:, :count].copy()
    return found, np.take_along_axis(distances, found, 1)
