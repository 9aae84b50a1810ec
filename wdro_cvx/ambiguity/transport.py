"""The worst transport of given rows against a Laplacian, and couplings that prove distances.

    max { ‖(F + Δ)L^½‖² + ‖SL^½‖² : ‖Δ‖² + ‖S‖² ≤ ε² }
        = ⟨FᵀF, L⟩ + inf_{γ > λmax} γε² + Tr(FL(γI - L)⁻¹LFᵀ)

is what the Gelbrich, the Mahalanobis and the mean's part of the moment-uncertainty ball have in
common. The worst ``F + Δ`` is ``γF(γI - L)⁻¹``, and in the hard case what is left of the budget is
spread along a top eigenvector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from scipy import linalg

from wdro_cvx.ambiguity.secular import solve_secular
from wdro_cvx.moments.moment import Moment, TransportedMoment
from wdro_cvx.moments.nominal import root_rows
from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Transport:
    """The worst transport.

    Attributes
    ----------
    premium : float
        What it adds to ``⟨FᵀF, L⟩``.
    multiplier : float
        γ; infinite where nothing moves.
    moved : array (r, d)
        Where the rows go.
    spread : array (d,) or None
        What the hard case leaves over, along a top eigenvector.
    vectors, stretch : arrays (d, d) and (d,)
        ``moved = F·V diag(stretch) Vᵀ``.
    length : float
        ε, that of the moves and of the spread together.
    pull : array (d,) or None
        ``stretch - 1`` without its cancellation; None where nothing moves.
    """

    premium: float
    multiplier: float
    moved: Array
    spread: Array | None
    vectors: Array
    stretch: Array
    length: float = 0.0
    pull: Array | None = None

    def moves(self, rows: Array) -> Array:
        """Return ``moved - F``, with digits of its own however large the rows are."""
        if self.pull is None:
            return np.zeros_like(rows)
        return np.asarray(((rows @ self.vectors) * self.pull) @ self.vectors.T)

    def matrix(self) -> Array:
        """Return the map that moves the rows."""
        return np.asarray((self.vectors * self.stretch) @ self.vectors.T)

    def rounding(self, rows: Array, laplacian: Array, unsure: float = 0.0) -> float:
        """Return by how much rounding may have lowered the premium.

        ``unsure`` is how far the rows may be from those that are meant, in the Frobenius norm,
        which counts in ``2⟨ΔL, F⟩``. A Laplacian that is off by E, which is what rounding in its
        decomposition amounts to, changes the premium by at most ``‖E‖₂`` times the sum of the
        singular values of the moment's change.
        """
        size = 2 * self.length * float(np.linalg.norm(rows)) + self.length**2
        top = 2 * float(np.diagonal(laplacian).max())
        meant = 2 * top * self.length * unsure * (1.0 + 64 * _EPS)
        return (laplacian.shape[0] + 16) * _EPS * top * size + 64 * _EPS * self.premium + meant

    def second_moment(self) -> Array:
        """Return that of the moved rows and the spread."""
        moment = self.moved.T @ self.moved
        return moment if self.spread is None else moment + np.outer(self.spread, self.spread)

    def moment(self) -> TransportedMoment:
        """Return the same with the rows themselves."""
        return TransportedMoment(self.moved, None if self.spread is None else self.spread[None])


def worst_transport(rows: Array, laplacian: Array, radius: float) -> Transport:
    """Find it by one eigendecomposition and the secular equation."""
    d = laplacian.shape[0]
    if radius == 0.0:
        return Transport(0.0, np.inf, rows, None, np.eye(d), np.ones(d))
    values, vectors = linalg.eigh(laplacian, driver="evd", check_finite=False)
    if values[-1] <= 0.0:
        return Transport(0.0, np.inf, rows, None, vectors, np.ones(d))
    spectral = rows @ vectors
    masses = np.einsum("ij,ij->j", spectral, spectral)
    root = solve_secular(values, masses, radius)
    # A direction without mass stays where it is, whatever the stretch; 1 avoids 0/0 there.
    distances = root.shift + (values[-1] - values)
    live = masses * values**2 > 0.0
    stretch = np.where(live, root.multiplier / np.where(live, distances, 1.0), 1.0)
    premium = root.multiplier * radius**2 + float(
        np.sum(masses[live] * values[live] ** 2 / distances[live])
    )
    moved = (spectral * stretch) @ vectors.T
    spread = np.sqrt(root.leftover) * vectors[:, -1] if root.leftover > 0.0 else None
    pull = np.where(live, values / np.where(live, distances, 1.0), 0.0)
    return Transport(premium, root.multiplier, moved, spread, vectors, stretch, radius, pull)


def coupled(rows: Array, second_moment: Array) -> TransportedMoment:
    """Return the cheapest way to move rows so that they have a second moment, up to rounding.

    With ``RᵀR`` the moment, that is ``QR`` for the orthogonal ``Q`` closest to aligning it with the
    rows (Procrustes). The result is a coupling in its own right, however inexact the roots are.
    """
    target = root_rows(second_moment)
    left, _, right = linalg.svd(rows @ target.T, check_finite=False)
    k = min(rows.shape[0], target.shape[0])
    moved = left[:, :k] @ (right[:k] @ target)
    spread = right[k:] @ target if target.shape[0] > k else None
    return TransportedMoment(moved, spread)


def is_transport(moment: Moment, rows: Array) -> TypeGuard[TransportedMoment]:
    """Say whether a moment is made of these rows moved, and of spread, and of nothing else."""
    if type(moment) is not TransportedMoment:
        return False
    return moment.moved.shape == rows.shape and moment.shift is None


def transport_cost(rows: Array, moment: Moment, scales: Array | float = 1.0) -> float:
    """Return ``√(‖(G - F)/s‖² + ‖S/s‖²)``, never less; infinity for what is no such transport."""
    if not is_transport(moment, rows):
        return np.inf
    square = float(np.sum(((moment.moved - rows) / scales) ** 2))
    if moment.spread is not None:
        square += float(np.sum((moment.spread / scales) ** 2))
    # Squares are summed pairwise, with an error of less than 40 roundings at any length.
    return float(np.sqrt(square)) * (1.0 + 32 * _EPS)


def left_out(second_moment: Array, moment: TransportedMoment, scales: Array | float = 1.0) -> float:
    """Return a bound of the distance between a matrix and the moment that explains it.

    Powers and Størmer: the squared distance of two roots is at most the sum of the singular values
    of the difference of the matrices.
    """
    rest = (second_moment - moment.second_moment) / np.multiply.outer(scales, scales)
    return float(np.sqrt(np.abs(np.linalg.eigvalsh(rest)).sum()))
