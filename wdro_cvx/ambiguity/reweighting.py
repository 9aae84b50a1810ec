"""The base classes of divergence balls: sets that reweight the samples.

A point of such a ball gives every sample ``x_i`` the probability ``ρ_i / N``. The density ratios
``ρ ≥ 0`` have mean one, and their divergence ``mean φ(ρ_i)`` is at most the radius. The second
moment is ``mean ρ_i x_i x_iᵀ``, so the risk is a weighted mean of the samples' smoothness
``l_i = x_iᵀLx_i``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase
from wdro_cvx.ambiguity.membership import Membership
from wdro_cvx.ambiguity.representation import cheapest_ratios, density_ratios
from wdro_cvx.ambiguity.smoothness import CANCELLATION, is_laplacian
from wdro_cvx.ambiguity.structure import Atoms, Divergence, Piece, SmoothDivergence
from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.laplacian import BLOCK, edge_blocks
from wdro_cvx.moments.distribution import Discrete, uniform
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import DenseMoment, Moment, ReweighedMoment
from wdro_cvx.stacks import diagonals, number
from wdro_cvx.summation import BLOCK_ROWS, gram
from wdro_cvx.validation import Array, coordinate_matrix

_EPS = float(np.finfo(float).eps)
#: The factor on a divergence for rounding: every term is nonnegative and rounded a few times.
MEASURED = 1.0 + 64 * _EPS
_SUMMED = 24 * _EPS  # more than the relative error of a pairwise sum of positive numbers


@dataclass(frozen=True)
class WeightsBall(AmbiguitySet, Divergence):
    """The distributions on the samples within a divergence ``radius`` of equal weights.

    :class:`ReweightingBall` is for smooth divergences, and :class:`PiecewiseBall` for those whose
    worst weights are not unique.
    """

    #: Weights have no unit.
    radius_degree: ClassVar[int] = 0

    @abstractmethod
    def tilt(self, losses: Array) -> tuple[Array, float]:
        """Return the worst density ratios for losses that are not all equal, and the multiplier.

        The multiplier is the derivative of the risk in the radius. The radius is positive.
        """

    @abstractmethod
    def candidates(self, nominal: Nominal, second_moment: Array) -> Iterator[Array]:
        """Yield density ratios that may have a second moment, the least divergent first."""

    @abstractmethod
    def structure(self, nominal: Nominal) -> Atoms:
        """Return the samples with uncertain probabilities, and the divergence."""

    def ceiling(self, losses: Array, ratios: Array, multiplier: float) -> float:
        """Return an upper bound of the risk by duality, tight at the best multiplier.

        It covers the error of an inexact search for the ratios. The default -∞ means that there is
        no such bound; the risk is then taken as computed.
        """
        return -np.inf

    def tilted(self, losses: Array) -> tuple[Array, float, float]:
        """Return :meth:`tilt` and :meth:`ceiling` together."""
        ratios, multiplier = self.tilt(losses)
        return ratios, multiplier, self.ceiling(losses, ratios, multiplier)

    def worst_weights(self, losses: Array) -> tuple[Array, float, float]:
        """Return the worst weights, the multiplier and the ceiling for any losses.

        The weights sum to one. Losses that are all equal, and a radius of zero, leave the samples
        their equal weights.
        """
        spread = float(np.ptp(losses))
        if self.radius == 0.0 or spread == 0.0:
            multiplier = np.inf if self.radius == 0.0 else 0.0
            return np.full(losses.size, 1.0 / losses.size), multiplier, float(losses.mean())
        # The weights do not depend on the unit. In units of the spread nothing overflows.
        ratios, multiplier, ceiling = self.tilted(losses / spread)
        return ratios / ratios.sum(), multiplier * spread, ceiling * spread

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the risk and the second moment at the worst weights."""
        samples = _samples_of(self, nominal)
        losses, rounding = sample_losses(samples, laplacian)
        if self.radius == 0.0 or np.ptp(losses) == 0.0:
            moment = nominal.second_moment
            multiplier = np.inf if self.radius == 0.0 else 0.0
            return WorstCase(
                float(losses.mean()),
                moment,
                multiplier,
                lambda: uniform(samples),
                lambda: self.membership(nominal).centre,
                rounding,
            )
        weights, multiplier, ceiling = self.worst_weights(losses)
        risk = float(np.sum(weights * losses))
        rounding += max(ceiling - risk, 0.0)
        return WorstCase(
            risk,
            _moment(samples, weights),
            multiplier,
            lambda: Discrete(samples, weights),
            lambda: ReweighedMoment(samples, weights),
            rounding,
        )

    def in_coordinates(self, matrix: ArrayLike) -> AmbiguitySet:
        """Return the set itself: weights of samples do not depend on coordinates."""
        coordinate_matrix("coordinates", matrix)
        return self

    def membership(self, nominal: Nominal) -> WeightsMembership:
        """Return the membership by weights on the samples."""
        return WeightsMembership(_samples_of(self, nominal), nominal, self)

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the least divergence, up to rounding, of weights with this second moment.

        It is infinite if no weights reproduce every entry of the moment up to rounding.
        """
        found = self.weights(nominal, second_moment)
        return np.inf if found is None else self.divergence(found / found.mean())

    def weights(self, nominal: Nominal, second_moment: Array) -> Array | None:
        """Return the least divergent weights found with a second moment; None if none are found.

        With more than d(d+1)/2 samples the weights are not unique. An inexact search for the least
        divergent ones makes the distance too large, never too small.
        """
        samples = _samples_of(self, nominal)
        size = np.sqrt(np.maximum(np.diagonal(second_moment), np.diagonal(nominal.second_moment)))
        # The rounding error of sums of N products and of their convex combinations.
        allowed = (64 + len(samples)) * _EPS * np.outer(size, size)
        largest = float(np.max(np.sum(samples**2, axis=1)))
        if float(np.trace(second_moment)) > 2.0 * largest:
            return None  # no reweighting has a larger trace than the largest sample
        for ratios in self.candidates(nominal, second_moment):
            if not ratios.any():
                continue
            error = np.abs(_moment(samples, ratios / ratios.sum()) - second_moment)
            if np.all(error <= allowed):
                return ratios
        return None


@dataclass(frozen=True)
class ReweightingBall(WeightsBall, SmoothDivergence):
    """The distributions on the samples within a smooth divergence ``radius`` of equal weights.

    A subclass implements the worst ratios :meth:`tilt`, the divergence :meth:`divergence`, the
    derivatives :meth:`slope` and :meth:`bend` of φ, and :meth:`link`, the derivative of φ*.

    Parameters
    ----------
    radius : float ≥ 0
        The largest divergence; dimensionless.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import ChiSquareBall, KLBall
    >>> from wdro_cvx.ambiguity import ReweightingBall
    >>> issubclass(KLBall, ReweightingBall)
    True
    >>> ratios = np.array([0.5, 1.5])
    >>> print([round(float(ball(1.0).divergence(ratios)), 3) for ball in (KLBall, ChiSquareBall)])
    [0.131, 0.25]
    """

    @abstractmethod
    def link(self, scores: Array) -> tuple[Array, Array]:
        """Return the ratios that maximise ``ρs - φ(ρ)`` for every score, and their slopes."""

    def candidates(self, nominal: Nominal, second_moment: Array) -> Iterator[Array]:
        """Yield the least divergent ratios, by Newton's method, and others if that fails."""
        return density_ratios(nominal, second_moment, self.link)

    def structure(self, nominal: Nominal) -> Atoms:
        """Return the samples with uncertain probabilities, and the divergence."""
        return Atoms(_samples_of(self, nominal), self.radius, self)


