"""Bounds on a list of possible edges; all other pairs are absent and take no memory.

They suit large graphs such as road networks or nearest neighbours. Up to ``MOST_VERTICES`` vertices
they also work wherever bounds on all pairs do.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.bounds import MOST_VERTICES, EdgeBounds, check_sides
from wdro_cvx.validation import Array

Vertices = NDArray[np.int32]


class ListedBounds(EdgeBounds):
    """Bounds of the weights of the listed pairs; only these may be edges.

    Attributes
    ----------
    heads, tails : arrays (k,)
        The pairs, sorted and without repetition, each with its smaller vertex first.
    least, most : arrays (k,)
        The bounds of their weights.
    """

    heads: Vertices
    tails: Vertices
    least: Array
    most: Array
    _vertices: int

    def __init__(self, d: int, heads: Vertices, tails: Vertices, least: Array, most: Array) -> None:
        _check_list(d, heads, tails, least, most)
        fields = {"heads": heads, "tails": tails, "least": least, "most": most}
        for name, values in fields.items():
            object.__setattr__(self, name, values)
        for values in (heads, tails, least, most):
            values.setflags(write=False)
        object.__setattr__(self, "_vertices", d)

    @property
    def d(self) -> int:
        """The number of vertices."""
        return self._vertices

    @property
    def keys(self) -> NDArray[np.int64]:
        """One number for each pair, in increasing order."""
        return self.heads.astype(np.int64) * self.d + self.tails

    @cached_property
    def lower(self) -> Array:
        """The least weights of all pairs."""
        return self._everywhere(self.least)

    @cached_property
    def upper(self) -> Array:
        """The largest weights of all pairs."""
        return self._everywhere(self.most)

    def most_degrees(self) -> Array:
        """Return the largest possible degree of every vertex."""
        ends = self.heads, self.tails
        first, second = (np.bincount(end, self.most, self.d) for end in ends)
        return np.asarray(first + second, float)

    def check_total(self, total: float) -> None:
        """Raise ProblemError if no weights within the bounds sum to ``total``."""
        self._check_sums(self.least, self.most, total)

    def _everywhere(self, values: Array) -> Array:
        """Return an array over all pairs with the values of the listed ones, else zero."""
        if self.d > MOST_VERTICES:
            raise ProblemError(
                f"bounds on all pairs of {self.d} vertices take too much memory; methods that "
                f"need them take at most {MOST_VERTICES} vertices. Use solvers.solve."
            )
        found = np.zeros(self.d * (self.d - 1) // 2)
        heads = self.heads.astype(np.int64)
        found[heads * (2 * self.d - heads - 1) // 2 + self.tails - heads - 1] = values
        found.flags.writeable = False
        return found

    def __repr__(self) -> str:
        """Return counts instead of arrays."""
        present = int(np.count_nonzero(self.least > 0.0))
        return f"EdgeBounds({self.d} vertices: {self.heads.size} edges possible, {present} present)"


def _check_list(d: int, heads: Vertices, tails: Vertices, least: Array, most: Array) -> None:
    """Raise ProblemError for bounds that searches in the list or sums over it would misread."""
    kinds = (heads, np.int32), (tails, np.int32), (least, np.float64), (most, np.float64)
    shapes = {values.shape if values.dtype == kind else () for values, kind in kinds}
    if len(shapes) != 1 or len(shapes.pop()) != 1:
        raise ProblemError(
            "heads, tails, least and most must be arrays of int32, int32, float64 and float64 of "
            "one length. Use EdgeBounds.from_list."
        )
    keys = heads.astype(np.int64) * d + tails
    inside = (heads >= 0) & (heads < tails) & (tails < d)
    if not inside.all() or (np.diff(keys) <= 0).any():
        raise ProblemError(
            f"heads and tails must be pairs of vertices from 0 to {d - 1}, sorted and without "
            "repetition, each with its smaller vertex first. Use EdgeBounds.from_list."
        )
    if np.isnan(most).any():
        raise ProblemError("most contains NaN; use inf for no limit.")
    check_sides(least, most, heads, tails)


def list_bounds(
    names: Sequence[Hashable], pairs: Any, lower: ArrayLike, upper: ArrayLike
) -> ListedBounds:
    """Return the bounds for a list of pairs of vertices, given in any order."""
    d = len(names)
    ends = _ends(names, pairs)
    sides = [_values("lower", lower, len(ends)), _values("upper", upper, len(ends))]
    low, high = ends.min(axis=1), ends.max(axis=1)
    check_sides(sides[0], sides[1], low, high)
    keys, places = np.unique(low * d + high, return_inverse=True)
    least, most = np.zeros(keys.size), np.full(keys.size, np.inf)
    np.maximum.at(least, places, sides[0])
    np.minimum.at(most, places, sides[1])
    check_sides(least, most, keys // d, keys % d)  # of pairs that are listed twice
    kept = most > 0.0
    heads, tails = (keys[kept] // d).astype(np.int32), (keys[kept] % d).astype(np.int32)
    return ListedBounds(d, heads, tails, least[kept], most[kept])


def _ends(names: Sequence[Hashable], pairs: Any) -> NDArray[np.int64]:
    """Return pairs as numbers of vertices, (k, 2), or raise ProblemError."""
    d = len(names)
    if scipy.sparse.issparse(pairs):
        if pairs.shape != (d, d):
            raise ProblemError(f"pairs must have shape {(d, d)}; it has {pairs.shape}.")
        rows, columns = scipy.sparse.coo_array(pairs).coords
        apart = rows != columns
        found = np.column_stack([rows[apart], columns[apart]])
    elif isinstance(names, range):
        found = _numbered(pairs)
    else:
        places = {name: place for place, name in enumerate(names)}
        if len(places) < d:
            raise ProblemError("d has two vertices of the same name; give each its own name.")
        try:
            found = np.array([(places[one], places[other]) for one, other in pairs])
        except KeyError as reason:
            raise ProblemError(f"pairs names {reason}, which is not a vertex in d.") from None
        except (TypeError, ValueError) as reason:
            raise ProblemError("pairs must be pairs of names such as [('a', 'b')].") from reason
    if len(found) == 0:
        raise ProblemError("pairs names no edge; a graph needs at least one.")
    wrong = (found < 0).any(axis=1) | (found >= d).any(axis=1) | (found[:, 0] == found[:, 1])
    if wrong.any():
        first, second = found[np.argmax(wrong)]
        raise ProblemError(
            f"({first}, {second}) is not an edge of a graph with vertices 0 to {d - 1}; give two "
            "different ones of these."
        )
    return found.astype(np.int64)


def _numbered(pairs: Any) -> NDArray[np.int64]:
    try:
        found = np.asarray(pairs if hasattr(pairs, "__len__") else list(pairs))
    except (TypeError, ValueError) as reason:
        raise ProblemError("pairs must be pairs of vertices such as [(0, 1), (2, 5)].") from reason
    if found.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ProblemError(
            f"pairs must be whole numbers of shape (k, 2), such as [(0, 1), (2, 5)]; they are "
            f"{found.dtype} of shape {found.shape}."
        )
    return found.astype(np.int64)


def _values(name: str, values: ArrayLike, size: int) -> Array:
    try:
        found = np.asarray(values, dtype=float)
        found = np.array(np.broadcast_to(found, (size,)))
    except (TypeError, ValueError) as reason:
        raise ProblemError(
            f"{name} must be a number, or one for each of the {size} pairs."
        ) from reason
    if np.isnan(found).any():
        raise ProblemError(f"{name} contains NaN; use 0 in lower and inf in upper for no bound.")
    return found
