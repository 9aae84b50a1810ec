"""Coordinates ``x = Ty`` in which a transport cost is Euclidean: diagonal, or a full matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)


class Frame(ABC):
    """The map ``x = Ty``; rows of tables are signals."""

    @abstractmethod
    def inside(self, rows: Array) -> Array:
        """Return the rows y of signals x."""

    @abstractmethod
    def outside(self, rows: Array) -> Array:
        """Return the rows ``x = Ty`` of signals y."""

    @abstractmethod
    def pulled(self, rows: Array) -> Array:
        """Return ``rows·T``, the derivatives in y of functions with these derivatives in x."""

    @abstractmethod
    def form(self, matrix: Array) -> Array:
        """Return ``TᵀLT``, the quadratic form L of signals x as one of signals y."""

    @abstractmethod
    def moment(self, matrix: Array) -> Array:
        """Return ``TMTᵀ``, the second moment of x for the second moment M of y."""

    @abstractmethod
    def inner_moment(self, matrix: Array) -> Array:
        """Return ``T⁻¹MT⁻ᵀ``, the second moment of y for the second moment M of x."""

    @property
    @abstractmethod
    def widest(self) -> float:
        """The largest stretch ``‖T‖₂``."""

    @abstractmethod
    def length(self, moves: Array) -> float:
        """Return the length of moves x in the coordinates y, rounded upwards."""


@dataclass(frozen=True, eq=False)
class DiagonalFrame(Frame):
    """A scale per vertex."""

    scales: Array

    def inside(self, rows: Array) -> Array:
        """Return ``x / s``."""
        return rows / self.scales

    def outside(self, rows: Array) -> Array:
        """Return ``sy``."""
        return rows * self.scales

    pulled = outside

    def form(self, matrix: Array) -> Array:
        """Return ``SLS``."""
        return matrix * np.outer(self.scales, self.scales)

    moment = form

    def inner_moment(self, matrix: Array) -> Array:
        """Return ``S⁻¹MS⁻¹``."""
        return matrix / np.outer(self.scales, self.scales)

    @property
    def widest(self) -> float:
        """The largest scale."""
        return float(self.scales.max())

    def length(self, moves: Array) -> float:
        """Return ``‖x / s‖``."""
        # Pairwise sums of squares have an error of less than 40 roundings at any length.
        return float(np.sqrt(np.sum((moves / self.scales) ** 2))) * (1.0 + 32 * _EPS)


@dataclass(frozen=True, eq=False)
class MatrixFrame(Frame):
    """An invertible matrix."""

    matrix: Array

    @cached_property
    def inverse(self) -> Array:
        """``T⁻¹``."""
        return scipy.linalg.inv(self.matrix, check_finite=False)

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """Upper bounds of ``‖T‖₂`` and ``‖T⁻¹‖₂``."""
        singular = scipy.linalg.svdvals(self.matrix)
        slack = 1.0 + 1e-6  # more than the error of a singular value at any admitted condition
        return float(singular[0]) * slack, slack / float(singular[-1])

    @cached_property
    def residual(self) -> float:
        """An upper bound of ``‖TX - I‖₂`` for the computed inverse X."""
        product = np.abs(self.matrix) @ np.abs(self.inverse)
        left = np.abs(self.matrix @ self.inverse - np.eye(len(product)))
        bound = left + 2 * (len(product) + 8) * _EPS * product
        rows, columns = bound.sum(axis=1).max(), bound.sum(axis=0).max()
        return float(np.sqrt(rows * columns)) * (1.0 + 32 * _EPS)

    def form_error(self, matrix: Array) -> Array:
        """Return a bound of the rounding error of every entry of :meth:`form`."""
        size = np.abs(self.matrix)
        return np.asarray(2 * (len(size) + 8) * _EPS * (size.T @ np.abs(matrix) @ size))

    def inside(self, rows: Array) -> Array:
        """Return ``xT⁻ᵀ``."""
        return np.asarray(rows @ self.inverse.T)

    def outside(self, rows: Array) -> Array:
        """Return ``yTᵀ``."""
        return np.asarray(rows @ self.matrix.T)

    def pulled(self, rows: Array) -> Array:
        """Return ``rows·T``."""
        return np.asarray(rows @ self.matrix)

    def form(self, matrix: Array) -> Array:
        """Return ``TᵀLT``."""
        return _symmetric(self.matrix.T @ matrix @ self.matrix)

    def moment(self, matrix: Array) -> Array:
        """Return ``TMTᵀ``."""
        return _symmetric(self.matrix @ matrix @ self.matrix.T)

    def inner_moment(self, matrix: Array) -> Array:
        """Return ``T⁻¹MT⁻ᵀ``."""
        return _symmetric(self.inverse @ matrix @ self.inverse.T)

    @property
    def widest(self) -> float:
        """``‖T‖₂``."""
        return self.sizes[0]

    def length(self, moves: Array) -> float:
        """Return ``‖xT⁻ᵀ‖``, rounded upwards.

        For any guess y it is at most ``‖y‖ + ‖x - yTᵀ‖‖T⁻¹‖``, so the error of the inverse does no
        harm.
        """
        guess = self.inside(moves)
        # Rounding is bounded by |T|, whose spectral norm may exceed that of T; their Frobenius
        # norms are equal.
        wide, narrow = float(np.linalg.norm(self.matrix)), self.sizes[1]
        size = float(np.linalg.norm(guess))
        rounding = (len(self.matrix) + 8) * _EPS * (float(np.linalg.norm(moves)) + wide * size)
        left = float(np.linalg.norm(moves - self.outside(guess))) + rounding
        return (size + left * narrow) * (1.0 + 32 * _EPS)


def _symmetric(matrix: Array) -> Array:
    return np.asarray((matrix + matrix.T) / 2)
