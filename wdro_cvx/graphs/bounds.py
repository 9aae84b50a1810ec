"""What is known about edges beforehand: some are absent, some present, weights are limited.

A constraint on the Laplacians, so every model and every solver that goes through the Laplacian QP
has it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.laplacian import edge_index, vertex_count
from wdro_cvx.validation import Array, real_number, whole_number

_EPS = float(np.finfo(float).eps)
_REPAIRS = 100
# Pairwise sums of nonnegative numbers are right to far less than this.
_SURE = 1e-9
_CLOSE = 1e-6
_HUGE = 1e200
_FEW = 1000  # numbers that are added up one by one, or tried as a place for the last crumb

#: Bounds are stored for every pair, unless the possible ones are listed.
MOST_VERTICES = 20_000


@dataclass(frozen=True, eq=False)
class EdgeBounds:
    """Bounds ``lower ≤ w ≤ upper`` of the edge weights.

    Build them with :meth:`from_edges`, with :meth:`from_matrices`, or for many vertices from a list
    of the possible edges with :meth:`from_list`.

    Attributes
    ----------
    lower, upper : array (m,)
        In the order of ``weights_from_laplacian``; ``upper`` may be infinite.
    """

    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            values = _numbers(name, getattr(self, name))
            if values.ndim != 1 or np.isnan(values).any():
                raise ProblemError(f"{name} must be a list of one number per edge, without NaN.")
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        if self.lower.shape != self.upper.shape:
            raise ProblemError("lower and upper must have the same length.")
        vertex_count(self.lower)
        if self.lower.min() < 0.0 or not np.isfinite(self.lower).all():
            raise ProblemError("lower bounds must be finite and at least 0: weights are.")
        if (self.lower > self.upper).any():
            raise ProblemError("a lower bound exceeds its upper bound.")

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
        """State which edges are absent, which have at least the weight ``least``, and a maximum.

        Parameters
        ----------
        d : int or sequence
            The number of vertices, or their names, such as the columns of a data frame.
        absent, present : pairs of vertices, counted from 0, or by name
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
            raise ProblemError("d has two vertices of the same name; names must differ.")
        lower, upper = np.zeros((size, size)), np.full((size, size), most)
        for edges, matrix, value in ((present, lower, least), (absent, upper, 0.0)):
            for first, second in _pairs(edges):
                i, j = places.get(first), places.get(second)
                if i is None or j is None or i == j:
                    raise ProblemError(
                        f"({first}, {second}) is no edge of a graph with vertices "
                        f"{names[0]} to {names[-1]}."
                    )
                matrix[i, j] = matrix[j, i] = value
        return cls.from_matrices(lower, upper)

    @classmethod
    def from_list(
        cls,
        d: int | Sequence[Hashable],
        pairs: ArrayLike | sparse.sparray | Iterable[tuple[Hashable, Hashable]],
        *,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
    ) -> EdgeBounds:
        """State which edges are possible; all others are absent, and nothing is stored for them.

        For graphs of many vertices: roads, grids, the nearest neighbours of every vertex.

        Parameters
        ----------
        d : int or sequence
            The number of vertices, or their names.
        pairs : array (k, 2), pairs of vertices, or sparse matrix (d, d)
            The possible edges, in any order and direction; of a matrix, such as scikit-learn's
            ``kneighbors_graph``, the places of its entries.
        lower, upper : float or array (k,)
            Bounds of their weights; of a pair that is named twice both hold.
        """
        from wdro_cvx.graphs.listed_bounds import list_bounds

        names = _names(d, np.iinfo(np.int32).max)
        return list_bounds(names, pairs, lower, upper)

    @classmethod
    def from_matrices(cls, lower: ArrayLike, upper: ArrayLike) -> EdgeBounds:
        """State the bounds as symmetric matrices; their diagonals are not read."""
        matrices = [_numbers("lower", lower), _numbers("upper", upper)]
        for name, matrix in zip(("lower", "upper"), matrices, strict=True):
            square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] >= 2
            if not square or not np.array_equal(matrix, matrix.T, equal_nan=True):
                raise ProblemError(f"{name} must be a symmetric matrix of at least two vertices.")
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
        """Return the largest degree that every vertex may have."""
        heads, tails = edge_index(self.d)
        found = np.zeros(self.d)
        np.add.at(found, heads, self.upper)
        np.add.at(found, tails, self.upper)
        return found

    def check_total(self, total: float) -> None:
        """Raise ProblemError unless weights that sum to ``total`` exist."""
        self._check_sums(self.lower, self.upper, total)

    def _check_sums(self, lower: Array, upper: Array, total: float) -> None:
        if _too_little(upper, total):
            raise ProblemError(
                f"{_empty(total)} the upper bounds sum to {float(upper.sum()):.17g}, which is "
                f"{missing(upper, total):.3g} too little. {_remedy(lower, upper, upper)}"
            )
        with np.errstate(over="ignore"):
            least = float(lower.sum())
        close = least <= total * (1.0 + _SURE)
        if not close or (least >= total * (1.0 - _SURE) and missing(lower, total) < 0.0):
            excess = -missing(lower, total) if close else least - total
            raise ProblemError(
                f"{_empty(total)} the lower bounds sum to {least:.17g}, which is {excess:.3g} too "
                f"much. {_remedy(lower, upper, lower)}"
            )


