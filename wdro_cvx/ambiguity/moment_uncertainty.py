"""Mean and covariance each within a ball: graph learning under moment uncertainty.

The distributions with ``‖μ - μ_n‖₂ ≤ ε·r₁`` and ``‖Σ - Σ_n‖_F ≤ ε·r₂``, after Wang, Pun and So,
"Distributionally Robust Graph Learning from Smooth Signals under Moment Uncertainty" (IEEE Trans.
Signal Process. 2022). Since ``E[xxᵀ] = Σ + μμᵀ``, the risk is a sum:

    R(L) = ⟨Σ_n, L⟩ + εr₂‖L‖_F + max {μᵀLμ : ‖μ - μ_n‖ ≤ εr₁}

The last term is a trust-region problem: worst-case transport with the mean as the only row.
Σ is not required to be positive semidefinite, because the worst case for a Laplacian always is.

If the mean is large compared with the spread, ``Σ_n = Θ - μμᵀ`` cancels, so it is not formed.
Points of the set are stored as ``Θ + (mmᵀ - μμᵀ) + SᵀS + Δ``
(:class:`wdro_cvx.moments.points.MeanMoment`), and the risk is ``⟨Θ, L⟩`` plus two premiums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase, register_ambiguity
from wdro_cvx.ambiguity.membership import Membership
from wdro_cvx.ambiguity.moment import dual_norm, entrywise_norm
from wdro_cvx.ambiguity.smoothness import nominal_risk
from wdro_cvx.ambiguity.splitting import split_moment
from wdro_cvx.ambiguity.structure import Transport
from wdro_cvx.ambiguity.transport import worst_transport
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import MeanMoment, Moment, TransportedMoment
from wdro_cvx.validation import Array, real_number

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class MeanMembership(Membership[MeanMoment]):
    """Membership by fixed nominal rows, a change of the mean, its spread and a shift."""

    nominal: Nominal
    mean_radius: float
    covariance_radius: float

    @property
    def centre(self) -> MeanMoment:
        """The nominal rows with the nominal mean."""
        nominal = self.nominal
        return MeanMoment(nominal.rows, nominal.mean, np.zeros(nominal.d))

    def read(self, moment: Moment) -> MeanMoment | None:
        """Read the changes of the nominal rows and mean.

        Solvers that use the set's :class:`Transport` return a mean as a row and a covariance. Their
        differences from the nominal ones are read.
        """
        nominal = self.nominal
        if type(moment) is TransportedMoment and moment.shift is not None:
            if moment.moved.shape != (1, nominal.d):
                return None
            change, shift = moment.moved[0] - nominal.mean, moment.shift - nominal.covariance
            return MeanMoment(nominal.rows, nominal.mean, change, moment.spread, shift)
        if type(moment) is not MeanMoment or not np.array_equal(moment.mean, nominal.mean):
            return None
        return moment if nominal.holds(moment.kept) else None

    def explain(self, second_moment: Array) -> MeanMoment:
        """Return a change of the mean, its spread and a shift that make up a moment.

        A moment of the set is ``Σ_n + Δ + T``, with ``T`` a mixture of ``μμᵀ``. Descent finds the
        split. An inexact split makes the distance too large, never too small.
        """
        nominal, matrix = self.nominal, (second_moment + second_moment.T) / 2
        split = split_moment(
            matrix - nominal.covariance, nominal.mean, self.mean_radius, self.covariance_radius
        )
        change = split.mean - nominal.mean
        pieces = MeanMoment(nominal.rows, nominal.mean, change, split.spread)
        shift = matrix - nominal.second_moment - pieces.rest
        if split.spread is not None:
            shift = shift - split.spread.T @ split.spread
        return replace(pieces, shift=shift)

    def measure(self, moment: MeanMoment) -> float:
        """Return the least common factor of the radii that allows this change and this shift."""
        square = float(np.sum(moment.change**2))
        if moment.spread is not None:
            square += float(np.sum(moment.spread**2))
        rest = 0.0 if moment.shift is None else float(entrywise_norm(moment.shift, 2.0))
        # Pairwise sums of squares have an error of less than 40 roundings at any length.
        parts = float(np.sqrt(square)) / self.mean_radius, rest / self.covariance_radius
        return max(parts) * (1.0 + 64 * _EPS)


@register_ambiguity
@dataclass(frozen=True)
class MomentUncertainty(AmbiguitySet):
    """All distributions whose mean and covariance are within radii of the nominal ones.

    Use it if both moments come with error bars, for example from a bootstrap.

    Parameters
    ----------
    radius : float ≥ 0
        A dimensionless factor of both radii; 1 takes them as they are.
    mean_radius : float > 0
        The largest distance of the mean, in the Euclidean norm and the unit of the data.
    covariance_radius : float > 0
        The largest distance of the covariance, in the Frobenius norm and the unit of the data
        squared.

    Raises
    ------
    ProblemError
        If one of the radii is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import MomentUncertainty, Nominal
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_moments(mean=[1.0, -1.0], covariance=np.eye(2))
    >>> ball = MomentUncertainty(1.0, mean_radius=0.2, covariance_radius=0.1)
    >>> print(round(ball.worst_case(nominal, edge).risk, 3))  # nominal risk 6
    7.411
    >>> ball.scaled(10.0)  # the same set in millimetres instead of centimetres
    MomentUncertainty(radius=1.0, mean_radius=2.0, covariance_radius=10.0)
    """

    mean_radius: float
    covariance_radius: float

    radius_degree: ClassVar[int] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, remedy in [
            ("mean_radius", "Use MomentBall for a known mean."),
            ("covariance_radius", "Use a small radius for a known covariance."),
        ]:
            value = real_number(
                name, getattr(self, name), 0.0, strict=True, sized=True, remedy=remedy
            )
            object.__setattr__(self, name, value)

    @classmethod
    def example(cls, radius: float, d: int) -> Self:
        """Return a set with similar uncertainty in mean and covariance."""
        return cls(radius, mean_radius=1.0, covariance_radius=float(d))

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the worst mean and the covariance shifted along the Laplacian.

        The multiplier belongs to the squared radius of the mean.
        """
        average, rounding = nominal_risk(nominal, laplacian)
        if self.radius == 0.0:
            return WorstCase(
                average,
                nominal.second_moment,
                np.inf,
                build_moment=lambda: self.membership(nominal).centre,
                rounding=rounding,
            )
        mean = nominal.mean[np.newaxis]
        worst = worst_transport(mean, laplacian, self.radius * self.mean_radius)
        size, aligned = dual_norm(laplacian, 2.0)
        reach = self.radius * self.covariance_radius
        shift = reach * aligned
        unsure = float(np.linalg.norm(nominal.mean_error))
        rounding += worst.rounding(mean, laplacian, unsure) + 64 * _EPS * reach * size
        moment = MeanMoment(
            nominal.rows,
            nominal.mean,
            worst.moves(mean)[0],
            None if worst.spread is None else worst.spread[np.newaxis],
            shift,
        )
        second_moment = nominal.second_moment + moment.rest
        if worst.spread is not None:
            second_moment = second_moment + np.outer(worst.spread, worst.spread)
        return WorstCase(
            average + worst.premium + reach * size,
            second_moment,
            worst.multiplier,
            build_moment=lambda: moment,
            rounding=rounding,
        )

    def structure(self, nominal: Nominal) -> Transport:
        """Return the transport of the mean, with a covariance that shifts."""
        return Transport(
            factor=nominal.mean[np.newaxis],
            radius=self.radius * self.mean_radius,
            build_rest=lambda: nominal.covariance,
            reach=self.radius * self.covariance_radius,
        )

    def membership(self, nominal: Nominal) -> MeanMembership:
        """Return the membership by a change of the mean and a shift."""
        return MeanMembership(nominal, self.mean_radius, self.covariance_radius)

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the least common factor of the radii for which the set contains this moment."""
        membership = self.membership(nominal)
        return membership.measure(membership.explain(second_moment))

    def scaled(self, factor: float) -> Self:
        """Return the equivalent set for data multiplied by factor."""
        return replace(
            self,
            mean_radius=self.mean_radius * factor,
            covariance_radius=self.covariance_radius * factor**2,
        )
