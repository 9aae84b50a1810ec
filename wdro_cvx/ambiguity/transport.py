"""The worst transport of rows against a Laplacian, and the base class of transport balls.

    max { ‖(F + Δ)L^½‖² + ‖SL^½‖² : ‖Δ‖² + ‖S‖² ≤ ε² }
        = ⟨FᵀF, L⟩ + inf_{γ > λmax} γε² + Tr(FL(γI - L)⁻¹LFᵀ)

The Gelbrich ball, the Mahalanobis ball and the mean of the moment-uncertainty set share this
problem. The worst ``F + Δ`` is ``γF(γI - L)⁻¹``. In the hard case the rest of the budget goes along
a top eigenvector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.ambiguity.frames import Frame
from wdro_cvx.ambiguity.membership import Membership
from wdro_cvx.ambiguity.secular import solve_secular, solve_seculars
from wdro_cvx.ambiguity.structure import Transport
from wdro_cvx.moments.nominal import Nominal, root_rows
from wdro_cvx.moments.points import Moment, TransportedMoment
from wdro_cvx.stacks import column, dot, eigen, flat, is_zero, largest_degree, number, some
from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class WorstTransport:
    """The result of :func:`worst_transport`, or a stack of these.

    Attributes
    ----------
    premium : float
        The amount by which the risk exceeds ``⟨FᵀF, L⟩``.
    multiplier : float
        γ; infinite if nothing moves.
    moved : array (r, d)
        The moved rows.
    spread : array (d,) or None
        The rest of the budget in the hard case, along a top eigenvector.
    vectors, stretch : arrays (d, d) and (d,)
        ``moved = F·V diag(stretch) Vᵀ``.
    length : float
        ε, the norm of moves and spread together.
    pull : array (d,) or None
        ``stretch - 1`` without cancellation; None if nothing moves.
    """

    premium: Any
    multiplier: Any
    moved: Array
    spread: Array | None
    vectors: Array
    stretch: Array
    length: Any = 0.0
    pull: Array | None = None

    def moves(self, rows: Array) -> Array:
        """Return ``moved - F`` without cancellation."""
        if self.pull is None:
            return np.zeros_like(rows)
        return np.asarray(((rows @ self.vectors) * self.pull) @ self.vectors.T)

    def matrix(self, place: Any = ...) -> Array:
        """Return the map that moves the rows; in a stack, that of one problem."""
        vectors = self.vectors[place]
        return np.asarray((vectors * self.stretch[place]) @ vectors.T)

    def rounding(
        self, rows: Array, laplacian: Array, unsure: Any = 0.0, top: float | None = None
    ) -> Any:
        """Return by how much rounding may have lowered the premium.

        ``top`` bounds the eigenvalues; by default it is twice the largest degree of a Laplacian.
        ``unsure`` bounds the error of the rows in the Frobenius norm, which enters through
        ``2⟨ΔL, F⟩``. Rounding in the eigendecomposition amounts to a Laplacian with an error E. It
        changes the premium by at most ``‖E‖₂`` times the sum of the singular values of the moment's
        change.
        """
        entries = flat(rows)
        size = 2 * self.length * dot(entries, entries) ** 0.5 + self.length**2
        if top is None:
            top = 2 * largest_degree(laplacian)
        meant = 2 * top * self.length * unsure * (1.0 + 64 * _EPS)
        rounding = (laplacian.shape[-1] + 16) * _EPS * top * size + 64 * _EPS * self.premium + meant
        return number(rounding)

    def second_moment(self) -> Array:
        """Return the second moment of the moved rows and the spread."""
        moment = self.moved.mT @ self.moved
        if self.spread is None:
            return moment
        return np.asarray(moment + self.spread[..., np.newaxis] * self.spread[..., np.newaxis, :])

    def moment(self, place: int | None = None) -> TransportedMoment:
        """Return the second moment with its rows; in a stack, that of one problem."""
        moved, spread = self.moved, self.spread
        if place is not None:
            moved, spread = moved[place], None if spread is None else spread[place]
            spread = spread if spread is not None and spread.any() else None
        return TransportedMoment(moved, None if spread is None else spread[np.newaxis])


def worst_transport(rows: Array, laplacian: Array, radius: Any) -> WorstTransport:
    """Return the worst transport, from one eigendecomposition and the secular equation.

    In a stack all radii are positive, and all graphs have edges.
    """
    d = laplacian.shape[-1]
    if is_zero(radius):
        return WorstTransport(0.0, np.inf, rows, None, np.eye(d), np.ones(d))
    values, vectors = eigen(laplacian)
    if laplacian.ndim == 2 and values[-1] <= 0.0:
        return WorstTransport(0.0, np.inf, rows, None, vectors, np.ones(d))
    spectral = rows @ vectors
    masses = dot(spectral.mT, spectral.mT)
    root = (solve_secular if laplacian.ndim == 2 else solve_seculars)(values, masses, radius)
    distances = column(root.shift) + (values[..., -1:] - values)
    if some(root.shift < _EPS * values[..., -1]):
        # A direction without mass does not move; an infinite distance avoids 0/0 there.
        distances = np.where(masses * values**2 > 0.0, distances, np.inf)
    pull = values / distances
    stretch = 1.0 + pull  # γ/(γ - λ)
    premium = root.multiplier * radius**2 + dot(masses * values, pull)
    moved = (spectral * stretch[..., np.newaxis, :]) @ vectors.mT
    hard = some(root.leftover > 0.0)
    spread = column(np.sqrt(root.leftover)) * vectors[..., -1] if hard else None
    return WorstTransport(premium, root.multiplier, moved, spread, vectors, stretch, radius, pull)


@dataclass(frozen=True, eq=False)
class TransportMembership(Membership[TransportedMoment]):
    """Membership by moved rows and spread, at a cost that is Euclidean in the frame."""

    rows: Array
    frame: Frame

    @property
    def centre(self) -> TransportedMoment:
        """The nominal rows."""
        return TransportedMoment(self.rows)

    def read(self, moment: Moment) -> TransportedMoment | None:
        """Read rows that match the nominal ones, with spread but without a shift."""
        if type(moment) is not TransportedMoment or moment.shift is not None:
            return None
        return moment if moment.moved.shape == self.rows.shape else None

    def explain(self, second_moment: Array) -> TransportedMoment:
        """Return the cheapest way to move the rows to a second moment, up to rounding.

        If the moment is ``RᵀR``, the moved rows are ``QR`` with the orthogonal ``Q`` that aligns
        them best with the rows (Procrustes), in the coordinates of the frame. The result is a valid
        coupling even if the roots are inexact.
        """
        target = root_rows(self.frame.inner_moment(second_moment))
        rows = self.frame.inside(self.rows)
        left, right = singular_vectors(rows @ target.T)
        k = min(rows.shape[0], target.shape[0])
        moved = self.frame.outside(left[:, :k] @ (right[:k] @ target))
        spread = self.frame.outside(right[k:] @ target) if target.shape[0] > k else None
        return TransportedMoment(moved, spread)

    def measure(self, moment: TransportedMoment) -> float:
        """Return the length of moves and spread together, rounded upwards."""
        moves = moment.moved - self.rows
        if moment.spread is not None:
            moves = np.vstack([moves, moment.spread])
        return self.frame.length(moves)


def singular_vectors(matrix: Array) -> tuple[Array, Array]:
    """Return all left singular vectors as columns and all right ones as rows."""
    try:
        left, _, right = scipy.linalg.svd(matrix, check_finite=False)
    except scipy.linalg.LinAlgError:
        # Divide and conquer may fail if all singular values are nearly equal; QR steps do not.
        left, _, right = scipy.linalg.svd(matrix, check_finite=False, lapack_driver="gesvd")
    return left, right


def rms_move(moves: Array) -> Any:
    """Return the Frobenius norm of a matrix, or of each matrix of a stack, rounded upwards."""
    # Pairwise sums of squares have an error of less than 40 roundings at any length.
    return np.sqrt(np.square(flat(moves)).sum(axis=-1)) * (1.0 + 32 * _EPS)


@dataclass(frozen=True)
class TransportBall(AmbiguitySet):
    """The second moments within type-2 transport distance ``radius`` of the nominal one."""

    finite_distance: ClassVar[bool] = True

    def scales_of(self, nominal: Nominal) -> Array | None:
        """Return the distance that each vertex moves at unit cost; None if all are one."""
        return None

    def structure(self, nominal: Nominal) -> Transport:
        """Return the transport of every signal."""
        return Transport(nominal.factor, self.radius, self.scales_of(nominal))

    def membership(self, nominal: Nominal) -> TransportMembership:
        """Return the membership by moved rows."""
        return TransportMembership(nominal.factor, self.structure(nominal).frame)

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        """Return the Gelbrich distance ``min_Q ‖Θ^½ - QM^½‖_F`` (Q orthogonal), rounded upwards.

        This form does not cancel; the textbook trace formula loses half the digits. The transport
        reproduces the matrix up to rounding. The remainder is added as if it had to be moved as
        well: the squared distance of two roots is at most the sum of the singular values of the
        difference of the matrices (Powers and Størmer).
        """
        membership = self.membership(nominal)
        moment = membership.explain(second_moment)
        rest = membership.frame.inner_moment(second_moment - moment.second_moment)
        left_out = float(np.sqrt(np.abs(np.linalg.eigvalsh(rest)).sum()))
        return membership.measure(moment) + left_out