def _empty(total: float) -> str:
    return f"no graph has this trace: the weights must sum to exactly trace/2 = {total!r}, and"


def _remedy(lower: Array, upper: Array, side: Array) -> str:
    """Say which bounds to change, or which trace is within them."""
    change = "Lower a lower bound" if side is lower else "Raise an upper bound"
    with np.errstate(over="ignore"):
        moderate = float(side.sum()) < _HUGE
    if moderate:
        nearest = math.fsum(side.tolist())
        away = missing(side, nearest)  # what rounding added to the sum
        if side is upper and away > 0.0:
            nearest = math.nextafter(nearest, 0.0)
        elif side is lower and away < 0.0:
            nearest = math.nextafter(nearest, math.inf)
        inside = missing(lower, nearest) >= 0.0 and not _too_little(upper, nearest)
        if inside and nearest > 0.0:
            return f"{change}, or give trace={2 * nearest!r}."
        return f"{change}: no floating-point number is a trace within these bounds."
    return f"{change}."


def missing(weights: Array, total: float) -> float:
    """Return ``total - Σw``, rounded only once, so that its sign is exact."""
    rest, parts = weights[weights != 0.0], [total]
    while rest.size > _FEW:
        # Rounded to multiples of a unit of which all sums are numbers, leading digits add up
        # exactly (Rump, Ogita and Oishi, SIAM J. Sci. Comput. 2008); what is left is far smaller.
        _, exponent = math.frexp(float(np.abs(rest).max()))
        unit = math.ldexp(1.0, exponent + (rest.size + 2).bit_length())
        leading = (rest + unit) - unit
        parts.append(-float(leading.sum()))
        rest = rest - leading
        rest = rest[rest != 0.0]
    return math.fsum([*parts, *(-rest).tolist()])


def _too_little(caps: Array, total: float) -> bool:
    """Say whether caps sum to less than ``total``, exactly."""
    caps = np.minimum(caps, total)  # as good as the caps themselves, and no sum overflows
    return float(caps.sum()) <= total * (1.0 + _SURE) and missing(caps, total) > 0.0


def shortfall(weights: Array, total: float) -> float:
    """Return ``total - Σw``, as :func:`missing` does where it is small and for less where not."""
    short = total - float(weights.sum())
    return missing(weights, total) if abs(short) <= _CLOSE * total else short


def project_box(point: Array, bounds: EdgeBounds, total: float) -> Array:
    """Project onto ``{lower ≤ w ≤ upper, Σw = total}``: ``w = clip(point - θ)``.

    The sum falls with θ, piecewise linearly; Newton steps, kept in a bracket by bisection, end on
    the right piece.
    """
    return project_interval(point, bounds.lower, bounds.upper, total)


def project_interval(point: Array, lower: Array, upper: Array, total: float) -> Array:
    """Do the same for bounds of any numbers, such as those of some edges only.

    The weights are within the bounds, and their exact sum is ``total``, or would be if one positive
    weight were changed by less than its own rounding. A point that has this already is returned as
    it is. Where no weights within the bounds have the sum, it is as near as they allow.
    """
    weights = np.clip(point, lower, upper)
    if abs(float(weights.sum()) - total) > 4 * _EPS * total:
        weights = _shifted(point, lower, upper, total)
    return _summing_to(point, weights, lower, upper, total)


def nearby_weights(weights: Array, lower: Array, upper: Array, total: float) -> Array:
    """Return weights as :func:`project_interval` does, without new edges where none are needed.

    An edge that a graph does not have may cost any amount, of which a repair knows nothing.
    """
    own = np.where(weights > 0.0, upper, lower)
    if _too_little(own, total):
        own = upper
    return project_interval(weights, lower, own, total)


