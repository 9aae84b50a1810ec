"""The rule of a prior for the trace, the scale of a graph: fixed, penalised or free."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property


@dataclass(frozen=True)
class TraceRule:
    """The penalty ``stiffness·(Tr L - target)²``; ∞ fixes the trace, zero leaves it free.

    One formula covers all three cases: the dual is ``τ·target/2 - curvature·τ²``, with τ = 0 for a
    free trace.
    """

    target: float
    stiffness: float

    @cached_property
    def fixed(self) -> bool:
        """Whether the trace is a constraint."""
        return math.isinf(self.stiffness)

    @cached_property
    def free(self) -> bool:
        """Whether the trace is neither fixed nor penalised."""
        return self.stiffness == 0.0

    @cached_property
    def curvature(self) -> float:
        """``1/16β`` for a penalty β; 0 for a fixed or free trace."""
        return 0.0 if self.fixed or self.free else 1.0 / (16.0 * self.stiffness)

    def penalty(self, trace: float) -> float:
        """Return the penalty of a trace; 0 if the trace is fixed or free."""
        if self.fixed or self.free:
            return 0.0
        return self.stiffness * (trace - self.target) ** 2

    def scaled(self, factor: float) -> TraceRule:
        """Return the rule for objectives multiplied by factor."""
        return replace(self, stiffness=self.stiffness * factor)
