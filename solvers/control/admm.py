"""Iteration control of ADMM for the LMI of a transport set, independent of the matrix format.

The iteration is that of Douglas and Rachford: split a state into its positive and its negative
part, take the step in L and γ from their difference, and move the state. It is over-relaxed and
accelerated, and its penalty ρ is balanced (Wen, Goldfarb and Yin, Math. Program. Comput. 2010).
A subclass stores the matrices, either dense (solvers/transport/admm.py) or sparse plus low rank
(solvers/large/coupled/admm.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import scipy

from wdro_cvx.ambiguity.transport import singular_vectors
from wdro_cvx.validation import Array

S = TypeVar("S")

#: Over-relaxation of the move.
RELAXATION = 1.6
#: Error of a step in L, as a share of the residual; with a much larger error ADMM may stall.
STEP_ERROR = 0.05
#: Iterations between certificates; one costs about two iterations.
CHECK_EVERY = 20
_MEMORY = 8
_PARALLEL = 1e-8  # relative cutoff for residual differences that are parallel up to rounding
_ACCELERATE_EVERY = 5
_WORSE = 2.0  # a residual that grows by this factor undoes an acceleration
_BALANCED, _BALANCING = 2.0, 5.0  # ratio of residuals that is acceptable; largest change of ρ


@dataclass
class Anderson(Generic[S]):
    """Anderson acceleration of ``x ↦ x + residual`` (Walker and Ni, SIAM J. Numer. Anal. 2011).

    The next point is the affine combination of the last images with the smallest residual.
    """

    memory: int
    images: list[S] = field(default_factory=list)
    residuals: list[Array] = field(default_factory=list)

    def add(self, image: S, residual: Array) -> None:
        """Store one iteration."""
        self.images = [*self.images[-self.memory :], image]
        self.residuals = [*self.residuals[-self.memory :], residual]

    def forget(self) -> None:
        """Clear the memory, because the iteration has changed."""
        self.images.clear()
        self.residuals.clear()

    def shares(self) -> Array | None:
        """Return the shares of all images except the last; all shares sum to 1.

        Return None if there are too few images to combine.
        """
        if len(self.images) < 3:
            return None
        last = self.residuals[-1]
        turns = np.stack([(last - other).ravel() for other in self.residuals[:-1]], axis=1)
        shares = scipy.linalg.lstsq(turns, last.ravel(), cond=_PARALLEL, check_finite=False)[0]
        return np.asarray(shares)


class TransportADMM(ABC, Generic[S]):
    """The iteration; ``state`` is its fixed-point variable, ``residual`` its last move's norm."""

    def __init__(self, state: S, rho: float, residual: float) -> None:
        self.state, self.rho, self.residual = state, rho, residual
        self.anderson: Anderson[S] = Anderson(_MEMORY)

    @abstractmethod
    def step(self) -> tuple[S, Array] | None:
        """Take one step; return the relaxed image of the state and the move, or None to end."""

    @abstractmethod
    def certify(self) -> bool:
        """Update the incumbent from the last step; return whether to end."""

    @abstractmethod
    def combined(self, images: list[S], shares: Array) -> S:
        """Return the combination of images; ``shares`` omits the share of the last one."""

    @abstractmethod
    def errors(self, image: S) -> tuple[float, float, Callable[[float], S]]:
        """Return the primal and dual residuals, and a function that rescales the image's dual."""

    def run(self, max_iterations: int) -> None:
        """Iterate until a step or a certificate ends the run, or until the limit."""
        fallback: tuple[S, float] | None = None
        for iteration in range(1, max_iterations + 1):
            found = self.step()
            if found is None:
                return
            image, move = found
            self.residual = float(np.linalg.norm(move))
            if not np.isfinite(self.residual):
                return
            if fallback is not None and self.residual > _WORSE * fallback[1]:
                self.state, fallback = fallback[0], None
                self.anderson.forget()
                continue
            fallback = None
            self.anderson.add(image, move)
            self.state = image
            if iteration % _ACCELERATE_EVERY == 0:
                shares = self.anderson.shares()
                if shares is not None:
                    self.state = self.combined(self.anderson.images, shares)
                    fallback = image, self.residual
            if iteration % CHECK_EVERY:
                continue
            if self.certify():
                return
            if self._balance(image):
                fallback = None

    def _balance(self, image: S) -> bool:
        """Change ρ if the primal and dual residuals differ much; return whether it changed."""
        primal, dual, with_dual = self.errors(image)
        ratio = float(np.sqrt(primal / dual)) if dual > 0.0 else 1.0
        if 1.0 / _BALANCED <= ratio <= _BALANCED:
            return False
        new = self.rho * min(max(ratio, 1.0 / _BALANCING), _BALANCING)
        self.state, self.rho = with_dual(self.rho / new), new
        self.anderson.forget()
        return True


def polar_coupling(first: Array, second: Array) -> tuple[Array, Array]:
    """Return the moves and the spread of a dual ``BᵀB`` with ``B = [B₁, B₂]``.

    Let O be the polar factor of B₂. The rows of the data move by ``-OᵀB₁``, and the part of B₁
    outside the range of O is the spread. Together they cost ``‖B₁‖²`` for any B₂.
    """
    left, right = singular_vectors(second)
    shared = min(second.shape)
    turned = left.T @ first
    return -right[:shared].T @ turned[:shared], turned[shared:]
