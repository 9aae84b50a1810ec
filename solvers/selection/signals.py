"""A table of signals as the estimator uses it: rows may have weights, cells may be missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from wdro_cvx import DataError, Nominal, ProblemError
from wdro_cvx.moments.holes import nominal_with_holes
from wdro_cvx.moments.nominal import sample_shares
from wdro_cvx.validation import Array, real_number

# Variation over the vertices below this, relative to the size of the signals, is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Signals:
    """Signals to learn from.

    Attributes
    ----------
    table : array (N, d)
        Missing values are NaN.
    weights : array (N,) or None
        The weight of every row; None if all are equal.
    names : tuple of str or None
        The names of the columns, for error messages.
    """

    table: Array
    weights: Array | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.weights is not None:
            shares = sample_shares(self.weights, len(self.table))
            alike = np.ptp(shares) == 0.0
            object.__setattr__(self, "weights", None if alike else shares)

    def __len__(self) -> int:
        """Return the number of signals."""
        return len(self.table)

    @property
    def d(self) -> int:
        """The number of vertices."""
        return int(self.table.shape[1])

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Which cells have a value."""
        return np.asarray(~np.isnan(self.table))

    @property
    def complete(self) -> bool:
        """Whether no cell is missing."""
        return bool(self.present.all())

    @property
    def overlaps(self) -> Array:
        """The number of rows in which both of two columns have a value."""
        present = self.present.astype(float)
        return np.asarray(present.T @ present)

    @property
    def labels(self) -> tuple[str, ...] | tuple[int, ...]:
        """The names of the columns, or their numbers."""
        return tuple(range(self.d)) if self.names is None else self.names

    def take(self, rows: NDArray[np.intp]) -> Signals:
        """Return the signals of the given rows."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, table=self.table[rows], weights=weights)

    def counted(self) -> Signals:
        """Return the signals without the rows of weight zero."""
        return self if self.weights is None else self.take(np.flatnonzero(self.weights))

    def divided(self, unit: float) -> Signals:
        """Return the signals in another unit."""
        return replace(self, table=self.table / unit)

    def in_unit(self, unit: float | str) -> tuple[Signals, float]:
        """Return the signals divided by a unit, and the unit; ``"auto"`` computes it from them."""
        if isinstance(unit, str) and unit != "auto":
            raise ProblemError(f"unit must be 'auto' or a number; it is {unit!r}.")
        if isinstance(unit, str):
            size = self.unit()
        else:
            size = real_number("unit", unit, 0.0, strict=True, sized=True)
        return self.divided(size), size

    def nominal(self) -> tuple[Nominal, float]:
        """Return the distribution, and the relative change of its second moment due to holes."""
        if self.complete:
            return Nominal.from_samples(self.table, self.weights), 0.0
        return nominal_with_holes(self.table, self.weights, self.names)

    def nominal_of(self, rows: NDArray[np.intp], part: str, remedy: str) -> Nominal:
        """Return the distribution of some rows; errors say which part of the table they are.

        Parameters
        ----------
        rows : array of int
        part, remedy : str
            What these rows are, and what else may help if they have too few values.
        """
        try:
            return self.take(rows).nominal()[0]
        except DataError as error:
            raise DataError(f"{part} has too few values: {error} {remedy}") from None

    @cached_property
    def centred(self) -> Array:
        """Every signal minus its mean over the vertices; missing values are zero."""
        values = np.where(self.present, self.table, 0.0)
        counts = np.maximum(self.present.sum(axis=1), 1)
        values -= (values.sum(axis=1) / counts)[:, np.newaxis]
        return np.where(self.present, values, 0.0)

    @property
    def filled(self) -> Array:
        """The table with missing values replaced by the mean of their column."""
        if self.complete:
            return self.table
        counts = np.maximum(self.present.sum(axis=0), 1)
        means = np.where(self.present, self.table, 0.0).sum(axis=0) / counts
        return np.where(self.present, self.table, means)

    @property
    def shares(self) -> Array:
        """The weights of the rows; they sum to one."""
        if self.weights is None:
            return np.full(len(self), 1.0 / len(self))
        return self.weights

    def unit(self) -> float:
        """Return the root mean square of the centred signals; 1 if it is zero.

        A Laplacian depends only on centred signals, so this is the natural unit of the data.
        """
        peak = float(np.abs(np.where(self.present, self.table, 0.0)).max(initial=0.0))
        if peak == 0.0 or not np.isfinite(peak):
            return 1.0
        scaled = self.divided(peak)  # squares of extreme data stay within range
        total = float(self.shares @ np.sum(scaled.centred**2, axis=1))
        cells = float(self.shares @ self.present.sum(axis=1))
        unit = float(np.sqrt(total / cells))
        return (peak * unit if unit > ROUNDING else 0.0) or 1.0

    def prediction(self, adjacency: Array | sparse.csr_array) -> float:
        """Return how well neighbours predict each other; 1 is perfect, 0 is like the mean.

        A vertex is predicted by the weighted mean over its neighbours that have a value. The score
        is one minus the squared error, relative to that of the plain mean over all other vertices.
        The plain mean also predicts vertices without such a neighbour.
        """
        values, present = self.centred, self.present.astype(float)
        size = np.linalg.norm(np.where(self.present, self.table, 0.0))
        if np.linalg.norm(values) <= ROUNDING * size:
            return 0.0  # every graph predicts constant signals
        others = present.sum(axis=1, keepdims=True) - 1.0
        # The values of a row sum to zero, so all others sum to minus the value itself.
        plain = np.where(others > 0.0, values * (1.0 + 1.0 / np.maximum(others, 1.0)), 0.0)
        degrees = present @ adjacency
        means = values @ adjacency / np.where(degrees > 0.0, degrees, 1.0)
        errors = np.where(degrees > 0.0, (values - means) * present, plain)
        weigh = self.shares[:, np.newaxis]
        return 1.0 - float(np.sum(weigh * errors**2) / np.sum(weigh * plain**2))
