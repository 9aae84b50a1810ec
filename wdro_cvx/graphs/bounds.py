"""Prior knowledge of edges: absent edges, present edges and limits of weights.

Bounds constrain the Laplacian, so they apply to every model.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.exact_sums import SURE, missing, too_little
from wdro_cvx.graphs.laplacian import edge_index, vertex_count
from wdro_cvx.validation import Array, real_number, whole_number

#: The largest number of vertices for bounds that are stored for every pair.
MOST_VERTICES = 20_000


@dataclass(frozen=True, eq=False)
class EdgeBounds:
    """Bounds ``lower ≤ w ≤ upper`` of the edge weights.

    Build them with :meth:`from_edges` or :meth:`from_matrices`. For many vertices, list the
    possible edges with :meth:`from_list`.

    Attributes
    ----------
    lower, upper : array (m,)
        In the order of ``weights_from_laplacian``; ``upper`` may be infinite.

    Raises
    ------
    ProblemError
        If a bound is negative or NaN, or a lower bound exceeds its upper bound.

    Examples
    --------
    >>> from wdro_cvx import EdgeBounds
    >>> cities = ["Oslo", "Bergen", "Rome"]
    >>> bounds = EdgeBounds.from_edges(
    ...     cities, absent=[("Oslo", "Rome")], present=[("Oslo", "Bergen")], least=0.2
    ... )
    >>> bounds
    EdgeBounds(3 vertices: 1 edges absent, 1 present)
    >>> bounds.lower.tolist(), bounds.upper.tolist()
    ([0.2, 0.0, 0.0], [inf, 0.0, inf])
    """

    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            values = _numbers(name, getattr(self, name))
            if values.ndim != 1 or np.isnan(values).any():
                raise ProblemError(
                    f"{name} must be a list of numbers without NaN, one per edge; its shape is "
                    f"{values.shape}. Use inf in upper for no limit."
                )
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        if self.lower.shape != self.upper.shape:
            raise ProblemError(
                f"lower and upper must have the same length; they have {self.lower.size} and "
                f"{self.upper.size} numbers."
            )
        vertex_count(self.lower)
        heads, tails = edge_index(self.d)
        check_sides(self.lower, self.upper, heads, tails)

    @classmethod
    def from_edges(
        cls,
        d: int | Sequence[Hashable],
        *,
        absent: Iterable[tuple[Hashable, Hashable]] = (),
        present: Iterable[tuple[Hashable, Hashable]] = (),
        least: float = 0.0,
        most: float = np.inf,
    ) -> EdgeBounds:
        """Build bounds from lists of absent and present edges and a largest weight.

        Parameters
        ----------
        d : int or sequence
            The number of vertices, or their names, such as the columns of a data frame.
        absent, present : iterable of pairs
            Pairs of vertices by number, counted from 0, or by name.
        least : float
            The least weight of a present edge.
        most : float
            The largest weight of any edge.
        """
        least = real_number("least", least, 0.0)
        most = real_number("most", most, 0.0, infinite=True)
        names = _names(d)
        places = {name: place for place, name in enumerate(names)}
        size = len(names)
        if len(places) < size:
            raise ProblemError("d has two vertices of the same name; give each its own name.")
        lower, upper = np.zeros((size, size)), np.full((size, size), most)
        for edges, matrix, value in ((present, lower, least), (absent, upper, 0.0)):
            for first, second in _pairs(edges):
                i, j = places.get(first), places.get(second)
                if i is None or j is None or i == j:
                    raise ProblemError(
                        f"({first}, {second}) is not an edge of a graph with vertices "
                        f"{names[0]} to {names[-1]}; give two different ones of these."
                    )
                matrix[i, j] = matrix[j, i] = value
        return cls.from_matrices(lower, upper)

    @classmethod
    def from_list(
        cls,
        d: int | Sequence[Hashable],
        pairs: ArrayLike | scipy.sparse.sparray | Iterable[tuple[Hashable, Hashable]],
        *,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
    ) -> EdgeBounds:
        """Build bounds from a list of the possible edges; all others are absent and take no memory.

        For graphs with many vertices: roads, grids, nearest neighbours.

        Parameters
        ----------
        d : int or sequence
            The number of vertices, or their names.
        pairs : array (k, 2), pairs of vertices, or sparse matrix (d, d)
            The possible edges in any order and direction. For a matrix, such as scikit-learn's
            ``kneighbors_graph``, they are the positions of its entries.
        lower, upper : float or array (k,)
            Bounds of their weights. If a pair is listed twice, both bounds hold.
        """
        from wdro_cvx.graphs.listed_bounds import list_bounds

        names = _names(d, np.iinfo(np.int32).max)
        return list_bounds(names, pairs, lower, upper)

    @classmethod
    def from_matrices(cls, lower: ArrayLike, upper: ArrayLike) -> EdgeBounds:
        """Build bounds from two symmetric matrices; their diagonals are ignored."""
        matrices = [_numbers("lower", lower), _numbers("upper", upper)]
        for name, matrix in zip(("lower", "upper"), matrices, strict=True):
            square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] >= 2
            if not square or not np.array_equal(matrix, matrix.T, equal_nan=True):
                raise ProblemError(
                    f"{name} must be a symmetric matrix of at least two rows; its shape is "
                    f"{matrix.shape}. Give an edge the same bound in both triangles."
                )
        edges = edge_index(matrices[0].shape[0])
        return cls(matrices[0][edges], matrices[1][edges])

    def __repr__(self) -> str:
        """Return counts instead of arrays."""
        absent = int(np.count_nonzero(self.upper == 0.0))
        present = int(np.count_nonzero(self.lower > 0.0))
        return f"EdgeBounds({self.d} vertices: {absent} edges absent, {present} present)"

    @property
    def d(self) -> int:
        """The number of vertices."""
        return vertex_count(self.lower)

    def matrices(self) -> tuple[Array, Array]:
        """Return both bounds as symmetric matrices with a zero diagonal."""
        heads, tails = edge_index(self.d)
        found = []
        for values in (self.lower, self.upper):
            matrix = np.zeros((self.d, self.d))
            matrix[heads, tails] = matrix[tails, heads] = values
            found.append(matrix)
        return found[0], found[1]

    def most_degrees(self) -> Array:
        """Return the largest possible degree of every vertex."""
        heads, tails = edge_index(self.d)
        found = np.zeros(self.d)
        np.add.at(found, heads, self.upper)
        np.add.at(found, tails, self.upper)
        return found

    def check_degrees(self) -> None:
        """Raise ProblemError if a vertex cannot have an edge; logarithms of degrees need one."""
        lonely = np.flatnonzero(self.most_degrees() == 0.0)
        if lonely.size:
            raise ProblemError(
                f"bounds leave vertex {int(lonely[0])} without an edge, and under LogDegree "
                "every vertex needs one. Allow one of its edges, or use eta."
            )

    def check_total(self, total: float) -> None:
        """Raise ProblemError if no weights within the bounds sum to ``total``."""
        self._check_sums(self.lower, self.upper, total)

    def _check_sums(self, lower: Array, upper: Array, total: float) -> None:
        if too_little(upper, total):
            raise ProblemError(
                f"{_empty(total)} the upper bounds sum to {float(upper.sum()):.17g}, which is "
                f"{missing(upper, total):.3g} too little. {_remedy(lower, upper, upper)}"
            )
        with np.errstate(over="ignore"):
            least = float(lower.sum())
        close = least <= total * (1.0 + SURE)
        if not close or (least >= total * (1.0 - SURE) and missing(lower, total) < 0.0):
            excess = -missing(lower, total) if close else least - total
            raise ProblemError(
                f"{_empty(total)} the lower bounds sum to {least:.17g}, which is {excess:.3g} too "
                f"much. {_remedy(lower, upper, lower)}"
            )


def _empty(total: float) -> str:
    return f"no graph has this trace: the weights must sum to exactly trace/2 = {total!r}, and"


def _remedy(lower: Array, upper: Array, side: Array) -> str:
    """Return advice: a bound to change, or a trace that the bounds allow."""
    change = "Lower a lower bound" if side is lower else "Raise an upper bound"
    with np.errstate(over="ignore"):
        moderate = float(side.sum()) < 1e200
    if moderate:
        nearest = math.fsum(side.tolist())
        away = missing(side, nearest)  # what rounding added to the sum
        if side is upper and away > 0.0:
            nearest = math.nextafter(nearest, 0.0)
        elif side is lower and away < 0.0:
            nearest = math.nextafter(nearest, math.inf)
        inside = missing(lower, nearest) >= 0.0 and not too_little(upper, nearest)
        if inside and nearest > 0.0:
            return f"{change}, or give trace={2 * nearest!r}."
        return f"{change}: no floating-point number is a trace within these bounds."
    return f"{change}."


def check_sides(
    lower: Array, upper: Array, heads: NDArray[np.integer], tails: NDArray[np.integer]
) -> None:
    """Raise ProblemError at the first edge whose bounds are not ``0 ≤ lower ≤ upper``."""
    unusable = ~(np.isfinite(lower) & (lower >= 0.0))
    crossed = lower > upper
    for wrong, told in (
        (unusable, "lower must be finite and at least 0"),
        (crossed, "lower exceeds upper; reduce lower or raise upper"),
    ):
        if wrong.any():
            place = int(np.argmax(wrong))
            raise ProblemError(
                f"{told}: edge ({heads[place]}, {tails[place]}) has lower={lower[place]:g} and "
                f"upper={upper[place]:g}."
            )


def _numbers(name: str, values: ArrayLike) -> Array:
    """Return real numbers as a new array, or raise ProblemError."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError
        return np.array(array, dtype=float)
    except (TypeError, ValueError) as reason:
        raise ProblemError(
            f"{name} must hold real numbers, one for each edge; it holds text or other objects."
        ) from reason


