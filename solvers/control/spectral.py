"""Step control of the spectral proximal gradient method.

The Barzilai-Borwein rule estimates the curvature ρ of the risk, and a nonmonotone line search
doubles it until a step is accepted (Wright, Nowak and Figueiredo, IEEE Trans. Signal Process.
2009).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

#: A step must improve on the worst of this many last values.
MEMORY = 5
_DECREASE = 1e-4
_NEGLIGIBLE = 1e-2  # curvature below this share of β is not worth a second QP


@dataclass
class SpectralControl:
    """The curvature ρ of the next step and the last values; β is the curvature of the prior."""

    beta: float
    rho: float = 0.0
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=MEMORY))

    def restart(self, value: float) -> None:
        """Forget all values but this one."""
        self.recent.clear()
        self.recent.append(value)

    @property
    def proximal(self) -> bool:
        """Whether ρ is large enough to matter beside the prior."""
        return self.rho > _NEGLIGIBLE * self.beta

    def accepts(self, value: float, length: float, slack: float = 0.0) -> bool:
        """Return whether a step of squared length ``length`` gains enough, up to ``slack``."""
        gain = _DECREASE * (self.beta + self.rho / 2) * length
        return value <= max(self.recent) + slack - gain

    def shorten(self) -> None:
        """Increase ρ, for a shorter step."""
        self.rho = max(2 * self.rho, self.beta)

    def take(self, value: float, turn: float, length: float) -> None:
        """Record a step; ``turn`` is its inner product with the change of the gradient."""
        self.rho = max(turn / length, 0.0)
        self.recent.append(value)
