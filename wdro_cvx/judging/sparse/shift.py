"""The worst shift of the second moment and its costs, for sets that move no rows.

A shift Δ of the moment adds ``Δ_ii + Δ_jj - 2Δ_ij`` to the cost of a pair. The judge chooses the
shift itself, so no certificate has to hold a d × d matrix:

- moment ball, p = 2: ``εL/‖L‖`` of the graph L;
- moment ball, p = 1: a diagonal r ≥ 0 with ``Σr ≤ ε``, read off the multipliers ν. The risk is a
  cost of the degrees, ε times the largest one. Its conjugate lowers the largest ν to a common
  level s with ``Σ(ν - s)₊ = ε``, so ``r = (ν - s)₊`` and ``ν - r`` remains for the prior;
- moment ball, p = ∞: 4ε for every pair; a surcharge: its amounts.

Any r of this form is in the set, whatever ν is, and so are the other shifts. Amounts are rounded
downwards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from wdro_cvx.ambiguity.structure import Norm, Surcharge
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.judging.court import EPS, SUM
from wdro_cvx.problem import GraphProblem
from wdro_cvx.validation import Array

Single: TypeAlias = NDArray[np.float32]
Indices: TypeAlias = NDArray[np.int32]

_DOWN = 1.0 - 1e-12  # above the rounding of a sum over all vertices, so the shift is in the set
_SINGLE_DOWN = 1.0 - 2.0**-22  # four roundings to single precision


class Shift(ABC):
    """The worst shifts of one set, in the unit of the problem."""

    @abstractmethod
    def premium(self, graph: EdgeList, rounding: float) -> float:
        """Return what the shift adds to the risk of a graph, rounded upwards.

        ``rounding`` is the relative error of the degrees and of sums over them.
        """

    @abstractmethod
    def charges(self, graph: EdgeList, nu: Array) -> tuple[Charges, Array]:
        """Return what a shift in the set adds to the costs, and the multipliers of the prior."""


class Charges:
    """What a shift adds to the costs of pairs: at least ``ends_i + ends_j``, and more on some."""

    ends: Array

    def of(self, heads: Indices, tails: Indices) -> Array:
        """Return the amounts of pairs, rounded downwards."""
        return np.asarray(self.ends[heads] + self.ends[tails])

    def beyond(self, rows: slice, columns: slice) -> Single | None:
        """Return half of the amounts beyond ``ends`` in a block of pairs, rounded downwards.

        None means that they count as zero.
        """
        return None

    def matrix(self) -> Array | None:
        """Return the shift (d, d), or None if there is none."""
        return None


@dataclass(frozen=True, eq=False)
class NoShift(Shift, Charges):
    """No shift."""

    d: int

    @cached_property
    def ends(self) -> Array:  # type: ignore[override]
        """Zeros."""
        return np.zeros(self.d)

    def premium(self, graph: EdgeList, rounding: float) -> float:
        """Return zero."""
        return 0.0

    def charges(self, graph: EdgeList, nu: Array) -> tuple[Charges, Array]:
        """Return no amounts."""
        return self, nu


@dataclass(frozen=True, eq=False)
class FrobeniusShift(Shift):
    """A shift of bounded Frobenius norm."""

    radius: float

    def premium(self, graph: EdgeList, rounding: float) -> float:
        """Return ``ε‖L‖_F``."""
        largest = float(graph.weights.max(initial=0.0))
        return self.radius * (largest * float(np.sqrt(graph.relative.square))) * (1.0 + rounding)

    def charges(self, graph: EdgeList, nu: Array) -> tuple[Charges, Array]:
        """Return the amounts of the shift along the graph's Laplacian."""
        relative = graph.relative
        size = float(np.sqrt(relative.square))
        return Tilt(relative, self.radius / size * _DOWN if size > 0.0 else 0.0), nu


@dataclass(frozen=True, eq=False)
class Tilt(Charges):
    """The shift by ``factor`` times a Laplacian: pairs cost ``factor·(deg_i + deg_j + 2w_ij)``."""

    graph: EdgeList
    factor: float

    @cached_property
    def ends(self) -> Array:  # type: ignore[override]
        """The degrees, times the factor."""
        return self.factor * _DOWN * self.graph.degrees

    def of(self, heads: Indices, tails: Indices) -> Array:
        """Return the amounts of pairs, rounded downwards."""
        graph = self.graph
        keys = graph.heads.astype(np.int64) * graph.d + graph.tails
        if keys.size == 0:
            return super().of(heads, tails)
        wanted = heads.astype(np.int64) * graph.d + tails
        places = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        weights = np.where(keys[places] == wanted, graph.weights[places], 0.0)
        return super().of(heads, tails) + 2 * self.factor * _DOWN * weights

    def matrix(self) -> Array:
        """Return the multiple of the Laplacian."""
        return np.asarray(self.factor * self.graph.laplacian().toarray())


