"""Anderson acceleration of a fixed-point iteration (Walker and Ni, SIAM J. Numer. Anal. 2011).

The next point is the combination of the last images whose residuals cancel best.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
from scipy import linalg

from wdro_cvx.validation import Array

S = TypeVar("S")
_PARALLEL = 1e-8  # relative: differences of residuals that are parallel to rounding


@dataclass
class Anderson(Generic[S]):
    """The last images and residuals of an iteration ``x ↦ x + residual``."""

    memory: int
    images: list[S] = field(default_factory=list)
    residuals: list[Array] = field(default_factory=list)

    def add(self, image: S, residual: Array) -> None:
        """Note one iteration."""
        self.images = [*self.images[-self.memory :], image]
        self.residuals = [*self.residuals[-self.memory :], residual]

    def forget(self) -> None:
        """Start anew: the iteration has changed."""
        self.images.clear()
        self.residuals.clear()

    def shares(self) -> Array | None:
        """Return the shares of all images but the last, whose share is the rest of 1.

        None if there are too few images to combine.
        """
        if len(self.images) < 3:
            return None
        last = self.residuals[-1]
        turns = np.stack([(last - other).ravel() for other in self.residuals[:-1]], axis=1)
        shares = linalg.lstsq(turns, last.ravel(), cond=_PARALLEL, check_finite=False)[0]
        return np.asarray(shares)
