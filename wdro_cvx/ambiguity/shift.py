"""What balls of second moments have in common: the data stay, and a matrix is added to them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.moments.moment import Moment, TransportedMoment
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.validation import Array


@dataclass(frozen=True)
class ShiftBall(AmbiguitySet):
    """``{Θ + Δ : size(Δ) ≤ radius}``; a set of this kind says what the size of a shift is."""

    radius_degree: ClassVar[int] = 2

    @abstractmethod
    def size(self, shift: Array) -> float:
        """Return the size of a symmetric matrix, never less."""

    @property
    def reaches_all_moments(self) -> bool:
        """Any shift has a size."""
        return True

    def centre(self, nominal: Nominal) -> TransportedMoment:
        """Return the nominal rows, without a shift."""
        return TransportedMoment(nominal.rows)

    def explain(self, nominal: Nominal, second_moment: Array) -> TransportedMoment:
        """Return the nominal rows with the shift to a moment."""
        return TransportedMoment(nominal.rows, shift=second_moment - nominal.second_moment)

    def accepts(self, nominal: Nominal, moment: Moment) -> bool:
        """Accept the nominal rows with a shift."""
        if type(moment) is not TransportedMoment or moment.spread is not None:
            return False
        return np.array_equal(moment.moved, nominal.rows)

    def proved_distance(self, nominal: Nominal, moment: Moment) -> float:
        """Return the size of the shift."""
        if not self.accepts(nominal, moment):
            return np.inf
        return 0.0 if moment.rest is None else self.size(moment.rest)

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the size of ``M - Θ``."""
        return self.size(second_moment - nominal.second_moment)
