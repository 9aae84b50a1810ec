"""Tests whether a second moment is in a set around one nominal distribution.

To test from the matrix alone whether it is in a Wasserstein ball takes matrix roots, which lose
digits. If the transported rows are known, a subtraction is enough. Sets therefore define how to
read a moment from the pieces it was built of.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import numpy as np

from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import DenseMoment, Moment
from wdro_cvx.validation import Array, one_number

M = TypeVar("M", bound=Moment)


class Membership(ABC, Generic[M]):
    """Reads, explains and measures the second moments of a set, in the set's own form ``M``.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Nominal, WassersteinBall
    >>> nominal = Nominal.from_samples(np.eye(3))
    >>> ball = WassersteinBall(0.5)
    >>> membership = ball.membership(nominal)
    >>> membership.distance(membership.explain(4.0 * nominal.second_moment)) <= ball.radius
    False
    """

    #: Whether :meth:`explain` finds pieces for every matrix in the set.
    explains: ClassVar[bool] = True

    @property
    @abstractmethod
    def centre(self) -> M:
        """The nominal moment as a point of the set."""

    @abstractmethod
    def read(self, moment: Moment) -> M | None:
        """Return a moment in the set's form with its pieces unchanged; None for other forms.

        A moment that cannot be read is explained from its matrix. The judge then uses the explained
        one throughout.
        """

    @abstractmethod
    def explain(self, second_moment: Array) -> Moment:
        """Return pieces that make up a matrix, equal to it up to rounding.

        The judge computes its bound from these pieces, so it needs no slack for rounding in the
        matrix.
        """

    @abstractmethod
    def measure(self, moment: M) -> float:
        """Return the distance of a point from the centre, rounded upwards."""

    def distance(self, moment: Moment) -> float:
        """Return the distance that a moment proves; infinite if its form cannot be read."""
        found = self.read(moment)
        distance = np.inf if found is None else self.measure(found)
        return np.inf if np.isnan(distance) else distance


def relative_distance(distance: float, radius: float) -> float:
    """Return a distance in units of a radius; 0 at radius 0 if it is 0, and infinite if it is NaN.

    Examples
    --------
    >>> from wdro_cvx.ambiguity.membership import relative_distance
    >>> relative_distance(1.0, 2.0), relative_distance(0.0, 0.0), relative_distance(float("nan"), 1)
    (0.5, 0.0, inf)
    """
    if np.isnan(distance):
        return np.inf
    if radius > 0.0:
        return distance / radius
    return 0.0 if distance == 0.0 else np.inf


@dataclass(frozen=True, eq=False)
class MatrixMembership(Membership[DenseMoment]):
    """The membership of sets whose points are matrices, measured by the set's own distance."""

    nominal: Nominal
    matrix_distance: Callable[[Nominal, Array], float]

    @property
    def centre(self) -> DenseMoment:
        """The nominal matrix."""
        return DenseMoment(self.nominal.second_moment)

    def read(self, moment: Moment) -> DenseMoment | None:
        """Return dense moments unchanged."""
        return moment if type(moment) is DenseMoment else None

    def explain(self, second_moment: Array) -> DenseMoment:
        """Return the matrix itself."""
        return DenseMoment(second_moment)

    def measure(self, moment: DenseMoment) -> float:
        """Return the distance of the matrix; infinite if it is negative, which proves nothing."""
        distance = one_number("distance", self.matrix_distance(self.nominal, moment.matrix))
        return np.inf if distance < 0.0 else distance
