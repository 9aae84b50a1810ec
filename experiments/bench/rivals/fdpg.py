"""The fast dual proximal gradient method of Saboksayr and Mateos (IEEE Signal Process. Lett. 2021).

This is FISTA on the dual in ``λ = -ν > 0``. The smooth part of the dual has gradient ``Aw(λ)`` and
Lipschitz constant ``‖A‖²/4β = (d-1)/2β``. That constant counts all edges, although few are in use.
With ``local``, the constant is ``k/2β`` for the largest number k of used edges at a vertex; this
converges in practice, but without a proof. With ``restart``, the momentum is dropped when it points
uphill (O'Donoghue and Candès, 2015).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.bench.rivals.model import Model, Rival
from wdro_cvx.validation import Array


class FastDual:
    """The state of the method between two iterations; ``shape`` is the shape of the weights."""

    def __init__(
        self, model: Model, shape: tuple[int, ...], local: bool = True, restart: bool = True
    ) -> None:
        self.model, self.local, self.restart = model, local, restart
        self.step_size = 4 * model.beta / model.norm**2
        self.point: Array = np.full(model.d, np.sqrt(model.alpha * model.beta))
        self.ahead = self.point
        self.pace = 1.0
        self._weights = np.empty(shape)

    def step(self) -> None:
        """Do one iteration."""
        degrees = self.model.degrees(self.model.weights(-self.ahead, self._weights))
        if self.local:
            most = self.model.most_used(self._weights)
            self.step_size = 2 * self.model.beta / max(most, 1)
        forward = self.ahead - self.step_size * degrees
        point = (forward + np.sqrt(forward**2 + 4 * self.model.alpha * self.step_size)) / 2
        change = point - self.point
        if self.restart and float((self.ahead - point) @ change) > 0.0:
            self.pace = 1.0
        pace = (1.0 + np.sqrt(1.0 + 4.0 * self.pace**2)) / 2
        self.ahead = point + (self.pace - 1.0) / pace * change
        self.point, self.pace = point, float(pace)

    def state(self) -> tuple[Array, Array]:
        """Return the multipliers and the optimal weights for them."""
        return -self.point, self.model.weights(-self.point, self._weights)


@dataclass(frozen=True)
class FDPG(Rival):
    """Fast dual proximal gradient.

    Parameters
    ----------
    local : bool
        Whether the step size counts only the edges in use.
    restart : bool
        Whether to drop the momentum when it points uphill.
    """

    local: bool = False
    restart: bool = False

    def iteration(self, model: Model) -> FastDual:
        """Return the initial state of the algorithm."""
        return FastDual(model, (model.d, model.d), self.local, self.restart)
