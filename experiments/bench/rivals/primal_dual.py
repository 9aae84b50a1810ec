"""The primal-dual method of Kalofolias (AISTATS 2016, algorithm 1), as implemented in GSPBox.

It is a forward-backward-forward method (Komodakis and Pesquet, 2015) with a step below
``1/(4β + ‖A‖)`` for weights and multipliers. The quality of that step depends on the unit of the
data. ``balance`` lengthens one step and shortens the other, like a change of unit. We tried
balances from 0.03 to 10 and steps up to four times as long. On the instances of the bench,
``√(0.1 α/β)`` and the longest step that is known to converge were best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.bench.rivals.model import Model, Rival
from wdro_cvx.validation import Array


class _Iteration:
    def __init__(self, model: Model, balance: float, share: float) -> None:
        self.model = model
        step = share / (4 * model.beta * balance + model.norm)
        self.primal, self.dual = step * balance, step / balance
        self.charges = self.primal * model.costs
        self.weights: Array = np.zeros((model.d, model.d))
        self.degrees: Array = np.zeros(model.d)
        self.nu: Array = np.zeros(model.d)
        self.projected: Array = self.nu
        self._next = np.empty_like(self.weights)
        self._scratch = np.empty_like(self.weights)

    def step(self) -> None:
        model, weights, primal = self.model, self.weights, self.primal
        shrink = 4 * model.beta * primal
        # A forward step from (w, ν), then a backward step to (P, p).
        trial = np.add.outer(-primal * self.nu, -primal * self.nu, out=self._next)
        trial -= self.charges
        trial += np.multiply(weights, 1.0 - shrink, out=self._scratch)
        np.maximum(trial, 0.0, out=trial)
        ahead = self.nu + self.dual * self.degrees
        self.projected = (ahead - np.sqrt(ahead**2 + 4 * model.alpha * self.dual)) / 2
        # A forward step from (P, p).
        degrees = trial.sum(axis=1)
        moved = primal * (self.nu - self.projected)
        self.nu = self.projected + self.dual * (degrees - self.degrees)
        weights *= shrink
        weights += np.multiply(trial, 1.0 - shrink, out=trial)
        weights += np.add.outer(moved, moved, out=self._scratch)
        np.fill_diagonal(weights, 0.0)
        self.degrees = weights.sum(axis=1)

    def state(self) -> tuple[Array, Array]:
        return self.projected, self.model.weights(self.projected, self._next)


@dataclass(frozen=True)
class PrimalDual(Rival):
    """Kalofolias' method.

    Parameters
    ----------
    balance : float > 0, optional
        Multiplies the step of the weights and divides that of the multipliers.
    share : float
        The step, relative to the longest one that is known to converge.
    """

    balance: float | None = None
    share: float = 0.99

    def iteration(self, model: Model) -> _Iteration:
        """Return the initial state of the algorithm."""
        balance = self.balance
        if balance is None:
            balance = float(np.sqrt(0.1 * model.alpha / model.beta))
        return _Iteration(model, balance, self.share)