def _names(vertices: int | Sequence[Hashable], most: int = MOST_VERTICES) -> Sequence[Hashable]:
    """Return the names of the vertices; their numbers if only a count is given."""
    if isinstance(vertices, (int, np.integer)):
        count = whole_number("d", vertices, 2)
        if count > most:
            raise ProblemError(
                f"d is too large: bounds on all pairs are for at most {most} vertices. List the "
                "possible edges with EdgeBounds.from_list."
            )
        return range(count)
    try:
        names = list(vertices)
        hash(tuple(names))
    except TypeError as reason:
        raise ProblemError(
            f"d must be the number of vertices or a list of their names; it is {vertices!r}."
        ) from reason
    if len(names) < 2:
        raise ProblemError(f"d names {len(names)} vertices; a graph needs at least 2.")
    return names


def _pairs(edges: Iterable[tuple[Hashable, Hashable]]) -> list[tuple[Hashable, Hashable]]:
    """Return edges as hashable pairs, or raise ProblemError."""
    try:
        pairs = [(first, second) for first, second in edges]
        hash(tuple(pairs))
    except (TypeError, ValueError) as reason:
        raise ProblemError(
            f"edges must be pairs of vertices such as [(0, 1), (2, 5)]; they are {edges!r}."
        ) from reason
    return pairs
