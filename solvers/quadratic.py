"""The Laplacian QP: what it is, and its answer. solvers/newton.py solves it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wdro_cvx import EdgeBounds
from wdro_cvx.solution import relative_gap
from wdro_cvx.validation import Array


@dataclass(frozen=True)
class LaplacianQP:
    """``min ⟨M, L⟩ + η‖L‖_F²`` over Laplacians of trace ``trace``.

    With ``trace_penalty`` (β) the trace is free and ``β(Tr L - trace)²`` is added. ``bounds`` are
    those of the weights.
    """

    moment: Array
    eta: float
    trace: float
    trace_penalty: float | None = None
    bounds: EdgeBounds | None = None

    @property
    def curvature(self) -> float:
        """κ, the curvature that a trace penalty gives to the dual in τ."""
        return 0.0 if self.trace_penalty is None else 1.0 / (16.0 * self.trace_penalty)


@dataclass(frozen=True)
class QPSolution:
    """The answer to one Laplacian QP.

    Attributes
    ----------
    laplacian : array (d, d)
        Feasible to rounding.
    value, bound : float
        Primal value at ``laplacian`` and dual value at ``(nu, tau)``.
    nu : array (d,)
    tau : float
        The multipliers, which also warm-start a similar QP.
    steps : int
    """

    laplacian: Array
    value: float
    bound: float
    nu: Array
    tau: float
    steps: int

    @property
    def gap(self) -> float:
        """Relative gap between value and bound."""
        return relative_gap(self.value, self.bound)


def edge_gains(moment: Array) -> Array:
    """Return ``-𝒯*M``, edge by edge in a symmetric matrix, with ``-∞`` on the diagonal."""
    diagonal = np.diagonal(moment)
    gains = moment + moment.T
    gains -= np.add.outer(diagonal, diagonal)  # in this order rounding leaves it symmetric
    np.fill_diagonal(gains, -np.inf)
    return gains
