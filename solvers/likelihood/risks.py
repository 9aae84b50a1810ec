"""The smooth risks of the likelihood solver: a linear one, and a barrier for Euclidean transport.

For a transport ball of radius ε around ``Θ = FᵀF``, with ``K = (γI - L)⁻¹``,

    R_μ(L) = min_γ γε² + ⟨Θ, L⟩ + Tr(LKLΘ) - μ log det(γI - L)

is smooth. Its gradient ``γ²KΘK + μK`` is the second moment of the rows ``γFK`` with a spread of
``μK``, and that transport costs exactly ε². So it is in the ball and bounds the optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from wdro_cvx import WorstCase
from wdro_cvx.moments.points import Moment, TransportedMoment
from wdro_cvx.validation import Array

_ROOT = 1e-14  # relative accuracy of the secular equation
_MAX_STEPS = 200


@dataclass(frozen=True, eq=False)
class RiskPoint:
    """A smooth risk at one Laplacian.

    Attributes
    ----------
    value : float
        The smoothed risk, which Newton's method minimises.
    above : float
        An upper bound of the risk itself.
    gradient : array (d, d)
        A second moment in the ambiguity set.
    moment : callable
        Returns the gradient with the evidence of its membership.
    curvature : tuple of arrays, or None
        ``K, M₂, N, h`` of the Hessian ``V ↦ KVM₂ + M₂VK - N⟨N, V⟩/h``; None if it is zero.
    multiplier : float
    """

    value: float
    above: float
    gradient: Array
    moment: Callable[[], Moment]
    curvature: tuple[Array, Array, Array, float] | None = None
    multiplier: float = np.nan


@dataclass(frozen=True, eq=False)
class LinearRisk:
    """A risk with one worst case for all Laplacians."""

    worst: WorstCase

    def at(self, laplacian: Array) -> RiskPoint:
        """Return the risk at a Laplacian."""
        moment = self.worst.second_moment
        value = float(np.sum(moment * laplacian))
        return RiskPoint(
            value, value, moment, lambda: self.worst.moment, multiplier=self.worst.multiplier
        )


@dataclass(frozen=True, eq=False)
class BarrierRisk:
    """The risk of a Euclidean transport ball, smoothed by ``μ``."""

    factor: Array
    theta: Array
    radius: float
    mu: float

    def at(self, laplacian: Array) -> RiskPoint:
        """Return the smoothed risk at a Laplacian."""
        values, vectors = scipy.linalg.eigh(laplacian, check_finite=False, driver="evd")
        rotated = self.factor @ vectors
        masses = np.einsum("ij,ij->j", rotated, rotated)
        shift = self._shift(values, masses)
        # Not γ - λ, which cancels where γ is close to the largest eigenvalue.
        gamma, ahead = float(values[-1]) + shift, shift + (values[-1] - values)
        inverse = (vectors / ahead) @ vectors.T
        average = float(masses @ values)
        premium = float(np.sum(masses * values**2 / ahead))
        above = gamma * self.radius**2 + average + premium
        moved = (rotated * (gamma / ahead)) @ vectors.T
        transported = moved.T @ moved

        def moment() -> Moment:
            spread = np.sqrt(self.mu / ahead)[:, np.newaxis] * vectors.T
            return TransportedMoment(moved, spread)

        # In the eigenbasis N = -γ K(LKΘ + ΘKL)K - μK².
        inner = rotated.T @ rotated
        ratios = values / ahead
        crossed = gamma * inner * (ratios[:, np.newaxis] + ratios) / np.multiply.outer(ahead, ahead)
        crossed[np.diag_indices_from(crossed)] += self.mu / ahead**2
        slope = -(vectors @ crossed @ vectors.T)
        bend = 2 * float(np.sum(masses * values**2 / ahead**3))
        bend += self.mu * float(np.sum(ahead**-2.0))
        half = transported + self.mu / 2 * inverse
        return RiskPoint(
            above - self.mu * float(np.log(ahead).sum()),
            above,
            transported + self.mu * inverse,
            moment,
            (inverse, half, slope, bend),
            gamma,
        )

    def _shift(self, values: Array, masses: Array) -> float:
        """Return ``γ - λmax`` with ``Σ s λ²/(γ-λ)² + μ Σ 1/(γ-λ) = ε²``."""
        pulls, budget = masses * values**2, self.radius**2
        below = values[-1] - values

        def excess(shift: float) -> tuple[float, float]:
            ahead = shift + below
            used = float(np.sum(pulls / ahead**2) + self.mu * np.sum(1.0 / ahead))
            slope = -float(np.sum(2 * pulls / ahead**3) + self.mu * np.sum(ahead**-2.0))
            return used, slope

        low = self.mu / budget
        high = low + len(values) * self.mu / budget + float(np.sqrt(pulls.sum() / budget))
        while excess(high)[0] > budget:
            high *= 2.0
        shift = low
        for _ in range(_MAX_STEPS):
            used, slope = excess(shift)
            low, high = (shift, high) if used > budget else (low, shift)
            # Newton's method for 1/√used, which is nearly linear.
            step = 2 * used / slope * (1.0 - np.sqrt(used / budget))
            ahead = shift + step
            if not low < ahead < high:
                ahead = (low + high) / 2
            if abs(ahead - shift) <= _ROOT * ahead:
                break
            shift = ahead
        return ahead
