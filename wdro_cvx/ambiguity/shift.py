"""The base class of balls of second moments, which add a matrix to the nominal moment."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.ambiguity.membership import Membership
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import Moment, TransportedMoment
from wdro_cvx.validation import Array


@dataclass(frozen=True, eq=False)
class ShiftMembership(Membership[TransportedMoment]):
    """Membership by the nominal rows and a shift of bounded size."""

    nominal: Nominal
    size: Callable[[Array], float]

    @property
    def centre(self) -> TransportedMoment:
        """The nominal rows, without a shift."""
        return TransportedMoment(self.nominal.rows)

    def read(self, moment: Moment) -> TransportedMoment | None:
        """Read the nominal rows with a shift."""
        if type(moment) is not TransportedMoment or moment.spread is not None:
            return None
        return moment if np.array_equal(moment.moved, self.nominal.rows) else None

    def explain(self, second_moment: Array) -> TransportedMoment:
        """Return the nominal rows with the shift to a moment."""
        shift = second_moment - self.nominal.second_moment
        return TransportedMoment(self.nominal.rows, shift=shift)

    def measure(self, moment: TransportedMoment) -> float:
        """Return the size of the shift."""
        return 0.0 if moment.shift is None else self.size(moment.shift)


@dataclass(frozen=True)
class ShiftBall(AmbiguitySet):
    """The sets ``{Θ + Δ : size(Δ) ≤ radius}``; a subclass defines the size."""

    radius_degree: ClassVar[int] = 2
    finite_distance: ClassVar[bool] = True

    #: Whether the size depends on the absolute values of the entries only, and grows with them.
    entrywise: ClassVar[bool] = False

    @abstractmethod
    def size(self, shift: Array) -> float:
        """Return the size of a symmetric matrix, rounded upwards."""

    def membership(self, nominal: Nominal) -> ShiftMembership:
        """Return the membership by a shift of the nominal rows' moment."""
        return ShiftMembership(nominal, self.size)

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the size of ``M - Θ``."""
        return self.size(second_moment - nominal.second_moment)
