"""The Wasserstein ball with a full-matrix metric.

The ground cost is ``‖T⁻¹(x - y)‖₂`` for an invertible matrix T, the root of the Mahalanobis form
``(x - y)ᵀ(TTᵀ)⁻¹(x - y)``. In the coordinates ``T⁻¹x`` this is the Euclidean ball with ``TᵀLT`` in
place of the Laplacian (Blanchet, Kang and Murthy, J. Appl. Probab. 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import scipy
from numpy.typing import ArrayLike

from wdro_cvx.ambiguity.base import OPERATIONS, WorstCase, register_ambiguity
from wdro_cvx.ambiguity.frames import MatrixFrame
from wdro_cvx.ambiguity.gelbrich import GaussianBall, WassersteinBall
from wdro_cvx.ambiguity.moment import entrywise_norm
from wdro_cvx.ambiguity.smoothness import accumulation, nominal_risk
from wdro_cvx.ambiguity.structure import Transport
from wdro_cvx.ambiguity.transport import TransportBall, worst_transport
from wdro_cvx.errors import ProblemError
from wdro_cvx.moments.distribution import Discrete, Distribution, Gaussian
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.validation import Array, coordinate_matrix, covariance_matrix


@register_ambiguity
@dataclass(frozen=True)
class MetricBall(TransportBall):
    """All distributions within type-2 transport distance ``radius`` at the cost ``‖T⁻¹(x - y)‖``.

    Use it if the noise of the sensors is correlated. Without samples the distributions are
    Gaussians, as in :class:`GaussianBall`.

    Parameters
    ----------
    radius : float ≥ 0
    coordinates : d rows of d floats
        T, invertible. The noise has the covariance ``TTᵀ``; :meth:`from_covariance` takes that
        instead. A diagonal T is a :class:`MahalanobisBall`.

    Raises
    ------
    ProblemError
        If T is not a square matrix, or is singular or nearly so.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import MetricBall, Nominal
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_samples([[1.0, -1.0], [-1.0, 1.0]])
    >>> together = MetricBall.from_covariance(0.5, [[1.0, 0.99], [0.99, 1.0]])
    >>> opposed = MetricBall.from_covariance(0.5, [[1.0, -0.99], [-0.99, 1.0]])
    >>> print([round(ball.worst_case(nominal, edge).risk, 2) for ball in (together, opposed)])
    [4.29, 8.98]
    """

    coordinates: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        matrix = coordinate_matrix("coordinates", self.coordinates)
        object.__setattr__(self, "coordinates", tuple(map(tuple, matrix.tolist())))

    @classmethod
    def from_covariance(cls, radius: float, covariance: ArrayLike) -> Self:
        """Return the ball for noise with a covariance (d, d), which must be positive definite."""
        size = np.shape(covariance)
        matrix = covariance_matrix("covariance", covariance, size[0] if size else 0)
        try:
            root = scipy.linalg.cholesky(matrix, lower=True)
        except scipy.linalg.LinAlgError:
            raise ProblemError(
                "covariance must be positive definite; it is singular. Add a little noise to "
                "directions without any, such as 1e-6 times the identity."
            ) from None
        return cls(radius, root.tolist())

    @classmethod
    def example(cls, radius: float, d: int) -> Self:
        """Return a ball whose noise is correlated between neighbours."""
        apart = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
        return cls(radius, np.tril(0.4**apart).tolist())

    @cached_property
    def frame(self) -> MatrixFrame:
        """The coordinates in which the cost is Euclidean."""
        return MatrixFrame(np.array(self.coordinates))

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the worst case of the Gelbrich ball of ``T⁻¹x``, mapped back to x."""
        frame = self._frame_for(nominal)
        congruent, rows = frame.form(laplacian), frame.inside(nominal.factor)
        worst = worst_transport(rows, congruent, self.radius)
        average, rounding = nominal_risk(nominal, laplacian)
        wide = frame.widest
        # The computed rows y differ from T⁻¹x by T⁻¹e, where e comes from rounding and from the
        # residual of the inverse. Rows enter multiplied by TᵀLT, so their error enters as TᵀLe, and
        # ‖TᵀL‖ ≤ top/wide.
        error = accumulation(nominal) + frame.residual
        unsure = error * float(np.linalg.norm(nominal.lengths)) / wide
        top = 2 * float(np.diagonal(laplacian).max()) * wide**2
        rounding += worst.rounding(rows, congruent, unsure, top)
        reach = 2 * self.radius * float(np.linalg.norm(rows)) + self.radius**2
        rounding += float(entrywise_norm(frame.form_error(laplacian), 2.0)) * reach

        def moment() -> TransportedMoment:
            found = worst.moment()
            spread = None if found.spread is None else frame.outside(found.spread)
            return TransportedMoment(nominal.factor + frame.outside(worst.moves(rows)), spread)

        def distribution() -> Distribution:
            euclidean = GaussianBall if nominal.samples is None else WassersteinBall
            inner = nominal.transformed(frame.inverse)
            found = euclidean(self.radius).worst_case(inner, congruent).distribution
            if isinstance(found, Discrete):
                return Discrete(frame.outside(found.points), found.weights)
            return Gaussian(frame.outside(found.mean), frame.moment(found.covariance))

        matrix = nominal.second_moment
        if self.radius > 0.0:
            matrix = moment().second_moment
        return WorstCase(
            average + worst.premium, matrix, worst.multiplier, distribution, moment, rounding
        )

    def in_coordinates(self, matrix: ArrayLike) -> MetricBall:
        """Return the ball in the product of both coordinates."""
        outer = coordinate_matrix("coordinates", matrix, len(self.coordinates))
        return MetricBall(self.radius, (outer @ self.frame.matrix).tolist())

    def structure(self, nominal: Nominal) -> Transport:
        """Return the transport of every signal."""
        frame = self._frame_for(nominal)
        return Transport(nominal.factor, self.radius, coordinates=frame.matrix)

    def _frame_for(self, nominal: Nominal) -> MatrixFrame:
        if len(self.coordinates) != nominal.d:
            raise ProblemError(
                f"coordinates must be a matrix for {nominal.d} vertices; it has "
                f"{len(self.coordinates)} rows."
            )
        return self.frame


OPERATIONS["metric"] = MetricBall
