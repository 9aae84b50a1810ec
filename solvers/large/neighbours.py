"""Where to start: pairs of near vertices.

With few vertices these are found among all of them. With many, vertices meet in cells around random
pivots, each in those of its nearest pivots, and find their nearest ones there; what the cells miss,
the pricing of all pairs finds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from solvers.large.structure import Candidates
from wdro_cvx.validation import Array

Cell = NDArray[np.intp]
Single = NDArray[np.float32]

_CELL = 1024  # vertices of a cell on average, and half of the most
_PIVOTS = 3  # how many cells of one draw of pivots a vertex is in
_DRAWS = 2
# Up to here the pairs within the cells are no fewer than all pairs.
_EXACT = 2 * _CELL * _PIVOTS * _DRAWS


def pivot_cells(points: Array, rng: np.random.Generator) -> list[Cell]:
    """Return cells of rows of ``points`` that are near to each other; none if rows are few."""
    d = points.shape[0]
    if d <= _EXACT:
        return []
    single = (points - points.mean(axis=0)).astype(np.float32)
    cells: list[Cell] = []
    for _ in range(_DRAWS):
        pivots = single[rng.choice(d, _PIVOTS * d // _CELL, replace=False)]
        owners = np.empty((d, _PIVOTS), dtype=np.intp)
        for first in range(0, d, _CELL):
            rows = slice(first, first + _CELL)
            owners[rows] = _nearest(single[rows], pivots, _PIVOTS)
        order = np.argsort(owners.ravel(), kind="stable")
        ends = np.searchsorted(owners.ravel()[order], np.arange(1, len(pivots)))
        for cell in np.split(order // _PIVOTS, ends):
            cells.extend(_halved(single, cell, rng))
    return cells


def near_pairs(points: Array, neighbours: int, cells: list[Cell]) -> Candidates:
    """Return for every row of ``points`` about that many pairs with near rows."""
    d = points.shape[0]
    single = (points - points.mean(axis=0)).astype(np.float32)
    heads, tails = [], []
    for rows, cell in _searches(d, cells):
        near = cell[_nearest(single[rows], single[cell], neighbours + 1)]
        heads.append(np.repeat(rows, near.shape[1]))
        tails.append(near.ravel())
    head, tail = np.concatenate(heads), np.concatenate(tails)
    apart = head != tail  # the nearest of all is the vertex itself
    return Candidates.from_pairs(d, head[apart], tail[apart])


def _searches(d: int, cells: list[Cell]) -> Iterator[tuple[Cell, Cell]]:
    """Yield vertices, and those among which their neighbours are sought."""
    for cell in cells:
        yield cell, cell
    if not cells:
        for first in range(0, d, _CELL):
            yield np.arange(first, min(first + _CELL, d)), np.arange(d)


def _halved(points: Single, members: Cell, rng: np.random.Generator) -> Iterator[Cell]:
    """Halve a cell by the direction between two random members until it is small enough."""
    if members.size <= 2 * _CELL:
        if members.size > 1:
            yield members
        return
    first, second = points[rng.choice(members, 2, replace=False)]
    order = np.argsort(points[members] @ (first - second), kind="stable")
    half = members.size // 2
    yield from _halved(points, members[order[:half]], rng)
    yield from _halved(points, members[order[half:]], rng)


def _nearest(rows: Single, others: Single, count: int) -> NDArray[np.intp]:
    """Return for every row the indices of the nearest other rows."""
    count = min(count, others.shape[0])
    distances = rows @ others.T
    distances *= -2
    distances += np.einsum("ij,ij->i", others, others)
    return np.argpartition(distances, count - 1, axis=1)[:, :count]
