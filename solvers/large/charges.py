"""What every pair costs beyond its squared distance, for any graph, in the search's units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wdro_cvx import GraphProblem
from wdro_cvx.ambiguity import Norm, Surcharge
from wdro_cvx.validation import Array

_ROWS = 32  # at a time, so that the amounts stay in the cache
_DOWN = 1.0 - 2.0**-22  # four roundings to single precision


@dataclass(frozen=True, eq=False)
class Charges:
    """A surcharge in the unit and vertex order of the search.

    Attributes
    ----------
    surcharge : Surcharge
        In the unit and the vertex order of the data.
    order : array (d,) of int
        The data's number of every vertex.
    square : float
        The divisor of the amounts: the square of the search's unit.
    free : float
        A number that is subtracted from all amounts. If the trace is fixed, it is the least amount,
        whose total is the same for every graph; otherwise it is 0.
    """

    surcharge: Surcharge
    order: NDArray[np.integer]
    square: float
    free: float

    @property
    def least(self) -> float:
        """The least amount of a pair."""
        return (self.surcharge.least - self.free) / self.square

    def of(self, heads: NDArray[np.integer], tails: NDArray[np.integer]) -> Array:
        """Return the amounts of pairs."""
        found = self.surcharge.of(self.order[heads], self.order[tails])
        found -= self.free
        found /= self.square
        return found

    def beyond(
        self, rows: NDArray[np.integer], columns: NDArray[np.integer]
    ) -> NDArray[np.float32] | None:
        """Return the amounts beyond the least one for all pairs of two lists, rounded downwards.

        Return None if all amounts are equal.
        """
        if self.surcharge.uniform:
            return None
        found = np.empty((rows.size, columns.size), dtype=np.float32)
        first, second = self.order[rows], self.order[columns]
        for start in range(0, rows.size, _ROWS):
            part = slice(start, start + _ROWS)
            amounts = self.surcharge.of(first[part, np.newaxis], second)
            amounts -= self.surcharge.least
            np.multiply(amounts, _DOWN / self.square, out=found[part], casting="same_kind")
        return found


def surcharge_of(problem: GraphProblem) -> Surcharge | None:
    """Return the surcharge that describes a problem's set, or None."""
    form = problem.structure
    if isinstance(form, Norm) and np.isinf(form.order):  # ε‖vec L‖₁ = 4ε times the total weight
        return Surcharge(4 * problem.ambiguity.radius)
    return form if isinstance(form, Surcharge) else None


def charges_of(problem: GraphProblem, order: NDArray[np.integer], square: float) -> Charges | None:
    """Return a problem's charges; None if they are zero or the same constant for all graphs."""
    surcharge = surcharge_of(problem)
    if surcharge is None:
        return None
    fixed = problem.prior.trace.fixed
    if surcharge.radius == 0.0 or (fixed and surcharge.uniform):
        return None
    return Charges(surcharge, order, square, surcharge.least if fixed else 0.0)