@dataclass(frozen=True)
class PiecewiseBall(WeightsBall):
    """The distributions on the samples within a divergence with linear pieces.

    Where losses tie, the worst weights are not unique, and the risk has a kink. A subclass
    implements the worst ratios :meth:`tilt`, the divergence :meth:`divergence`, and its
    :meth:`pieces`.

    Parameters
    ----------
    radius : float ≥ 0
        The largest divergence; dimensionless.

    Examples
    --------
    >>> from wdro_cvx import CVaRBall
    >>> from wdro_cvx.ambiguity import PiecewiseBall
    >>> issubclass(CVaRBall, PiecewiseBall), CVaRBall(0.25).pieces()
    (True, (Piece(width=1.25, slope=0.0),))
    """

    @abstractmethod
    def pieces(self) -> tuple[Piece, ...]:
        """Return the pieces whose sum is a density ratio, in the order of their slopes.

        A piece costs ``slope`` times its size, and a ratio costs the sum over its pieces. In the
        set the mean cost of the ratios is at most the radius.
        """

    def candidates(self, nominal: Nominal, second_moment: Array) -> Iterator[Array]:
        """Yield the ratios of least cost, found by linear programming."""
        return cheapest_ratios(nominal, second_moment, self.pieces())

    def structure(self, nominal: Nominal) -> Atoms:
        """Return the samples with uncertain probabilities, and the pieces."""
        return Atoms(_samples_of(self, nominal), self.radius, self, self.pieces())