@dataclass(frozen=True, eq=False)
class PeakShift(Shift):
    """A shift with a bounded sum of the absolute values of its entries."""

    radius: float

    def premium(self, graph: EdgeList, rounding: float) -> float:
        """Return ε times the largest degree."""
        return self.radius * float(graph.degrees.max()) * (1.0 + rounding)

    def charges(self, graph: EdgeList, nu: Array) -> tuple[Charges, Array]:
        """Return the amounts of the diagonal that the multipliers imply."""
        ordered = np.sort(nu)[::-1]
        levels = (np.cumsum(ordered) - self.radius) / np.arange(1, nu.size + 1)
        # The level is the largest of these, up to rounding, which the next lines make harmless.
        raised = np.maximum(nu - float(levels.max()), 0.0)
        total = float(raised.sum())
        raised *= min(self.radius / total, 1.0) * _DOWN if total > 0.0 else 0.0
        return Raise(raised), nu - raised


@dataclass(frozen=True, eq=False)
class Raise(Charges):
    """A shift of the diagonal."""

    ends: Array

    def matrix(self) -> Array:
        """Return the diagonal matrix."""
        return np.diag(self.ends)


@dataclass(frozen=True, eq=False)
class DearerPairs(Shift, Charges):
    """The same amounts for every graph."""

    surcharge: Surcharge
    unit: float
    d: int

    @property
    def _factor(self) -> float:
        return (1.0 - 4 * EPS) / self.unit**2

    @cached_property
    def ends(self) -> Array:  # type: ignore[override]
        """Half of the least amount."""
        return np.full(self.d, self.surcharge.least * self._factor / 2)

    def of(self, heads: Indices, tails: Indices) -> Array:
        """Return the amounts of pairs, rounded downwards."""
        return self.surcharge.of(heads, tails) * self._factor

    def beyond(self, rows: slice, columns: slice) -> Single | None:
        """Return half of the amounts beyond the least one, rounded downwards."""
        if self.surcharge.uniform:
            return None
        every = np.arange(self.d)
        found = self.surcharge.of(every[rows, np.newaxis], every[columns])
        # The difference of two rounded amounts; a cancelled one may be below zero.
        found -= self.surcharge.least + 4 * EPS * found
        found *= _SINGLE_DOWN / (2 * self.unit**2)
        return np.maximum(found, 0.0, out=found).astype(np.float32)

    def premium(self, graph: EdgeList, rounding: float) -> float:
        """Return the sum of the amounts over the edges."""
        paid = self.surcharge.of(graph.heads, graph.tails) / self.unit**2
        return float(np.sum(paid * graph.weights)) * (1.0 + SUM)

    def charges(self, graph: EdgeList, nu: Array) -> tuple[Charges, Array]:
        """Return these amounts."""
        return self, nu

    def matrix(self) -> Array:
        """Return the shift, with a zero diagonal."""
        scales, radius = self.surcharge.scales, self.surcharge.radius / self.unit**2
        every = np.ones(self.d * (self.d - 1) // 2) if scales is None else scales
        return np.asarray(squareform(every) * (-radius / 2 * _DOWN))


class EntryShift(DearerPairs):
    """A shift whose entries are bounded: ε on the diagonal and -ε elsewhere."""

    @classmethod
    def of_radius(cls, radius: float, unit: float, d: int) -> EntryShift:
        """Return the shift of entries up to ``radius``, which adds 4ε to every pair."""
        return cls(Surcharge(4 * radius), unit, d)

    def matrix(self) -> Array:
        """Return the shift."""
        entry = self.surcharge.radius / (4 * self.unit**2)
        return entry * (2 * np.eye(self.d) - 1.0)


def shift_of(problem: GraphProblem) -> Shift:
    """Return the worst shifts of a problem's set, in the problem's unit."""
    form, unit = problem.structure, problem.unit
    if isinstance(form, Surcharge):
        return DearerPairs(form, unit, problem.d)
    if not isinstance(form, Norm):
        return NoShift(problem.d)
    radius = problem.ambiguity.radius
    if np.isinf(form.order):
        return EntryShift.of_radius(radius, unit, problem.d)
    return (PeakShift if form.order == 1.0 else FrobeniusShift)(radius / unit**2)
