"""The Gaussian and the Wasserstein ball: one oracle, two readings (Theorem 1, Proposition 3).

For type-2 transport with Euclidean cost the risk depends on the data through ``Θ`` alone, so the
paper's Gaussian and general scenarios have one and the same value (docs/paper.md E2):

    R(L) = ⟨Θ, L⟩ + inf_{γ > λmax} γε² + Tr(L(γI - L)⁻¹LΘ)

The worst distribution moves every signal ``x`` to ``γ(γI - L)⁻¹x``; in the hard case it also
spreads it along a top eigenvector, both ways, with what is left of the budget.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase, register_ambiguity
from wdro_cvx.ambiguity.secular import solve_secular
from wdro_cvx.distribution import Discrete, Distribution, Gaussian, uniform
from wdro_cvx.errors import ProblemError
from wdro_cvx.nominal import Nominal, symmetric_root
from wdro_cvx.validation import Array


@dataclass(frozen=True)
class _GelbrichBall(AmbiguitySet):
    """The second moments within type-2 Wasserstein distance ``radius`` of the nominal one."""

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the worst-case risk through one eigendecomposition and the secular equation."""
        nominal_risk = float(np.vdot(nominal.second_moment, laplacian))
        values, vectors = linalg.eigh(laplacian, driver="evd", check_finite=False)
        if self.radius == 0.0 or values[-1] <= 0.0:
            still = np.zeros(nominal.d)
            return WorstCase(
                nominal_risk, nominal.second_moment, np.inf,
                lambda: self._moved(nominal, np.eye(nominal.d), still),
            )  # fmt: skip
        spectral = nominal.factor @ vectors
        masses = np.einsum("ij,ij->j", spectral, spectral)
        root = solve_secular(values, masses, self.radius)
        # A direction without mass stays where it is, whatever the stretch; 1 avoids 0/0 there.
        distances = root.shift + (values[-1] - values)
        moved = masses * values**2 > 0.0
        stretch = np.where(moved, root.multiplier / np.where(moved, distances, 1.0), 1.0)
        premium = root.multiplier * self.radius**2 + float(
            np.sum(masses[moved] * values[moved] ** 2 / distances[moved])
        )
        transported = (spectral * stretch) @ vectors.T
        moment = transported.T @ transported
        spread = np.sqrt(root.leftover) * vectors[:, -1]
        if root.leftover > 0.0:
            moment += np.outer(spread, spread)
        return WorstCase(
            nominal_risk + premium, moment, root.multiplier,
            lambda: self._moved(nominal, (vectors * stretch) @ vectors.T, spread),
        )  # fmt: skip

    @abstractmethod
    def _moved(self, nominal: Nominal, transport: Array, spread: Array) -> Distribution:
        """Return the law of ``transport·x ± spread``, either sign with probability one half."""

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the Gelbrich distance, ``min_Q ‖Θ^½ - QM^½‖_F`` over orthogonal Q.

        This form has no cancellation; the textbook trace formula loses half the digits.
        """
        nominal_root = symmetric_root(nominal.second_moment)
        root = symmetric_root((second_moment + second_moment.T) / 2)
        left, _, right = linalg.svd(nominal_root @ root, check_finite=False)
        return float(np.linalg.norm(nominal_root - left @ right @ root))


@register_ambiguity
@dataclass(frozen=True)
class GaussianBall(_GelbrichBall):
    """All Gaussians within type-2 Wasserstein distance ``radius`` of the nominal Gaussian."""

    def _moved(self, nominal: Nominal, transport: Array, spread: Array) -> Gaussian:
        # A Gaussian step along ``spread`` instead of two signs has the same second moment and cost.
        covariance = transport @ nominal.covariance @ transport + np.outer(spread, spread)
        return Gaussian(transport @ nominal.mean, (covariance + covariance.T) / 2)


@register_ambiguity
@dataclass(frozen=True)
class WassersteinBall(_GelbrichBall):
    """All distributions within type-2 Wasserstein distance ``radius`` of the empirical one."""

    def _moved(self, nominal: Nominal, transport: Array, spread: Array) -> Discrete:
        if nominal.samples is None:
            raise ProblemError(
                "The worst-case distribution of a WassersteinBall is made of transported samples, "
                "and this nominal has none. Use Nominal.from_samples, or GaussianBall."
            )
        points = nominal.samples @ transport
        return uniform(np.vstack([points + spread, points - spread]) if spread.any() else points)
