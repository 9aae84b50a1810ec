"""The step of the ADMM in L and γ: accelerated gradients, each a Laplacian QP.

    min ⟨C, L⟩ + reach‖L‖ + η‖L‖² + γ + ρ/2‖γI - K - upper‖² + ρ‖KFᵀ - side‖²,    K = SLS

The QP contains ``‖K‖²`` exactly, with γ eliminated (quadratic.py). Two terms are majorised:
``2‖KFᵀ‖²`` by a curvature found by backtracking, and the norm by the parabola that touches it from
above.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from solvers.qp import edge_gains
from solvers.qp.ascent import maximise
from solvers.transport.lmi import TransportLMI
from solvers.transport.quadratic import StepPoint, StepQP
from wdro_cvx.validation import Array

_MAX_STEPS = 200  # one or two are usual
_FORGET = 0.9  # decay of the curvature between steps, so it adapts to the active edges
_QP_TOL = 1e-16  # to rounding: errors of the steps add up over the iterations
_QP_STEPS = 200
_EMPTY = 1e-6  # relative to the trace: a smaller graph counts as empty


@dataclass
class LaplacianStep:
    """The step, with the state that is kept between calls."""

    lmi: TransportLMI
    laplacian: Array
    tau: float | None = None
    curvature: float = 1.0  # of 2‖KFᵀ‖², locally; over all matrices it may be far larger
    solved: int = 0  # number of QPs so far

    @cached_property
    def _squares(self) -> Array:
        return np.outer(self.lmi.scales**2, self.lmi.scales**2)

    @cached_property
    def _limits(self) -> tuple[Array | float, Array | float]:
        bounds = self.lmi.prior.bounds
        return (0.0, np.inf) if bounds is None else bounds.matrices()

    def take(self, target: Array, rho: float, allowed: float) -> tuple[Array, Array, float]:
        """Return L, K and γ at a distance of about ``allowed`` or less from the minimiser."""
        lmi, d = self.lmi, self.lmi.d
        upper, side = target[:d, :d], target[:d, d:]
        offset = float(np.trace(upper)) - 1.0 / rho
        pulled = side @ lmi.factor
        # Eliminating γ leaves -ρ/2d·(Tr K + offset)²; this is its linear part.
        fixed = upper - pulled - pulled.T
        fixed[np.diag_indices(d)] -= offset / d
        centre = self.laplacian
        self.curvature *= _FORGET
        for _ in range(_MAX_STEPS):
            scaled = lmi.scaled(centre)
            pull = scaled @ lmi.factor.T @ lmi.factor
            slope = fixed + pull + pull.T - self.curvature * scaled
            answer = self._solve(slope, rho, float(np.linalg.norm(centre)))
            change = lmi.scaled(answer - centre)
            length = float(np.vdot(change, change))
            bend = 2 * float(np.sum((change @ lmi.factor.T) ** 2))
            if bend > (1.0 + 1e-9) * self.curvature * length:
                self.curvature = max(2 * self.curvature, bend / length)
                continue
            previous, self.laplacian = self.laplacian, answer
            root = float(np.sqrt(1.0 + self.curvature))  # the strong convexity is 1
            if root * np.sqrt(length) <= allowed:
                break
            momentum = (root - 1.0) / (root + 1.0)
            centre = self.laplacian + momentum * (self.laplacian - previous)
        scaled = lmi.scaled(self.laplacian)
        return self.laplacian, scaled, (float(np.trace(scaled)) + offset) / d

    def _solve(self, slope: Array, rho: float, size: float) -> Array:
        """Minimise over L, with the linear term ``ρ⟨slope, K⟩`` and the parabola at ``size``."""
        lmi, rule = self.lmi, self.lmi.prior.trace
        # No parabola touches the norm at the empty graph, but a steep one still lies above it.
        eta = lmi.prior.beta + lmi.reach / (2.0 * max(size, _EMPTY * lmi.trace))
        bend = rho * (1.0 + self.curvature) / 2
        squares = lmi.scales**2
        vertices = eta + bend * squares**2
        room = float(np.mean((eta + rho * self.curvature / 2 * squares**2) / vertices))
        self.solved += 1
        lower, upper = self._limits
        moment = lmi.linear + rho * lmi.scaled(slope)
        costs = -edge_gains(moment)
        np.fill_diagonal(costs, 0.0)
        qp = StepQP(
            costs=costs,
            edges=eta + bend * self._squares,
            vertices=vertices,
            coupling=rho / (2 * lmi.d),
            direction=squares,
            room=room,
            trace=lmi.trace,
            penalty=None if rule.fixed else rule.stiffness,
            lower=lower,
            upper=upper,
            bounds=lmi.prior.bounds,
        )
        found = maximise(StepPoint(qp, *self._multipliers(qp)), _QP_TOL, _QP_STEPS)
        self.tau = found.last.tau
        return found.best.laplacian()

    def _multipliers(self, qp: StepQP) -> tuple[Array, float]:
        """Return multipliers for the last Laplacian, independent of the previous curvature."""
        degrees = np.diagonal(self.laplacian)
        shared = qp.coupling * float(qp.direction @ degrees)
        nu = 2 * (qp.vertices * degrees - shared * qp.direction)
        prices = qp.costs + nu[:, np.newaxis] + nu
        prices.flat[:: nu.size + 1] = np.inf
        # If no edge pays at the last step's τ, Newton would have no slope.
        if self.tau is not None and self.tau > float(prices.min()):
            return nu, self.tau
        return nu, float(np.median(prices[np.isfinite(prices)]))
