"""The LMI of a transport set, in the coordinates that its solvers use.

    min ⟨rest, L⟩ + ⟨FᵀF, K⟩ + reach‖L‖ + prior(L) + γ + Tr Z
    s.t.  X = [[γI - K, KFᵀ], [FK, Z]] ⪰ 0,    K = TᵀLT

The metric of the transport is ``P = (TTᵀ)⁻¹``, and ``F`` is the factor in the coordinates ``T⁻¹x``.
The unit makes the radius 1. No transport is longer than the radius, so the blocks of the dual are
of comparable size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from wdro_cvx import GraphProblem
from wdro_cvx.ambiguity import Transport
from wdro_cvx.ambiguity.frames import DiagonalFrame, Frame
from wdro_cvx.ambiguity.secular import solve_secular
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

_SLACK = 0.05  # γ starts this far above λmax
_FREE = 1e10


@dataclass(frozen=True, eq=False)
class TransportLMI:
    """The data of the LMI. ``frame`` holds T."""

    factor: Array
    frame: Frame
    rest: Array
    reach: float
    prior: DegreePrior
    trace: float  # trace of the graph, or an estimate if the prior has no target

    @classmethod
    def of(cls, problem: GraphProblem, form: Transport, near: Array) -> TransportLMI:
        """Return the LMI of a problem whose set has this form; ``near`` is an initial Laplacian."""
        unit = form.radius**2
        # A Laplacian annihilates the mean of a signal over the vertices.
        centred = (form.factor - form.factor.mean(axis=1, keepdims=True)) / form.radius
        prior = problem.prior.scaled(1.0 / unit)
        return cls(
            factor=form.frame.inside(centred),
            frame=form.frame,
            rest=np.zeros((problem.d, problem.d)) if form.rest is None else form.rest / unit,
            reach=form.reach / unit,
            prior=prior,
            trace=prior.trace.target or float(np.trace(near)),
        )

    @property
    def d(self) -> int:
        """The number of vertices."""
        return len(self.rest)

    @property
    def scales(self) -> Array:
        """The diagonal of T, which must be diagonal."""
        assert isinstance(self.frame, DiagonalFrame)
        return self.frame.scales

    @property
    def slope(self) -> float:
        """The slope of the total weight in τ: 0 if the trace is fixed, very large if it is free."""
        rule = self.prior.trace
        return _FREE if rule.free else 2.0 * rule.curvature

    @cached_property
    def linear(self) -> Array:
        """The nominal second moment."""
        return self.rest + self.frame.moment(self.factor.T @ self.factor)

    def scaled(self, laplacian: Array) -> Array:
        """Return ``TᵀLT``."""
        return self.frame.form(laplacian)

    def matrix(self, scaled: Array, gamma: float, corner: Array) -> Array:
        """Return X for a matrix K."""
        side = scaled @ self.factor.T
        return np.block([[gamma * np.eye(self.d) - scaled, side], [side.T, corner]])

    def start(self, laplacian: Array) -> tuple[Array, Array]:
        """Return a primal and a dual starting matrix for a Laplacian."""
        scaled = self.scaled(laplacian)
        values, vectors = linalg.eigh(scaled, driver="evd", check_finite=False)
        spectral = self.factor @ vectors
        root = solve_secular(values, np.sum(spectral**2, axis=0), 1.0)
        gamma = max(root.multiplier, (1.0 + _SLACK) * float(values[-1]))
        # How far each direction of the data moves: (γI - K)⁻¹K.
        stretch = values / (gamma - values)
        moves = (spectral * stretch) @ vectors.T
        # The rest of the budget is spread in the directions where the LMI is closest to singular.
        leftover = max(1.0 - float(np.sum(moves**2)), 0.0)
        spread = (vectors * stretch**2) @ vectors.T * (leftover / float(np.sum(stretch**2)))
        primal = self.matrix(scaled, gamma, moves @ scaled @ self.factor.T)
        corner = np.eye(len(moves))
        dual = np.block([[moves.T @ moves + spread, -moves.T], [-moves, corner]])
        return primal, dual
