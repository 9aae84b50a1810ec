"""Intersections of ambiguity sets of one family.

    sets of weights:  the same weights of the samples lie in every part
    moment balls:     the same shift Δ of the second moment lies in every part

The worst case maximises a linear function under one convex constraint per part (separable.py). Its
dual is the infimal convolution of the parts' risks. A worst case takes some dozens of steps, each
with a few passes over the N samples or the d² entries. Sets of different families have no common
description of their points. Every worst case would be a semidefinite program, so their
intersections are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from wdro_cvx.ambiguity.base import OPERATIONS, AmbiguitySet, WorstCase
from wdro_cvx.ambiguity.cvar import CVaRBall
from wdro_cvx.ambiguity.membership import relative_distance
from wdro_cvx.ambiguity.moment import MomentBall
from wdro_cvx.ambiguity.reweighting import ReweightingBall, WeightsBall, WeightsMembership
from wdro_cvx.ambiguity.separable import Constraint, Terms, maximise_linear
from wdro_cvx.ambiguity.shift import ShiftBall
from wdro_cvx.ambiguity.smoothness import nominal_risk
from wdro_cvx.errors import ProblemError
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)
_ABSENT = 1e-11  # the gain of an absent edge, relative to the largest; it decides the edge's shift


@dataclass(frozen=True)
class WeightsIntersection(WeightsBall):
    """The weights of the samples that lie in every part.

    Write it as ``a & b``. The parts are smooth divergence balls and CVaR balls.

    Parameters
    ----------
    radius : float ≥ 0
        Multiplies the radii of all parts; 1 in ``a & b``.
    parts : tuple of ReweightingBall or CVaRBall

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import CVaRBall, KLBall, Nominal
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_samples([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0]])
    >>> both = KLBall(0.3) & CVaRBall(1.0)
    >>> print(both.worst_case(nominal, edge).distribution.weights.round(3))
    [0.046 0.099 0.354 0.5  ]
    """

    parts: tuple[AmbiguitySet, ...]

    radius_degree: ClassVar[int] = 0

    @cached_property
    def sized_parts(self) -> tuple[WeightsBall, ...]:
        """The parts with their radii multiplied by the common one."""
        return tuple(replace(part, radius=self.radius * part.radius) for part in self.parts)  # type: ignore[misc]

    def tilt(self, losses: Array) -> tuple[Array, float]:
        """Return the worst ratios in all parts; the multiplier is not known."""
        return self.tilted(losses)[:2]

    def tilted(self, losses: Array) -> tuple[Array, float, float]:
        """Return the worst ratios, and the upper bound from the multipliers of the parts."""
        count, parts = losses.size, self.sized_parts
        if min(part.radius for part in parts) == 0.0:
            return np.ones(count), np.nan, float(losses.mean())
        caps = [1.0 + part.radius for part in parts if isinstance(part, CVaRBall)]
        smooth = [part for part in parts if isinstance(part, ReweightingBall)]
        constraints = [Constraint(_divergence_terms(part), count * part.radius) for part in smooth]
        cap = min([*caps, float(count)])
        centred = losses - losses.mean()
        found = maximise_linear(centred / count, constraints, cap, float(count), 1.0)
        ratios = found.point * (count / found.point.sum())
        spent = self.divergence(ratios)
        if spent > self.radius:  # by rounding; every divergence is convex and 0 at ratios of one
            ratios = 1.0 + (ratios - 1.0) * (self.radius / spent * (1.0 - 1e-12))
        return ratios, np.nan, min(float(losses.mean()) + found.ceiling, float(losses.max()))

    def divergence(self, ratios: Array) -> float:
        """Return the largest divergence of a part, relative to the radius of the part."""
        return max(
            relative_distance(part.divergence(ratios), part.radius)  # type: ignore[attr-defined]
            for part in self.parts
        )

    def candidates(self, nominal: Nominal, second_moment: Array) -> Iterator[Array]:
        """Yield the candidates of all parts."""
        for part in self.sized_parts:
            yield from part.candidates(nominal, second_moment)

    def membership(self, nominal: Nominal) -> CommonWeights:
        """Return the membership by weights on the samples."""
        known = super().membership(nominal)
        return CommonWeights(known.samples, nominal, self)

    def structure(self, nominal: Nominal) -> None:  # type: ignore[override]
        """Return None: solvers know one divergence at a time."""
        return

    def scaled(self, factor: float) -> Self:
        """Return the set itself: weights have no unit."""
        return self


class CommonWeights(WeightsMembership):
    """Membership by weights that lie in every part.

    A matrix is explained by the least divergent weights of one part. If there are many samples,
    other weights with this moment may lie in all parts.
    """

    explains: ClassVar[bool] = False


@dataclass(frozen=True)
class ShiftIntersection(ShiftBall):
    """The shifts of the second moment that lie in every part: an intersection of norm balls.

    Write it as ``a & b``. The parts are moment balls.

    Parameters
    ----------
    radius : float ≥ 0
        Multiplies the radii of all parts; 1 in ``a & b``.
    parts : tuple of MomentBall

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import MomentBall, Nominal
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_samples([[0.0, 1.0]])
    >>> both = MomentBall(1.0, p=2.0) & MomentBall(0.25, p=np.inf)
    >>> print(round(both.worst_case(nominal, edge).risk, 9))  # 1 + 4 · 0.25
    2.0
    """

    parts: tuple[MomentBall, ...]

    radius_degree: ClassVar[int] = 0
    finite_distance: ClassVar[bool] = False
    entrywise: ClassVar[bool] = True

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the risk, and the largest shift along the signs of the Laplacian."""
        average, rounding = nominal_risk(nominal, laplacian)
        parts = [replace(part, radius=self.radius * part.radius) for part in self.parts]
        least = min(part.radius for part in parts)
        if least == 0.0:
            return WorstCase(average, nominal.second_moment, np.inf, rounding=rounding)
        # If the shift of an absent edge is not unique, it is that of a small positive weight. The
        # weight can only grow, so this shift gives the derivative in the feasible direction.
        signs = np.where(laplacian + 0.5 * np.eye(nominal.d) * (laplacian == 0.0) > 0.0, 1.0, -1.0)
        gains = np.maximum(np.abs(laplacian), _ABSENT * float(np.abs(laplacian).max())).ravel()
        # In the unit of the smallest radius no power over- or underflows.
        constraints = [
            Constraint(_power_terms(part.p), (part.radius / least) ** part.p)
            for part in parts
            if np.isfinite(part.p)
        ]
        cap = min([part.radius / least for part in parts if np.isinf(part.p)] or [2.0])
        cap = min(cap, 2.0)  # an entry is at most the smallest radius
        inside = [gains.size ** (-1.0 / part.p) * part.radius / least for part in parts]
        found = maximise_linear(gains, constraints, cap, None, 0.5 * min([*inside, cap]))
        shift = signs * (least * found.point).reshape(laplacian.shape)
        shift = (shift + shift.T) / 2
        size = self.size(shift)
        if size > self.radius:  # by rounding
            shift *= self.radius / size * (1.0 - 4 * _EPS)
        premium = least * found.ceiling
        attained = float(np.vdot(shift, laplacian))
        return WorstCase(
            average + attained,
            nominal.second_moment + shift,
            np.nan,
            build_moment=lambda: TransportedMoment(nominal.rows, shift=shift),
            rounding=rounding + max(premium - attained, 0.0) + 64 * _EPS * premium,
        )

    def size(self, shift: Array) -> float:
        """Return the largest size for a part, relative to the radius of the part."""
        return max(relative_distance(part.size(shift), part.radius) for part in self.parts)

    @property
    def reach(self) -> float:
        """The smallest reach of the parts."""
        return min(replace(part, radius=self.radius * part.radius).reach for part in self.parts)

    def scaled(self, factor: float) -> Self:
        """Return the equivalent set for data multiplied by factor."""
        return replace(self, parts=tuple(part.scaled(factor) for part in self.parts))


