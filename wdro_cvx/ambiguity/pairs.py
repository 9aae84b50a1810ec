"""A ball with a radius for every pair of vertices.

A Laplacian depends on the data through ``D_ij = E(x_i - x_j)²`` only, one number per pair. With
missing values some pairs rest on few rows. A ball of the same width for all pairs would be too wide
for the well-known ones or too narrow for the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import scipy
from numpy.typing import ArrayLike

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase, register_ambiguity
from wdro_cvx.ambiguity.shift import ShiftBall
from wdro_cvx.ambiguity.smoothness import nominal_risk
from wdro_cvx.ambiguity.structure import Surcharge
from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.laplacian import (
    edge_index,
    laplacian_from_weights,
    vertex_count,
    weights_from_laplacian,
)
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.validation import Array, positive_scales

_EPS = float(np.finfo(float).eps)


@register_ambiguity
@dataclass(frozen=True)
class PairBall(ShiftBall):
    """All second moments with ``|E(x_i - x_j)² - D_ij| ≤ radius·scale_ij`` for every pair.

    The worst case adds ``radius·scale_ij`` to the cost of each edge, so the problem is as easy to
    solve as the sample average.

    Parameters
    ----------
    radius : float ≥ 0
    scales : sequence of d(d-1)/2 floats > 0, optional
        One per pair, in the order of ``scipy.spatial.distance.squareform``; all 1 by default. If
        the pair i, j shares ``n_ij`` rows, scales of ``1/√n_ij`` allow every pair the same number
        of standard errors, as long as all pairs are equally spread.

    Raises
    ------
    ProblemError
        If a scale is not positive, or their number fits no number of vertices.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Nominal, PairBall
    >>> nominal = Nominal.from_samples(np.eye(3))
    >>> ball = PairBall(0.5, scales=(1.0, 1.0, 4.0))  # the pair 1, 2 is known least
    >>> path = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    >>> print(round(ball.worst_case(nominal, path).risk, 3))  # 4/3 + 0.5 · (1 + 4)
    3.833
    """

    scales: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.scales) == 0:
            return

        def pair(place: int) -> str:
            heads, tails = edge_index(vertex_count(np.asarray(self.scales)))
            return f"the pair {heads[place]}, {tails[place]}"

        remedy = "Use a small scale for a pair that is known well."
        scales = positive_scales(self.scales, pair, remedy)
        vertex_count(scales)
        object.__setattr__(self, "scales", tuple(scales.tolist()))

    @classmethod
    def example(cls, radius: float, d: int) -> Self:
        """Return a set with scales from 0.5 to 1.5."""
        return cls(radius, scales=tuple(np.linspace(0.5, 1.5, d * (d - 1) // 2)))

    def for_overlaps(self, counts: Array) -> Self:
        """Return the set with scales ``√(max n / n_ij)``, or unchanged if it has scales."""
        if self.scales:
            return self
        shared = scipy.spatial.distance.squareform(counts, checks=False)
        return replace(self, scales=tuple(np.sqrt(shared.max() / shared)))

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the risk and the moment with the largest squared difference for every pair."""
        scales = self.scales_of(nominal.d)
        # Summed pairwise to keep digits.
        premium = float(np.sum(scales * weights_from_laplacian(laplacian)))
        # Each of the two off-diagonal entries contributes half.
        shift = laplacian_from_weights(self.radius / 2 * scales)
        np.fill_diagonal(shift, 0.0)
        average, rounding = nominal_risk(nominal, laplacian)
        return WorstCase(
            average + self.radius * premium,
            nominal.second_moment + shift,
            premium,
            build_moment=lambda: TransportedMoment(nominal.rows, shift=shift),
            rounding=rounding + 64 * _EPS * self.radius * abs(premium),
        )

    def constant_risk(self, d: int, trace: float) -> float:
        """Return the premium of the smallest scale, which every unit of weight pays."""
        least = min(self.scales, default=1.0)
        return self.radius * least * trace / 2

    def in_coordinates(self, matrix: ArrayLike) -> AmbiguitySet:
        """Raise ProblemError: the set bounds differences between vertices only."""
        raise ProblemError(
            "PairBall bounds differences between vertices, which other coordinates do not have. "
            "Use MomentBall in coordinates."
        )

    def size(self, shift: Array) -> float:
        """Return ``max |[𝒯*Δ]_ij| / scale_ij``, rounded upwards."""
        heads, tails = edge_index(shift.shape[0])
        ends = np.diagonal(shift)
        both = shift[heads, tails] + shift[tails, heads]
        # The rounding error of the sums and of the difference ``M - Θ``.
        lost = 8 * _EPS * (np.abs(ends[heads]) + np.abs(ends[tails]) + np.abs(both))
        change = np.abs(ends[heads] + ends[tails] - both) + lost
        return float(np.max(change / self.scales_of(shift.shape[0]))) * (1.0 + 4 * _EPS)

    def scales_of(self, d: int) -> Array:
        """Return the scale of every pair of d vertices."""
        edges = d * (d - 1) // 2
        if not self.scales:
            return np.ones(edges)
        if len(self.scales) != edges:
            raise ProblemError(
                f"scales must have one entry per pair of the {d} vertices, {edges} in all; there "
                f"are {len(self.scales)}."
            )
        return self._scales

    @cached_property
    def _scales(self) -> Array:
        """The scales as an array, because a tuple of millions takes long to convert."""
        scales = np.array(self.scales)
        scales.flags.writeable = False
        return scales

    def structure(self, nominal: Nominal) -> Surcharge:
        """Return what the worst case adds to the cost of every pair."""
        return Surcharge(self.radius, self.scales_of(nominal.d) if self.scales else None)
