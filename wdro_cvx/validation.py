"""Checks of user input, made before any work starts."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wdro_cvx.errors import DataError, ProblemError, WdroError

Array = NDArray[np.float64]

# The allowed deviation from symmetric or positive semidefinite, relative to the matrix; well above
# the rounding of a covariance in double precision.
MATRIX_TOLERANCE = 1e-9
# Numbers beyond these are refused, because their squares and products may leave the range of
# floating point.
LARGEST, SMALLEST = 1e100, 1e-100
#: The largest condition number of a matrix of coordinates; at this one half the digits are lost.
MOST_UNEVEN = 1e8
# The largest entry of such a matrix lies between the inverse of this number and the number itself.
# The fourth power of the entry enters the squares of moves, of shifts and of the graph in these
# coordinates.
_LARGEST_COORDINATE = 1e30
# The judge rounds outwards, so its gaps are hardly smaller than this, even for few vertices.
_TIGHTEST = 1e-13


def finite_array(
    name: str, value: ArrayLike, ndim: int, error: type[WdroError] = DataError
) -> Array:
    """Return ``value`` as a new float array with ``ndim`` axes, or raise ``error``."""
    if np.ma.is_masked(value):
        count = int(np.sum(getattr(value, "mask", 0)))
        raise error(f"{name} has {count} masked values; drop or impute them first.")
    try:
        raw = np.asarray(value)
        if raw.dtype.kind not in "biufO":
            raise TypeError(f"entries are of type {raw.dtype}")
        array = np.array(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as reason:
        raise error(f"{name} must be an array of real numbers: {reason}.") from reason
    if array.ndim != ndim:
        hint = " One signal is a table of one row: pass X[np.newaxis, :]." if ndim == 2 else ""
        raise error(f"{name} must have {ndim} axes; it has shape {array.shape}.{hint}")
    if array.size == 0:
        raise error(f"{name} is empty (shape {array.shape}); pass at least one number.")
    if not np.isfinite(array).all():
        bad = ~np.isfinite(array)
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise error(
            f"{name} has {int(bad.sum())} values that are NaN or infinite, the first at index "
            f"{where}; drop or impute them first."
        )
    return array


def ordinary_size(name: str, array: Array, degree: int = 1) -> None:
    """Raise DataError for data whose squares over- or underflow; use ``degree`` 2 for moments."""
    size = float(np.abs(array).max())
    low, high = SMALLEST**degree, LARGEST**degree
    if size > high or 0.0 < size < low:
        raise DataError(
            f"{name} has entries of size {size:.3g}, whose squares leave the range of floating "
            "point numbers; measure the data in another unit."
        )


def square_matrix(
    name: str, value: ArrayLike, size: int | None = None, error: type[WdroError] = DataError
) -> Array:
    """Return a finite square matrix of the given size."""
    matrix = finite_array(name, value, 2, error)
    expected = matrix.shape[0] if size is None else size
    if matrix.shape != (expected, expected):
        raise error(f"{name} must have shape {(expected, expected)}; it has {matrix.shape}.")
    return matrix


def covariance_matrix(name: str, value: ArrayLike, size: int) -> Array:
    """Return a symmetric positive semidefinite matrix, exactly symmetric."""
    matrix = square_matrix(name, value, size)
    scale = float(np.abs(matrix).max())
    skew = float(np.abs(matrix / 2 - matrix.T / 2).max()) * 2
    if skew > MATRIX_TOLERANCE * scale:
        raise DataError(
            f"{name} is not symmetric: it differs from its transpose by {skew:.3g}; "
            f"pass ({name} + {name}.T) / 2 if that is rounding."
        )
    ordinary_size(name, matrix, degree=2)
    matrix = (matrix + matrix.T) / 2
    lowest = float(np.linalg.eigvalsh(matrix)[0])
    if lowest < -MATRIX_TOLERANCE * max(scale, np.finfo(float).tiny):
        raise DataError(
            f"{name} is not positive semidefinite: its smallest eigenvalue is {lowest:.3g}; "
            "no distribution has this covariance. If that is rounding, set negative eigenvalues to "
            "0."
        )
    return matrix


def coordinate_matrix(name: str, value: ArrayLike, size: int | None = None) -> Array:
    """Return an invertible square matrix, or raise ProblemError; ``size`` is None for any."""
    matrix = finite_array(name, value, 2, ProblemError)
    if matrix.shape[0] != matrix.shape[1]:
        raise ProblemError(f"{name} must be a square matrix; its shape is {matrix.shape}.")
    if size is not None and len(matrix) != size:
        raise ProblemError(
            f"{name} must be a matrix for {size} vertices; it has {len(matrix)} rows."
        )
    largest = float(np.abs(matrix).max())
    if largest > 0.0 and not 1.0 / _LARGEST_COORDINATE <= largest <= _LARGEST_COORDINATE:
        raise ProblemError(
            f"the largest entry of {name} must lie between {1.0 / _LARGEST_COORDINATE:g} and "
            f"{_LARGEST_COORDINATE:g} in size; it is {largest:.3g}. Measure in another unit, and "
            "divide the radii by the same factor."
        )
    singular = np.linalg.svd(matrix, compute_uv=False)
    if not singular[-1] > 0.0 or singular[0] > MOST_UNEVEN * singular[-1]:
        condition = singular[0] / singular[-1] if singular[-1] > 0.0 else np.inf
        raise ProblemError(
            f"{name} must be invertible, with a condition number of at most {MOST_UNEVEN:g}; its "
            f"condition number is {condition:.3g}. Add a small multiple of the identity."
        )
    return matrix


def positive_scales(values: ArrayLike, place: Callable[[int], str], remedy: str) -> Array:
    """Return positive numbers within 20 digits of each other; ``place`` names them in errors."""
    scales = finite_array("scales", values, 1, ProblemError)
    if scales.min() <= 0.0:
        least = int(scales.argmin())
        raise ProblemError(
            f"scales must be positive; that of {place(least)} is {scales[least]:g}. {remedy}"
        )
    widest = 1e20  # beyond, the smallest is below the rounding of the largest
    if scales.max() > widest * scales.min():
        raise ProblemError(
            f"scales must lie within a factor of {widest:g} of each other; they go from "
            f"{scales.min():g} to {scales.max():g}. Raise the smallest ones."
        )
    return scales


def real_number(
    name: str,
    value: Any,
    minimum: float,
    *,
    strict: bool = False,
    infinite: bool = False,
    sized: bool = False,
    remedy: str = "",
) -> float:
    """Return ``value`` as a float if it is a number at or (``strict``) above ``minimum``.

    A ``sized`` number has the unit of the data or of their squares, so its size is limited.
    """
    # Most numbers are floats; asking an abstract class takes longer than all the rest.
    if type(value) is not float and (
        isinstance(value, (bool, np.bool_)) or not isinstance(value, Real)
    ):
        raise ProblemError(f"{name} must be a number; it is {value!r}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    low = number <= minimum if strict else number < minimum
    if low or math.isnan(number) or (math.isinf(number) and not infinite):
        relation = ">" if strict else "≥"
        kind = "" if infinite else "finite and "
        raise ProblemError(
            f"{name} must be {kind}{relation} {minimum:g}; it is {number:g}. {remedy}".rstrip()
        )
    low_limit, high_limit = SMALLEST**2, LARGEST**2
    if sized and (high_limit < number < math.inf or 0.0 < number < low_limit):
        raise ProblemError(
            f"{name} must lie between {low_limit:g} and {high_limit:g}; it is {number:g}. Measure "
            "the data in another unit."
        )
    return number


def one_number(name: str, value: Any) -> float:
    """Return a number of any type as a float, also from an array without axes; it may be NaN."""
    whole = np.asarray(value)
    if whole.ndim > 0 or whole.dtype.kind not in "iuf":
        told = f"an array of shape {whole.shape}" if whole.ndim else repr(value)
        raise ProblemError(f"{name} must be a number; it is {told}.")
    return float(whole)


def tolerance(value: Any) -> float:
    """Return a relative gap between 1e-13, the smallest that can be proved, and 1."""
    number = real_number("tol", value, 0.0, strict=True)
    if not _TIGHTEST <= number <= 1.0:
        raise ProblemError(
            f"tol is a relative gap and must lie between {_TIGHTEST:g} and 1; it is {number:g}. "
            "Smaller gaps cannot be proved in double precision."
        )
    return number


def whole_number(name: str, value: Any, minimum: int) -> int:
    """Return ``value`` as an int if it is a whole number of at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < minimum:
        raise ProblemError(f"{name} must be a whole number ≥ {minimum}; it is {value!r}.")
    return int(value)
