"""Finite atoms: sets of which every point reweighs the same finitely many signals.

A set that declares them (:meth:`AmbiguitySet.atoms`) is ``{Σ q_k x_k x_kᵀ : f(q) ≤ ε}`` over
probabilities ``q``, with a smooth, strictly convex and separable ``f(q) = Σ p_k φ(q_k / p_k)``
around the nominal probabilities ``p``. Equal signals are one atom: they share their weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.moments.moment import ReweighedMoment
from wdro_cvx.validation import Array


class Divergence(Protocol):
    """A function φ of density ratios, smooth and strictly convex on positive ones."""

    def divergence(self, ratios: Array) -> float:
        """Return ``mean φ(ρ_i)``."""

    def slope(self, ratios: Array) -> Array:
        """Return φ′ of every ratio; the ratios are positive."""

    def bend(self, ratios: Array) -> Array:
        """Return φ″ of every ratio; the ratios are positive, and so is φ″."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """Signals, each with the same nominal probability, and a divergence from these.

    Attributes
    ----------
    samples : array (N, d)
    radius : float
        The largest divergence in the set.
    measure : Divergence
    """

    samples: Array
    radius: float
    measure: Divergence

    @cached_property
    def _groups(self) -> tuple[Array, NDArray[np.intp], NDArray[np.intp]]:
        return np.unique(self.samples, axis=0, return_inverse=True, return_counts=True)

    @property
    def signals(self) -> Array:
        """The distinct samples (K, d), which are the atoms."""
        return self._groups[0]

    @property
    def which(self) -> NDArray[np.intp]:
        """The atom of every sample (N,)."""
        return self._groups[1].ravel()

    @cached_property
    def shares(self) -> Array:
        """The nominal probabilities ``p`` of the atoms (K,)."""
        return self._groups[2] / len(self.samples)

    def divergence(self, probabilities: Array) -> float:
        """Return ``f(q)``, summed over the samples as the set itself does."""
        return self.measure.divergence((probabilities / self.shares)[self.which])

    def slope(self, probabilities: Array) -> Array:
        """Return the gradient of ``f``."""
        return self.measure.slope(probabilities / self.shares)

    def bend(self, probabilities: Array) -> Array:
        """Return the diagonal of the Hessian of ``f``, which is all of it."""
        return self.measure.bend(probabilities / self.shares) / self.shares

    def moment(self, probabilities: Array) -> ReweighedMoment:
        """Return ``Σ q_k x_k x_kᵀ``, as weights on the samples."""
        return ReweighedMoment(self.samples, (probabilities / self.shares)[self.which])
