"""A prior with a price of the largest degree, which is the risk of a moment ball with p = 1.

    2β‖w‖² + Σ φ(u_i) + ε max u,    u = Aw

The last two terms are one function of the degrees. To maximise ``νᵀu`` less this function, lower
the largest multipliers to a common level s at a total cost of ε. Its conjugate is therefore
``Σ φ*(min(ν_i, s))`` with ``Σ (ν_i - s)₊ = ε``. The amounts ``(ν - s)₊`` are the worst shift of the
diagonal of the second moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

_HELD = 1e-6  # least spring of a tied vertex, relative to that of all tied ones together


@dataclass(frozen=True, eq=False)
class PeakPrior(DegreePrior):
    """A prior plus ``peak`` times the largest degree."""

    peak: float = 0.0

    @classmethod
    def of(cls, prior: DegreePrior, peak: float) -> PeakPrior:
        """Return a prior with the price of the largest degree added."""
        return cls(prior.beta, prior.kappa, prior.alpha, prior.trace, prior.bounds, peak)

    @cached_property
    def _plain(self) -> DegreePrior:
        """The prior without the peak, whose methods do not lower multipliers again."""
        return DegreePrior(self.beta, self.kappa, self.alpha, self.trace, self.bounds)

    def level(self, nu: Array) -> float:
        """Return s with ``Σ (ν_i - s)₊ = peak``: the maximum of ``(ν_1 + … + ν_k - peak)/k``.

        The multipliers are sorted in descending order, and k runs from 1 to their number.
        """
        ordered = np.sort(nu)[::-1]
        levels = (np.cumsum(ordered) - self.peak) / np.arange(1, nu.size + 1)
        return float(levels.max())

    def shift(self, nu: Array) -> Array:
        """Return ``(ν - s)₊``, by how much the worst case raises the diagonal of the moment."""
        return np.maximum(nu - self.level(nu), 0.0)

    def proximal(self, rho: float) -> PeakPrior:
        """Return the prior plus ``ρ/2‖L‖²``."""
        return PeakPrior.of(self._plain.proximal(rho), self.peak)

    def value(self, weights: Array, degrees: Array) -> float:
        """Return the cost of a graph."""
        return super().value(weights, degrees) + self.top(degrees)

    def top(self, degrees: Array) -> float:
        """Return ``peak`` times the largest degree."""
        return self.peak * float(degrees.max())

    def has_degrees(self, nu: Array) -> bool:
        """Say whether ν is in the domain of the conjugate."""
        return self._plain.has_degrees(np.minimum(nu, self.level(nu)))

    def degrees(self, nu: Array) -> Array:
        """Return the degrees that attain the conjugate."""
        return self._plain.degrees(np.minimum(nu, self.level(nu)))

    def conjugate(self, nu: Array) -> float:
        """Return the conjugate; infinite outside its domain."""
        lowered = np.minimum(nu, self.level(nu))
        return self._plain.conjugate(lowered) if self._plain.has_degrees(lowered) else np.inf

    def spring(self, nu: Array) -> Array:
        """Return the diagonal part of the derivative of :meth:`degrees`."""
        springs = self._plain.spring(np.minimum(nu, self.level(nu)))
        return np.where(self._tied(nu), _HELD * springs, springs)

    def common(self, nu: Array) -> tuple[float, Array]:
        """Return the rest of the derivative, ``weight·bbᵀ``: tied vertices move together."""
        tied = self._tied(nu).astype(float)
        spring = float(self._plain.spring(np.array([self.level(nu)]))[0])
        return spring / float(tied.sum()), tied

    def _tied(self, nu: Array) -> NDArray[np.bool_]:
        """Return which vertices are lowered; a peak below rounding lowers the largest by zero."""
        return np.asarray(nu >= min(self.level(nu), float(nu.max())))

    def step_limit(self, nu: Array, step: Array) -> float:
        """Return infinity: the line search rejects points at which the conjugate is infinite."""
        return np.inf
