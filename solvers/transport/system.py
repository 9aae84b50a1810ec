"""The Newton system of the interior-point method: KKT residuals, direction, longest step.

With ``A = γI - K``, ``K = TᵀLT``, ``G = F + E`` and the weights x, the conditions are

    𝒯*(T(GᵀG + W)Tᵀ + rest + reach/‖L‖·L) + ∇prior - τ - z + v = 0    1 - ‖E‖² - Tr W = 0
    EA = FK    AW = μI    xz = μ    (room - x)v = μ    Σx = T/2

E and W are the coupling: the moves of the rows of F, and the spread. Let the columns of B be the
edges. Eliminating all but x, γ and τ gives the Hessian ``(BᵀTA⁻¹TᵀB) ∘ (BᵀT(2GᵀG + W)TᵀB)`` in x,
an entrywise product of two matrices over pairs of edges. The direction of W is that of Helmberg,
Rendl, Vanderbei and Wolkowicz (SIAM J. Optim. 1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from solvers.transport.edges import FreeEdges
from solvers.transport.lmi import TransportLMI
from wdro_cvx.validation import Array

_RIDGE = 1e-14  # added to the Hessian, which is scaled to a unit diagonal


@dataclass(frozen=True, eq=False)
class Iterate:
    """An interior point, or a direction with the same fields."""

    excess: Array
    gamma: float
    tau: float
    moves: Array
    spread: Array
    lower: Array
    upper: Array

    def moved(self, step: Iterate, length: float) -> Iterate:
        """Return the point at the given length along a direction."""
        return Iterate(
            self.excess + length * step.excess,
            self.gamma + length * step.gamma,
            self.tau + length * step.tau,
            self.moves + length * step.moves,
            self.spread + length * step.spread,
            self.lower + length * step.lower,
            self.upper + length * step.upper,
        )


@dataclass(frozen=True, eq=False)
class NewtonSystem:
    """The KKT conditions at one interior point, and the Newton directions from it."""

    lmi: TransportLMI
    edges: FreeEdges
    at: Iterate

    @cached_property
    def laplacian(self) -> Array:
        """The Laplacian L."""
        return self.edges.base + self.edges.combined(self.at.excess)

    @cached_property
    def _scaled(self) -> Array:
        return self.lmi.scaled(self.laplacian)

    @cached_property
    def _slack(self) -> Array:
        return self.at.gamma * np.eye(self.lmi.d) - self._scaled

    @cached_property
    def _root(self) -> Array:
        return np.asarray(linalg.cholesky(self._slack, lower=True, check_finite=False))

    @cached_property
    def _inverse(self) -> Array:
        half = linalg.solve_triangular(self._root, np.eye(self.lmi.d), lower=True)
        return np.asarray(half.T @ half)

    @cached_property
    def _capped(self) -> Array:
        return np.isfinite(self.edges.room)

    @cached_property
    def _left(self) -> Array:
        """The distance of each weight from its upper bound; 1 if it has none."""
        left = np.where(self._capped, self.edges.room - self.at.excess, 1.0)
        if not left.min() > 0.0:
            raise linalg.LinAlgError("rounding has left no room below a cap")
        return left

    @property
    def count(self) -> int:
        """The number of complementary pairs."""
        return self.lmi.d + self.at.excess.size + int(np.count_nonzero(self._capped))

    def complementarity(self, at: Iterate | None = None) -> float:
        """Return the sum of all complementarity products, here or at another point."""
        if at is None:
            at = self.at
        scaled = self.lmi.scaled(self.edges.base + self.edges.combined(at.excess))
        total = at.gamma * float(np.trace(at.spread)) - float(np.vdot(scaled, at.spread))
        left = np.where(self._capped, self.edges.room - at.excess, 0.0)
        return total + float(at.excess @ at.lower) + float(left @ at.upper)

    @cached_property
    def missed(self) -> Array:
        """The residual of the moves, given L and γ: ``FKA⁻¹ - E``."""
        return np.asarray(self.lmi.factor @ self._scaled @ self._inverse - self.at.moves)

    @cached_property
    def budget(self) -> float:
        """The part of the budget that the coupling does not use."""
        return 1.0 - float(np.sum(self.at.moves**2)) - float(np.trace(self.at.spread))

    @property
    def error(self) -> float:
        """The distance of the coupling from that of L and γ, relative to the budget 1."""
        return max(float(np.linalg.norm(self.missed)), abs(self.budget))

    @cached_property
    def _reach(self) -> float:
        """The curvature of ``reach‖L‖`` across L."""
        size = float(np.linalg.norm(self.laplacian))
        return self.lmi.reach / size if self.lmi.reach > 0.0 else 0.0

    @cached_property
    def _prior_slope(self) -> Array:
        """The matrix P such that 𝒯*P is the gradient of the prior in the weights."""
        prior = self.lmi.prior
        slope = 2 * prior.beta * self.laplacian
        np.fill_diagonal(slope, prior.slope(np.diagonal(self.laplacian)))
        return slope

    @cached_property
    def gradient(self) -> Array:
        """The matrix G such that ``𝒯*G - τ`` are the reduced costs of **all** edges."""
        rows = self.lmi.factor + self.at.moves
        moved = self.lmi.frame.moment(rows.T @ rows + self.at.spread)
        return np.asarray(self.lmi.rest + moved + self._prior_slope + self._reach * self.laplacian)

    @cached_property
    def _factor(self) -> tuple[Any, Array, Array]:
        """The Cholesky factor of the Hessian in (x, γ), its scaling, the solution for the trace."""
        lmi, edges, at = self.lmi, self.edges, self.at
        n = at.excess.size
        pulled = at.moves @ self._inverse
        diagonal = np.empty(n + 1)
        diagonal[:n] = self._curvatures + at.lower / at.excess + at.upper / self._left
        if lmi.reach > 0.0:
            along = edges.adjoint(self.laplacian) / float(np.linalg.norm(self.laplacian)) ** 1.5
            diagonal[:n] -= lmi.reach * along**2
        diagonal[n] = 2 * float(np.vdot(pulled, at.moves)) + float(
            np.vdot(self._inverse, at.spread)
        )
        if not diagonal.min() > 0.0:
            raise linalg.LinAlgError("rounding has left no curvature")
        scale = 1.0 / np.sqrt(diagonal)
        hessian = edges.products(lmi.frame.moment(self._inverse), self._spent, scale[:n])
        later, earlier, shared = edges.meetings
        bend = lmi.prior.bend(np.diagonal(self.laplacian)) + self._reach
        hessian[later, earlier] += bend[shared] * scale[later] * scale[earlier]
        cross = -2 * (lmi.factor + at.moves).T @ pulled - self._inverse @ at.spread
        hessian[n, :n] = edges.adjoint(lmi.frame.moment(cross + cross.T)) * (
            scale[:n] * scale[n] / 2
        )
        # Transposing makes it the upper triangle in LAPACK's column-major order.
        hessian = hessian.T
        if lmi.reach > 0.0:
            along = np.append(along * scale[:n], 0.0)
            hessian = linalg.blas.dsyr(-lmi.reach, along, a=hessian, overwrite_a=True)
        # Rounding may leave a matrix of condition 1e16 without a Cholesky factor.
        np.fill_diagonal(hessian, 1.0 + _RIDGE)
        factor = linalg.cho_factor(hessian, lower=False, overwrite_a=True, check_finite=False)
        ones = np.append(scale[:n], 0.0)
        return factor, scale, scale * linalg.cho_solve(factor, ones, check_finite=False)

    def direction(self, target: float, second: Iterate | None = None) -> Iterate:
        """Return the step towards complementarity products equal to ``target``.

        ``second`` is the predictor; its second-order terms correct the step.
        """
        lmi, edges, at = self.lmi, self.edges, self.at
        n = at.excess.size
        base = target * self._inverse - at.spread
        lead, extra = self.missed, np.zeros((lmi.d, lmi.d))
        low, high = target / at.excess - at.lower, target / self._left - at.upper
        if second is not None:
            turn = self._turn(second)
            twist = self._inverse @ turn @ second.spread
            base = base - (twist + twist.T) / 2
            lead = lead - second.moves @ turn @ self._inverse
            extra = second.moves.T @ second.moves
            low = low - second.excess * second.lower / at.excess
            high = high + second.excess * second.upper / self._left
        high = np.where(self._capped, high, 0.0)
        pull = (lmi.factor + at.moves).T @ lead
        change = lmi.frame.moment(base + pull + pull.T + extra)
        spent = float(np.trace(base)) + 2 * float(np.vdot(at.moves, lead)) + float(np.trace(extra))
        costs = edges.adjoint(self.gradient + change) - at.tau - at.lower + at.upper - low + high
        factor, scale, pulled = self._factor
        right = -scale * np.append(costs, self.budget - spent)
        free = scale * linalg.cho_solve(factor, right, check_finite=False)
        missing = edges.total - float(at.excess.sum()) - lmi.slope * at.tau
        tau = (missing - float(free[:n].sum())) / (float(pulled[:n].sum()) + lmi.slope)
        step = free + tau * pulled
        excess, gamma = step[:n], float(step[n])
        scaled = lmi.scaled(edges.combined(excess))
        turned = self._inverse @ (gamma * np.eye(lmi.d) - scaled) @ at.spread
        moves = ((lmi.factor + at.moves) @ scaled - gamma * at.moves) @ self._inverse
        return Iterate(
            excess,
            gamma,
            tau,
            lead + moves,
            base - (turned + turned.T) / 2,
            low - at.lower / at.excess * excess,
            high + np.where(self._capped, at.upper / self._left, 0.0) * excess,
        )

    def _turn(self, step: Iterate) -> Array:
        """Return the change of A along a step."""
        scaled = self.lmi.scaled(self.edges.combined(step.excess))
        return np.asarray(step.gamma * np.eye(self.lmi.d) - scaled)

    @cached_property
    def _curvatures(self) -> Array:
        """The curvature of the objective along every edge, without the rank-one term of ``‖L‖``."""
        prior, edges = self.lmi.prior, self.edges
        bent = edges.adjoint(self.lmi.frame.moment(self._inverse)) * edges.adjoint(self._spent)
        degrees = prior.bend(np.diagonal(self.laplacian))
        beyond = 4 * (prior.beta + self._reach)
        return np.asarray(bent + beyond + degrees[edges.heads] + degrees[edges.tails])

    @cached_property
    def _spent(self) -> Array:
        """The matrix ``T(2GᵀG + W)Tᵀ`` of the Hessian."""
        rows = self.lmi.factor + self.at.moves
        return self.lmi.frame.moment(2 * rows.T @ rows + self.at.spread)

    def consumed(self, laplacian: Array) -> float:
        """Return the share of A's slack that adding a Laplacian uses; at 1, A is singular."""
        return _steepest(self._root, -self.lmi.scaled(laplacian))

    def longest(self, step: Iterate) -> float:
        """Return the step length at which the first positive quantity vanishes."""
        at = self.at
        worst = max(
            _steepest(self._root, self._turn(step)),
            _steepest(linalg.cholesky(at.spread, lower=True, check_finite=False), step.spread),
            float(np.max(-step.excess / at.excess)),
            float(np.max(-step.lower / at.lower)),
        )
        if self._capped.any():
            caps = self._capped
            worst = max(
                worst,
                float(np.max(step.excess[caps] / self._left[caps])),
                float(np.max(-step.upper[caps] / at.upper[caps])),
            )
        return 1.0 / worst if worst > 0.0 else np.inf


def _steepest(root: Array, change: Array) -> float:
    """Return 1/t for the t at which ``root·rootᵀ + t·change`` becomes singular."""
    half = linalg.solve_triangular(root, change, lower=True, check_finite=False)
    whole = linalg.solve_triangular(root, half.T, lower=True, check_finite=False)
    return -float(linalg.eigvalsh(whole, check_finite=False)[0])
