"""Mean and covariance each within a ball: graph learning under moment uncertainty.

The distributions with ``‖μ - μ_n‖₂ ≤ ε·r₁`` and ``‖Σ - Σ_n‖_F ≤ ε·r₂``, after Wang, Pun and So,
"Distributionally Robust Graph Learning from Smooth Signals under Moment Uncertainty" (IEEE Trans.
Signal Process. 2022). The risk is a sum of two, since ``E[xxᵀ] = Σ + μμᵀ``:

    R(L) = ⟨Σ_n, L⟩ + εr₂‖L‖_F + max {μᵀLμ : ‖μ - μ_n‖ ≤ εr₁}

The last is a trust-region problem: worst transport with the mean as the only row.
That Σ be positive semidefinite is not asked for: against a Laplacian the worst one is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase, register_ambiguity
from wdro_cvx.ambiguity.splitting import split_moment
from wdro_cvx.ambiguity.transport import transport_cost, worst_transport
from wdro_cvx.ambiguity.transport_form import TransportForm
from wdro_cvx.graphs.laplacian import inner
from wdro_cvx.moment import Moment, TransportedMoment
from wdro_cvx.nominal import Nominal
from wdro_cvx.validation import Array, real_number


@register_ambiguity
@dataclass(frozen=True)
class MomentUncertainty(AmbiguitySet):
    """All distributions whose mean and covariance are within radii of the nominal ones.

    Use it where both moments come with error bars of their own, say from a bootstrap.

    Parameters
    ----------
    radius : float ≥ 0
        A common factor of both radii, without a unit; 1 takes them as they are given.
    mean_radius : float > 0
        How far the mean may be, in the Euclidean norm and the unit of the data.
    covariance_radius : float > 0
        How far the covariance may be, in the Frobenius norm and the unit of the data squared.
    """

    mean_radius: float
    covariance_radius: float

    radius_degree: ClassVar[int] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, remedy in [
            ("mean_radius", "MomentBall has a certain mean."),
            ("covariance_radius", "A certain covariance has a small radius, not zero."),
        ]:
            value = real_number(
                name, getattr(self, name), 0.0, strict=True, sized=True, remedy=remedy
            )
            object.__setattr__(self, name, value)

    @property
    def length(self) -> float:
        """The larger of how far the mean and the root of the covariance may move."""
        rest = float(np.sqrt(self.radius * self.covariance_radius))
        return max(self.radius * self.mean_radius, rest)

    @classmethod
    def example(cls, radius: float, d: int) -> Self:
        """Return a ball with a mean and a covariance that are about equally uncertain."""
        return cls(radius, mean_radius=1.0, covariance_radius=float(d))

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the worst mean and the covariance shifted along the Laplacian.

        The multiplier is that of the mean's radius, squared.
        """
        if self.radius == 0.0:
            moment = nominal.second_moment
            risk = inner(moment, laplacian)
            return WorstCase(risk, moment, np.inf, build_moment=lambda: self.centre(nominal))
        mean = nominal.mean[np.newaxis]
        worst = worst_transport(mean, laplacian, self.radius * self.mean_radius)
        size = float(np.linalg.norm(laplacian))
        reach = self.radius * self.covariance_radius
        shifted = nominal.covariance + (laplacian * (reach / size) if size > 0.0 else 0.0)
        risk = inner(nominal.covariance, laplacian) + reach * size
        risk += float(nominal.mean @ laplacian @ nominal.mean) + worst.premium

        def moment_pieces() -> TransportedMoment:
            pieces = worst.moment()
            return TransportedMoment(pieces.moved, pieces.spread, shifted)

        return WorstCase(
            risk, shifted + worst.second_moment(), worst.multiplier, build_moment=moment_pieces
        )

    def transport_form(self, nominal: Nominal) -> TransportForm:
        """Return the form in which the mean moves and the covariance shifts."""
        return TransportForm(
            factor=nominal.mean[np.newaxis],
            metric=np.ones(nominal.d),
            radius=self.radius * self.mean_radius,
            rest=nominal.covariance,
            reach=self.radius * self.covariance_radius,
        )

    def centre(self, nominal: Nominal) -> TransportedMoment:
        """Return the nominal mean as a row, with the nominal covariance."""
        return TransportedMoment(nominal.mean[np.newaxis], shift=nominal.covariance)

    def explain(self, nominal: Nominal, second_moment: Array) -> TransportedMoment:
        """Return a mean, its spread and a covariance that make up a moment.

        A moment of the set is ``Σ_n + Δ + T``, with ``T`` a mixture of ``μμᵀ``. The split is found
        by descent, and a less exact one overstates the distance.
        """
        split = split_moment(
            (second_moment + second_moment.T) / 2 - nominal.covariance,
            nominal.mean,
            self.mean_radius,
            self.covariance_radius,
        )
        pieces = TransportedMoment(split.mean[np.newaxis], split.spread)
        return replace(pieces, shift=second_moment - pieces.second_moment)

    def accepts(self, nominal: Nominal, moment: Moment) -> bool:
        """Accept one row, the mean, with spread and a covariance."""
        if type(moment) is not TransportedMoment:
            return False
        return moment.moved.shape == (1, nominal.d) and moment.shift is not None

    def proved_distance(self, nominal: Nominal, moment: Moment) -> float:
        """Return the least common factor of the radii that allows this mean and this covariance."""
        if type(moment) is not TransportedMoment or moment.shift is None:
            return np.inf
        row = nominal.mean[np.newaxis]
        mean = transport_cost(row, replace(moment, shift=None)) / self.mean_radius
        rest = float(np.sqrt(np.sum((moment.shift - nominal.covariance) ** 2)))
        return max(mean, rest / self.covariance_radius * (1.0 + 64 * np.finfo(float).eps))

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the least common factor of the radii at which the set has this moment."""
        return self.proved_distance(nominal, self.explain(nominal, second_moment))

    def scaled(self, factor: float) -> Self:
        """Return the set for the data times factor: each radius grows by its own degree."""
        return replace(
            self,
            mean_radius=self.mean_radius * factor,
            covariance_radius=self.covariance_radius * factor**2,
        )
