"""The bordered system of an interior point in edge weights and shares of cases.

    W dw + Aᵀ dν + Zᵀ dq - dτ  = edges
    -A dw + Φ⁻¹ dν             = vertices
    -Z dw + Q dq + Cᵀ dδ       = cases
    -1ᵀ dw - softness dτ       = total
    C dq - slack dδ            = border

Eliminating w leaves ``BΩBᵀ + diag(Φ⁻¹, Q, softness)`` with ``B = [A; Z; -1ᵀ]`` and ``Ω = W⁻¹``, of
size d + K + 1, bordered by the few rows of C. The cases are worst cases (minimax.py) or atoms
(solvers/atoms/system.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from wdro_cvx.validation import Array


class EdgeCosts(ABC):
    """The matrix Z of what each of ``count`` cases charges for every edge, in tiles."""

    heads: NDArray[np.intp]
    tails: NDArray[np.intp]

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of cases."""

    @abstractmethod
    def tiles(self) -> Iterator[tuple[slice, slice, Array]]:
        """Yield ranges of cases and edges with their part of Z."""

    def ends(self, values: Array) -> Array:
        """Return ``Aᵀu``: the sum of the values at the two ends of every edge."""
        return np.asarray(values[self.heads] + values[self.tails])

    def losses(self, weights: Array) -> Array:
        """Return ``Zw``."""
        found = np.zeros(self.count)
        for cases, edges, tile in self.tiles():
            found[cases] += tile @ weights[edges]
        return found

    def costs(self, shares: Array) -> Array:
        """Return ``Zᵀq``."""
        found = np.zeros(self.heads.size)
        for cases, edges, tile in self.tiles():
            found[edges] += shares[cases] @ tile
        return found


@dataclass(frozen=True, eq=False)
class CostTable(EdgeCosts):
    """A matrix Z that is stored whole."""

    table: Array
    heads: NDArray[np.intp]
    tails: NDArray[np.intp]

    @property
    def count(self) -> int:
        """The number of cases."""
        return len(self.table)

    def tiles(self) -> Iterator[tuple[slice, slice, Array]]:
        """Yield the whole matrix."""
        yield slice(None), slice(None), self.table


class BorderedSystem:
    """The system, factorised: A is ``incidence``, Z ``costs``, C ``border``.

    ``diagonal`` holds the diagonals of Φ⁻¹ and Q, then softness; ``shifts`` go to `unit_solver`.
    """

    def __init__(
        self,
        incidence: sparse.csr_array,
        costs: EdgeCosts,
        omega: Array,
        diagonal: Array,
        border: Array,
        slack: Array,
        shifts: Sequence[float],
    ) -> None:
        self.incidence, self.costs, self.omega = incidence, costs, omega
        matrix = _edge_products(incidence, costs, omega)
        matrix[np.diag_indices_from(matrix)] += diagonal
        self._solve = unit_solver(matrix, shifts)
        self.border = np.zeros((diagonal.size, len(border)))
        self.border[incidence.shape[0] : -1] = border.T
        self.solved_border = self._solve(self.border)
        self.small = self.border.T @ self.solved_border + np.diag(slack)

    def solve(
        self, edges: Array, vertices: Array | float, cases: Array, total: float, border: Array
    ) -> tuple[Array, Array, Array, float, Array]:
        """Return dw, dν, dq, dτ and dδ for a right-hand side."""
        d, costs = self.incidence.shape[0], self.costs
        pushed = self.omega * edges
        upper = self.incidence @ pushed + vertices
        last = -float(pushed.sum()) - total
        first = self._solve(np.concatenate([upper, costs.losses(pushed) + cases, [last]]))
        delta = np.linalg.solve(self.small, self.border.T @ first - border)
        found = first - self.solved_border @ delta
        nu, shares, tau = found[:d], found[d:-1], float(found[-1])
        weights = pushed - self.omega * (costs.ends(nu) + costs.costs(shares) - tau)
        return weights, nu, shares, tau, np.asarray(delta, float)


def _edge_products(incidence: sparse.csr_array, costs: EdgeCosts, omega: Array) -> Array:
    """Return the lower triangle of ``BΩBᵀ``."""
    d, size = incidence.shape[0], incidence.shape[0] + costs.count + 1
    matrix = np.zeros((size, size))
    matrix[costs.tails, costs.heads] = omega
    degrees = incidence @ omega
    matrix[np.arange(d), np.arange(d)] = degrees
    cross, square = matrix[d:-1, :d], matrix[d:-1, d:-1]
    for _, edges, tile in costs.tiles():
        root = np.sqrt(omega[edges])
        scaled = tile * root
        square += scaled @ scaled.T  # half of the work of any other product
        scaled *= root
        whole = scaled.shape[1] == omega.size  # slicing a sparse matrix takes time
        cross += ((incidence if whole else incidence[:, edges]) @ scaled.T).T
    matrix[-1, :d], matrix[-1, d:-1] = -degrees, -costs.losses(omega)
    matrix[-1, -1] = float(omega.sum())
    return matrix


def unit_solver(matrix: Array, shifts: Sequence[float]) -> Callable[[Array], Array]:
    """Factorise a positive definite matrix after scaling it to a unit diagonal.

    Reads the lower triangle, in place. Tries the ``shifts`` of the diagonal one after the other
    until rounding leaves a factor; raises LinAlgError if none does.
    """
    scale = 1.0 / np.sqrt(np.diagonal(matrix))
    matrix *= scale[:, np.newaxis]
    matrix *= scale
    for shift in shifts:
        np.fill_diagonal(matrix, 1.0 + shift)
        try:
            factor = linalg.cho_factor(matrix, lower=True, check_finite=False)
            break
        except linalg.LinAlgError:
            continue
    else:
        raise linalg.LinAlgError(
            f"no shift up to {shifts[-1]:g} makes the system positive definite"
        )

    def solve(right: Array) -> Array:
        rows = scale if right.ndim == 1 else scale[:, np.newaxis]
        return np.asarray(rows * linalg.cho_solve(factor, rows * right, check_finite=False))

    return solve
