"""What a prior says of the trace, the scale of a graph: fixed, aimed at, or free."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class TraceRule:
    """``stiffness·(Tr L - target)²``; an infinite stiffness fixes the trace, zero leaves it free.

    One rule for all three, so that nobody has to ask which it is: its dual is
    ``τ·target/2 - curvature·τ²``, and a free trace has no τ.
    """

    target: float
    stiffness: float

    @property
    def fixed(self) -> bool:
        """Whether the trace is a constraint."""
        return math.isinf(self.stiffness)

    @property
    def free(self) -> bool:
        """Whether nothing is said of the trace."""
        return self.stiffness == 0.0

    @property
    def curvature(self) -> float:
        """``1/16β`` for a penalty β, and 0 for a fixed trace; a free one has none to ask for."""
        return 0.0 if self.fixed or self.free else 1.0 / (16.0 * self.stiffness)

    def penalty(self, trace: float) -> float:
        """Return what a trace costs; a fixed trace is for the constraints to see to."""
        if self.fixed or self.free:
            return 0.0
        return self.stiffness * (trace - self.target) ** 2

    def scaled(self, factor: float) -> TraceRule:
        """Return the rule where objectives are multiplied by factor."""
        return replace(self, stiffness=self.stiffness * factor)
