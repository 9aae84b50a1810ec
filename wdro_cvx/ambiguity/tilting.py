"""Divergence balls whose worst ratios are a family with one parameter, the sharpness."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from wdro_cvx.ambiguity.reweighting import ReweightingBall
from wdro_cvx.validation import Array

#: Distinct losses in [0, 1] differ by at least a rounding unit. At this sharpness only the largest
#: keep weight.
SHARPEST = 1e20
MAX_STEPS = 200  # more than Newton's method or bisection takes
LAST_STEP = 1e-9  # Newton squares the error, so the next one would be at rounding level


@dataclass(frozen=True)
class TiltedBall(ReweightingBall):
    """A smooth divergence ball whose divergence grows with the sharpness of the worst ratios.

    A subclass implements :meth:`least_sharpness` and :meth:`tilted_at` instead of :meth:`tilt`, and
    the other methods of a :class:`ReweightingBall`.

    Parameters
    ----------
    radius : float ≥ 0
        The largest divergence; dimensionless.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import KLBall
    >>> ratios, growth, multiplier = KLBall(0.1).tilted_at(np.array([0.0, 1.0]), sharpness=1.0)
    >>> print(ratios.round(3), round(growth, 3), multiplier)
    [1.462 0.538] 0.197 1.0
    """

    @abstractmethod
    def least_sharpness(self) -> float:
        """Return a sharpness at which the divergence is at most the radius, for all losses."""

    @abstractmethod
    def tilted_at(self, deficits: Array, sharpness: float) -> tuple[Array, float, float]:
        """Return the ratios, the derivative of their divergence, and the multiplier.

        Parameters
        ----------
        deficits : array (N,)
            The largest loss minus each loss, between 0 and 1.
        sharpness : float > 0
            The derivative is with respect to its logarithm.
        """

    def tilt(self, losses: Array) -> tuple[Array, float]:
        """Return the ratios with divergence ``radius``, by Newton's method and bisection."""
        spread = float(np.ptp(losses))
        deficits = (losses.max() - losses) / spread
        worst = deficits == 0.0
        hard = worst * (losses.size / np.count_nonzero(worst))
        if self.radius >= self.divergence(hard):
            return hard, 0.0
        low, high = math.log(self.least_sharpness()), math.log(SHARPEST)
        place, settled = low, False
        for _ in range(MAX_STEPS):
            ratios, growth, multiplier = self.tilted_at(deficits, math.exp(place))
            spent = self.divergence(ratios)
            low, high = (place, high) if spent < self.radius else (low, place)
            if settled or not low < high:
                break
            # Newton's method on the logarithm of the divergence. As a function of the logarithm of
            # the sharpness it is nearly linear at first and bends down later, so steps from the
            # left hardly overshoot.
            step = math.inf
            if spent > 0.0 and growth > 0.0:
                step = spent / growth * math.log(self.radius / spent)
            inside = low <= place + step <= high
            settled = inside and abs(step) <= LAST_STEP
            place = place + step if inside else (low + high) / 2
        else:
            if high == math.log(SHARPEST):
                return hard, 0.0
        return ratios, spread * multiplier