def intersected(first: AmbiguitySet, second: AmbiguitySet) -> AmbiguitySet:
    """Return ``first & second``, or raise ProblemError if their points have no common form."""
    parts: list[AmbiguitySet] = []
    for one in (first, second):
        if isinstance(one, WeightsIntersection):
            parts += one.sized_parts
        elif isinstance(one, ShiftIntersection):
            parts += [replace(part, radius=one.radius * part.radius) for part in one.parts]
        else:
            parts.append(one)
    caps = [part for part in parts if isinstance(part, CVaRBall)]
    if caps:  # the smallest of them is their intersection
        least = min(caps, key=lambda part: part.radius)
        parts = [part for part in parts if part is least or not isinstance(part, CVaRBall)]
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, (ReweightingBall, CVaRBall)) for part in parts):
        return WeightsIntersection(1.0, tuple(parts))
    if all(isinstance(part, MomentBall) for part in parts):
        return ShiftIntersection(1.0, tuple(parts))  # type: ignore[arg-type]
    names = " & ".join(type(part).__name__ for part in parts)
    raise ProblemError(
        f"{names} cannot be computed: sets of weights (KLBall, ChiSquareBall, HellingerBall, "
        "CVaRBall) can be intersected with each other, and so can moment balls. Other sets have no "
        "common form of their points, so that every worst case would be a semidefinite program. "
        "Add the sets (a + b), or write the intersection as a set of its own."
    )


def _divergence_terms(part: ReweightingBall) -> Terms:
    def terms(ratios: Array) -> tuple[Array, Array, Array]:
        total = part.divergence(ratios) * ratios.size
        # Only the sum of the terms counts.
        values = np.zeros(ratios.size)
        values[0] = total
        return values, part.slope(ratios), part.bend(ratios)

    return terms


def _power_terms(p: float) -> Terms:
    def terms(sizes: Array) -> tuple[Array, Array, Array]:
        if p == 1.0:
            return sizes, np.ones(sizes.size), np.zeros(sizes.size)
        powers = sizes ** (p - 2.0)
        return powers * sizes**2, p * powers * sizes, p * (p - 1.0) * powers

    return terms


OPERATIONS["intersection"] = intersected
