"""The probabilities of atoms as shares, the unknowns of interior-point methods.

If the divergence is smooth, the cases are the atoms. If it has linear pieces, the cases are the
pieces of every atom: their shares have upper limits, and their cost is linear. An interior-point
method then needs no derivatives of a function with kinks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wdro_cvx.ambiguity import Atoms
from wdro_cvx.ambiguity.structure import SmoothDivergence
from wdro_cvx.validation import Array

_SPENT = 0.5  # share of the radius that the starting point uses
_PULLS = 100  # towards the nominal shares; only a radius at rounding level needs more than 60


@dataclass(frozen=True, eq=False)
class SmoothBall:
    """The probabilities within a smooth divergence."""

    atoms: Atoms

    @property
    def shares(self) -> Array:
        """The nominal probabilities."""
        return self.atoms.shares

    @cached_property
    def stackable(self) -> SmoothDivergence | None:
        """The divergence of the samples, if it takes stacks and every atom is one sample."""
        measure = self.atoms.measure
        if not isinstance(measure, SmoothDivergence) or not vars(type(measure)).get("stackable"):
            return None
        return measure if self.shares.size == len(self.atoms.samples) else None

    @cached_property
    def most(self) -> Array:
        """No limits."""
        return np.full(self.shares.size, np.inf)

    @property
    def radius(self) -> float:
        """The largest divergence."""
        return self.atoms.radius

    def divergence(self, shares: Array) -> float:
        """Return ``f(q)``."""
        return self.atoms.divergence(shares)

    def slope(self, shares: Array) -> Array:
        """Return ``f′(q)``."""
        return self.atoms.slope(shares)

    def bend(self, shares: Array) -> Array:
        """Return ``f″(q)``."""
        return self.atoms.bend(shares)

    def probabilities(self, shares: Array) -> Array:
        """Return the shares themselves."""
        return shares


@dataclass(frozen=True, eq=False)
class PieceBall:
    """The pieces of probabilities within a piecewise linear divergence, piece by piece."""

    atoms: Atoms

    @property
    def radius(self) -> float:
        """The largest cost; any positive number if no piece costs anything."""
        return self.atoms.radius if self._costs.any() else 1.0

    @cached_property
    def _costs(self) -> Array:
        _, slopes = np.array(self.atoms.pieces).T
        return np.repeat(slopes, self.atoms.shares.size)

    @cached_property
    def most(self) -> Array:
        """The widths of the pieces."""
        widths, _ = np.array(self.atoms.pieces).T
        return np.multiply.outer(widths, self.atoms.shares).ravel()

    @cached_property
    def shares(self) -> Array:
        """The nominal probabilities, in parts that are strictly inside the pieces.

        The ratio 1 is divided among the pieces such that their cost is at most half of the radius.
        """
        widths, slopes = np.array(self.atoms.pieces).T
        parts = np.minimum(widths, 2.0)
        parts /= max(parts.sum(), 1.0)
        cost = float(parts @ slopes)
        if cost > _SPENT * self.radius:
            parts[1:] *= _SPENT * self.radius / cost
            parts[0] = 1.0 - parts[1:].sum()
        return np.multiply.outer(parts, self.atoms.shares).ravel()

    def divergence(self, shares: Array) -> float:
        """Return the cost of the pieces."""
        return float(self._costs @ shares)

    def slope(self, shares: Array) -> Array:
        """Return the cost of every piece."""
        return self._costs

    def bend(self, shares: Array) -> Array:
        """Return zeros."""
        return np.zeros(shares.size)

    def probabilities(self, shares: Array) -> Array:
        """Return the sums of the pieces."""
        return np.asarray(shares.reshape(len(self.atoms.pieces), -1).sum(axis=0))


def share_ball(atoms: Atoms) -> SmoothBall | PieceBall:
    """Return the shares of atoms."""
    return PieceBall(atoms) if atoms.pieces else SmoothBall(atoms)


def pulled_inside(atoms: Atoms, probabilities: Array) -> Array:
    """Mix probabilities with the nominal ones until their divergence is within the radius."""
    given = probabilities / probabilities.sum()
    share, spare, mixed = 1.0, 1e-15, given
    for _ in range(_PULLS):
        spent = atoms.divergence(mixed)
        if spent <= atoms.radius:
            return mixed
        # The divergence is convex and 0 at the nominal probabilities, so this suffices up to
        # rounding. The margin for rounding grows with every attempt.
        share *= atoms.radius / spent * (1.0 - spare)
        spare = min(2.0 * spare, 0.5)
        mixed = atoms.shares + share * (given - atoms.shares)
        mixed /= mixed.sum()
    return atoms.shares