@dataclass(frozen=True, eq=False)
class WeightsMembership(Membership[ReweighedMoment]):
    """Membership by weights on the samples."""

    samples: Array
    nominal: Nominal
    ball: WeightsBall

    @property
    def centre(self) -> ReweighedMoment:
        """The samples with equal weights."""
        return ReweighedMoment(self.samples, np.ones(len(self.samples)))

    def read(self, moment: Moment) -> ReweighedMoment | None:
        """Read weights on the samples themselves."""
        if type(moment) is not ReweighedMoment:
            return None
        same = moment.samples is self.samples or np.array_equal(moment.samples, self.samples)
        return moment if same else None

    def explain(self, second_moment: Array) -> Moment:
        """Return weights with a second moment, or the matrix itself if no weights reproduce it."""
        found = self.ball.weights(self.nominal, second_moment)
        return DenseMoment(second_moment) if found is None else ReweighedMoment(self.samples, found)

    def measure(self, moment: ReweighedMoment) -> float:
        """Return the divergence of the weights."""
        if np.ptp(moment.weights) == 0.0:  # the centre, whatever the rounding of 1/N
            return 0.0
        return float(divergence_above(self.ball.divergence, moment.weights))


def divergence_above(divergence: Callable[[Array], Any], weights: Array) -> Any:
    """Return the divergence of weights from equal ones, or of each row of a stack, rounded upwards.

    The exact ratios ``Nq_i / Σq`` differ from ``Nq_i`` by the rounding of the product and by the
    difference of the sum from one, both relative. A divergence ``mean φ(ρ_i)`` grows with the
    distance of every ratio from one, so ratios are moved away from one by this error. Those that
    may lie on either side of one are tried on both.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import TotalVariationBall
    >>> from wdro_cvx.ambiguity.reweighting import divergence_above
    >>> measure = TotalVariationBall(0.0).divergence
    >>> 0.25 < divergence_above(measure, np.array([0.25, 0.75])) < 0.25 * (1 + 1e-12)
    True
    """
    ratios = weights * weights.shape[-1]
    apart = np.abs(weights.sum(axis=-1, keepdims=True) - 1.0) + _SUMMED
    far = ratios * np.where(ratios < 1.0, 1.0 - apart, 1.0 + apart)
    near = np.abs(ratios - 1.0) <= apart
    if not near.any():
        return divergence(far) * MEASURED
    # Twice the error, and rounding of these lines.
    sides = [np.where(near, 1.0 + sign * 2.5 * apart, far) for sign in (-1.0, 1.0)]
    return np.maximum(*map(divergence, sides)) * MEASURED


def sample_losses(samples: Array, laplacian: Array) -> tuple[Array, float]:
    """Return every sample's ``xᵀLx``, and by how much rounding may have lowered one of them.

    Matrix products are fast but lose digits if a sample is large compared with its smoothness. In
    that case the losses are sums of squared differences over the edges, which do not cancel.
    """
    losses, rounding = _product_losses(samples, laplacian)
    if rounding <= CANCELLATION * float(losses.max()) or not is_laplacian(laplacian):
        return losses, rounding
    losses, blocks = np.zeros(len(samples)), 0
    for heads, tails, weights in edge_blocks(laplacian):
        losses += np.square(samples[:, heads] - samples[:, tails]) @ weights
        blocks += 1
    return losses, (BLOCK + blocks + 64) * _EPS * float(np.abs(losses).max())


def stacked_losses(
    samples: Sequence[Array | None], laplacians: Array
) -> tuple[Array, Array, Array] | None:
    """Return the tables, their losses and the rounding errors as stacks.

    Return None if the tables differ in shape or are long, or if products are not accurate enough.
    """
    tables = [table for table in samples if table is not None and len(table) <= BLOCK_ROWS]
    if len(tables) < len(samples) or len({table.shape for table in tables}) > 1:
        return None
    stack = np.stack(tables)
    losses, rounding = _product_losses(stack, laplacians)
    if (rounding > CANCELLATION * losses.max(axis=-1)).any() or not np.ptp(losses, axis=-1).all():
        return None
    return stack, losses, rounding


def _product_losses(samples: Array, laplacian: Array) -> tuple[Array, Any]:
    """Return every sample's loss by matrix products, and the rounding error of the largest."""
    losses = np.vecdot(samples @ laplacian, samples)
    top = 2 * number(diagonals(laplacian).max(axis=-1))
    largest = number(np.vecdot(samples, samples).max(axis=-1))
    return losses, 2 * (laplacian.shape[-1] + 16) * _EPS * top * largest


def _samples_of(ambiguity: WeightsBall, nominal: Nominal) -> Array:
    if nominal.samples is None:
        raise ProblemError(
            f"{type(ambiguity).__name__} reweighs samples, and this nominal has moments only. "
            "Use Nominal.from_samples, or GaussianBall."
        )
    return nominal.samples


def _moment(samples: Array, weights: Array) -> Array:
    return gram(samples, weights)
