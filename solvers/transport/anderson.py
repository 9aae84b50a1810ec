"""Anderson acceleration of a fixed-point iteration (Walker and Ni, SIAM J. Numer. Anal. 2011).

The next point is the combination of the last images whose residuals cancel best.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from wdro_cvx.validation import Array

_PARALLEL = 1e-8  # relative: differences of residuals that are parallel to rounding


@dataclass
class Anderson:
    """The last images and residuals of an iteration ``x ↦ x + residual``."""

    memory: int
    images: list[Array] = field(default_factory=list)
    residuals: list[Array] = field(default_factory=list)

    def add(self, image: Array, residual: Array) -> None:
        """Note one iteration."""
        self.images.append(image)
        self.residuals.append(residual)
        if len(self.images) > self.memory + 1:
            del self.images[0], self.residuals[0]

    def forget(self) -> None:
        """Start anew: the iteration has changed."""
        self.images.clear()
        self.residuals.clear()

    def extrapolate(self) -> Array | None:
        """Return the combined point, or None if there is too little to combine."""
        if len(self.images) < 3:
            return None
        last = self.residuals[-1]
        turns = np.stack([(last - other).ravel() for other in self.residuals[:-1]], axis=1)
        shares = linalg.lstsq(turns, last.ravel(), cond=_PARALLEL, check_finite=False)[0]
        point = self.images[-1].copy()
        for share, other in zip(shares, self.images[:-1], strict=True):
            point -= share * (self.images[-1] - other)
        return point
