"""The moment ball, the set to which Theorem 3 applies.

Theorem 3 moves ``Θ = xxᵀ`` freely in the symmetric matrices. This is a ball of second moments,
``{Θ + Δ : ‖vec Δ‖_p ≤ ε}``, and not the Wasserstein ball of signals (docs/paper.md E1). Its risk
is ``⟨Θ, L⟩ + ε‖vec L‖_q`` with ``1/p + 1/q = 1``, for every transport order α.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase, each_worst_case, register_ambiguity
from wdro_cvx.ambiguity.shift import ShiftBall
from wdro_cvx.ambiguity.smoothness import nominal_risk, nominal_risks
from wdro_cvx.ambiguity.structure import Norm
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.stacks import diagonals, flat, is_zero, number, plane
from wdro_cvx.validation import Array, real_number

_EPS = float(np.finfo(float).eps)


@register_ambiguity
@dataclass(frozen=True)
class MomentBall(ShiftBall):
    """All second moments within ``radius`` of the nominal one in the entrywise p-norm.

    Parameters
    ----------
    radius : float ≥ 0
        In the unit of the data squared.
    p : float in [1, ∞]
        The norm of the ground cost. On Laplacians of trace d ``p = ∞`` adds the constant ``2dε`` to
        the sample average, and ``p = 1`` adds ``ε`` times the largest degree.
    alpha : float ≥ 1
        The order of the Wasserstein distance. It changes the multiplier, not the risk.

    Raises
    ------
    ProblemError
        If ``p`` or ``alpha`` is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import MomentBall, Nominal
    >>> path = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    >>> silent = Nominal.from_samples(np.zeros((1, 3)))
    >>> for p in (1.0, 2.0, np.inf):
    ...     print(p, round(MomentBall(0.5, p=p).worst_case(silent, path).risk, 3))
    1.0 1.0
    2.0 1.581
    inf 4.0
    """

    p: float = 2.0
    alpha: float = 1.0

    entrywise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "p", real_number("p", self.p, 1.0, infinite=True))
        object.__setattr__(self, "alpha", real_number("alpha", self.alpha, 1.0))

    @property
    def q(self) -> float:
        """The conjugate exponent, ``1/p + 1/q = 1``."""
        return Norm(self.p).dual_order

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        """Return the risk and the Hölder-aligned shift ``Δ`` that attains it."""
        norm, aligned = dual_norm(laplacian, self.q)
        shift = self.radius * aligned
        average, rounding = nominal_risk(nominal, laplacian)
        risk = average + self.radius * norm
        return WorstCase(
            risk,
            nominal.second_moment + shift,
            Norm(self.p, self.alpha).multiplier(norm, self.radius),
            build_moment=lambda: TransportedMoment(nominal.rows, shift=shift),
            rounding=rounding + 64 * _EPS * self.radius * norm,
        )

    @staticmethod
    def worst_cases(
        sets: Sequence[AmbiguitySet], nominals: Sequence[Nominal], laplacians: Array
    ) -> list[WorstCase]:
        """Return the worst cases, as a stack if all p are equal and strictly between 1 and ∞."""
        balls = cast("Sequence[MomentBall]", sets)
        orders = {ball.q for ball in balls}
        edges = diagonals(laplacians).max(axis=-1) > 0.0
        if len(orders) > 1 or not 1.0 < balls[0].q < np.inf or not edges.all():
            return each_worst_case(sets, nominals, laplacians)
        radii = np.array([ball.radius for ball in balls])
        norms, aligned = dual_norm(laplacians, balls[0].q)
        shifts = plane(radii) * aligned
        averages, rounding = nominal_risks(nominals, laplacians)
        theta = np.stack([nominal.second_moment for nominal in nominals])
        moments, premiums = theta + shifts, radii * norms
        rounding = rounding + 64 * _EPS * premiums
        numbers = (averages + premiums).tolist(), norms.tolist(), rounding.tolist()
        return [
            WorstCase(
                risk,
                moments[place],
                Norm(ball.p, ball.alpha).multiplier(norm, ball.radius),
                build_moment=partial(TransportedMoment, nominals[place].rows, shift=shifts[place]),
                rounding=error,
            )
            for place, (ball, risk, norm, error) in enumerate(zip(balls, *numbers, strict=True))
        ]

    def size(self, shift: Array) -> float:
        """Return ``‖vec Δ‖_p``, rounded upwards."""
        return float(entrywise_norm(shift, self.p))

    def constant_risk(self, d: int, trace: float) -> float:
        """Return ``2·trace·radius`` for p = ∞, where all Laplacians have the same norm, else 0."""
        return self.radius * 2.0 * trace if np.isinf(self.p) else 0.0

    def structure(self, nominal: Nominal) -> Norm:
        """Return the norm."""
        return Norm(self.p, self.alpha)


def entrywise_norm(shift: Array, p: float) -> Any:
    """Return ``‖vec Δ‖_p`` of a matrix, or of each matrix of a stack, rounded upwards."""
    entries = flat(np.abs(shift))
    largest = entries.max(axis=-1, keepdims=True)
    # Powers of small numbers would underflow for large p.
    relative = entries / np.where(largest > 0.0, largest, 1.0)
    norm = largest[..., 0] * np.linalg.norm(relative, p, axis=-1)
    # Rounding of the pairwise sum, of the powers and of the difference ``M - Θ``.
    return norm * (1.0 + 32 * _EPS)


def dual_norm(laplacian: Array, q: float) -> tuple[Any, Array]:
    """Return ``‖vec L‖_q`` and a matrix Δ of unit p-norm with ``⟨Δ, L⟩ = ‖vec L‖_q``.

    If Δ is not unique (zeros of L for q = 1, ties for q = ∞), off-diagonal zeros count as negative
    and ties share equally. For 1 < q < ∞ it also takes a stack of Laplacians with edges.
    """
    size = np.abs(laplacian)
    largest = number(size.max(axis=(-2, -1)))
    if np.isinf(q):
        ties = size == largest
        return largest, np.where(ties, np.sign(laplacian), 0.0) / np.count_nonzero(ties)
    if q == 1.0:
        signs = np.sign(laplacian)
        free = signs == 0.0
        signs[free] = -1.0
        np.fill_diagonal(signs, np.where(np.diagonal(free), 1.0, np.diagonal(signs)))
        return float(size.sum()), signs
    if is_zero(largest):
        return 0.0, np.zeros_like(laplacian)
    size /= plane(largest)  # so that the sum of powers neither over- nor underflows
    total = number(flat(size**q).sum(axis=-1))
    norm = largest * total ** (1.0 / q)
    aligned = np.sign(laplacian) * size ** (q - 1.0) * plane(total ** (1.0 / q - 1.0))
    return norm, aligned