def _shifted(point: Array, lower: Array, upper: Array, total: float) -> Array:
    """Return ``clip(point - θ)`` with a sum of ``total`` up to rounding of the point."""
    finite = np.where(np.isfinite(upper), upper, lower + total)
    low, high = float(np.min(point - finite)) - total, float(np.max(point - lower)) + total
    theta = float(np.mean(point)) - total / point.size
    for _ in range(200):
        theta = theta if low < theta < high else (low + high) / 2
        weights = np.clip(point - theta, lower, upper)
        excess = float(weights.sum()) - total
        if abs(excess) <= 4 * _EPS * total:
            break
        low, high = (theta, high) if excess > 0 else (low, theta)
        free = int(np.count_nonzero((weights > lower) & (weights < upper)))
        step = theta + excess / free if free else np.inf
        if step == theta or high - low <= _EPS * max(abs(low), abs(high)):
            break
        theta = step
    return np.asarray(weights)


def _summing_to(point: Array, weights: Array, lower: Array, upper: Array, total: float) -> Array:
    """Place what the sum lacks, or take off what it has too much, until it is exact."""
    for _ in range(_REPAIRS):
        short = missing(weights, total)
        if short == 0.0 or not _place(point, weights, lower, upper, total, short):
            break
    return weights


def _place(
    point: Array, weights: Array, lower: Array, upper: Array, total: float, short: float
) -> bool:
    """Change weights so that their sum lacks less than ``short``, unless rounding allows no less.

    Edges strictly within their bounds come first, whose prices are equal in a projection; then
    others that carry weight, and at last those without. Among these the point knows best.
    """
    size = abs(short)
    places = np.flatnonzero((weights > lower) & (weights < upper))
    free = places.size > 0
    if free and size <= 64 * _EPS * total:
        places = _few_of(places, weights)
    elif not free:
        open_ = weights < upper if short > 0.0 else weights > lower
        places = np.flatnonzero(open_ & (weights > 0.0))
        places = places if places.size else np.flatnonzero(open_)
        if places.size == 0:
            return False
    own, least, most = weights[places], lower[places], upper[places]
    room = most - own if short > 0.0 else own - least
    if free and size > 64 * _EPS * total:  # on all alike, as far as there is room
        reach = np.minimum(room, size)
        step = np.copysign(min(size / float(reach.sum()), 1.0), short)
        weights[places] = np.clip(own + step * reach, least, most)
        return True
    moved = own + short
    change = moved - own
    error = np.abs((own - (moved - change)) + (short - change))  # exactly what rounding drops
    gain = np.copysign(1.0, short) * (point[places] - own)
    fits = (moved >= least) & (moved <= most)
    if free and fits.any():
        gain[~fits | (error > error[fits].min())] = -np.inf
    elif (error >= size).any():
        return False  # less than the rounding of a weight that has room for it
    best = int(np.argmax(gain))
    if not fits[best]:
        order = np.argsort(-gain, kind="stable")
        count = np.searchsorted(np.cumsum(room[order]), size)
        filled = order[: max(int(count), 1)]
        weights[places[filled]] = most[filled] if short > 0.0 else least[filled]
    elif error[best] >= size:
        return False
    else:
        weights[places[best]] = moved[best]
    return True


def _few_of(places: NDArray[np.intp], weights: Array) -> NDArray[np.intp]:
    """Return some of many places: the lightest, which have the finest digits, and any others."""
    if places.size <= 2 * _FEW:
        return places
    lightest = places[np.argpartition(weights[places], _FEW)[:_FEW]]
    return np.union1d(lightest, places[:: places.size // _FEW])


def _numbers(name: str, values: ArrayLike) -> Array:
    """Return real numbers as an array of their own, or raise ProblemError."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError
        return np.array(array, dtype=float)
    except (TypeError, ValueError) as reason:
        raise ProblemError(f"{name} must hold real numbers, one for each edge.") from reason


def _names(vertices: int | Sequence[Hashable], most: int = MOST_VERTICES) -> Sequence[Hashable]:
    """Return the names of vertices, their numbers if a number is all that is given."""
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
    """Return edges as pairs that can be looked up, or raise ProblemError."""
    try:
        pairs = [(first, second) for first, second in edges]
        hash(tuple(pairs))
    except (TypeError, ValueError) as reason:
        raise ProblemError(
            f"edges must be pairs of vertices such as [(0, 1), (2, 5)]; they are {edges!r}."
        ) from reason
    return pairs
