"""Structures of ambiguity sets that fast solvers exploit.

:meth:`AmbiguitySet.structure` returns one of these, or None. Each determines the risk, so
``check_ambiguity`` can compare it with the worst case.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from wdro_cvx.ambiguity.frames import DiagonalFrame, Frame, MatrixFrame
from wdro_cvx.graphs.laplacian import vertex_count
from wdro_cvx.moments.points import ReweighedMoment
from wdro_cvx.validation import Array


@dataclass(frozen=True, eq=False)
class Transport:
    """A set made by moving rows: the signals, or the mean alone.

        R(L) = ⟨rest + FᵀF, L⟩ + reach·‖L‖_F + inf_γ γε² + Tr FL(γP - L)⁻¹LFᵀ

    with the metric ``P = (TTᵀ)⁻¹`` and ``γP ⪰ L``, where T is ``diag(scales)`` or ``coordinates``.
    The rows of ``F`` move, at a cost of at most ε² in that metric. ``rest`` shifts by a Frobenius
    norm of at most ``reach``.

    Attributes
    ----------
    factor : array (r, d)
        ``F``.
    radius : float ≥ 0
        ε, how far the rows move in root mean square; the set's own radius if all of the data moves.
    scales : array (d,), positive, or None
        How far each vertex moves at a cost of one; None where all are one.
    coordinates : array (d, d), invertible, or None
        T, if the metric is not diagonal.
    build_rest : callable, optional
        Returns :attr:`rest`, which has d × d entries and is made when first asked for.
    reach : float ≥ 0

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Nominal, WassersteinBall
    >>> transport = WassersteinBall(0.5).structure(Nominal.from_samples(np.eye(3)))
    >>> transport.radius, transport.moves_all, transport.euclidean
    (0.5, True, True)
    """

    factor: Array
    radius: float
    scales: Array | None = None
    build_rest: Callable[[], Array] | None = field(default=None, repr=False)
    reach: float = 0.0
    coordinates: Array | None = None

    multiplier_degree: ClassVar[float] = 0.0

    @cached_property
    def rest(self) -> Array | None:
        """The part of the second moment (d, d) that does not move; None if all of it moves."""
        return None if self.build_rest is None else self.build_rest()

    @property
    def metric(self) -> Array:
        """``P``, by its diagonal (d,) if it is diagonal."""
        if self.coordinates is not None:
            inverse = scipy.linalg.inv(self.coordinates)
            return np.asarray(inverse.T @ inverse)
        return np.ones(self.factor.shape[1]) if self.scales is None else self.scales**-2.0

    @cached_property
    def frame(self) -> Frame:
        """The coordinates in which the cost is Euclidean."""
        if self.coordinates is not None:
            return MatrixFrame(self.coordinates)
        scales = np.ones(self.factor.shape[1]) if self.scales is None else self.scales
        return DiagonalFrame(scales)

    @property
    def moves_all(self) -> bool:
        """Whether the set is ``{GᵀG : ‖(G - F)T⁻ᵀ‖ ≤ ε}``: all of the data moves."""
        return self.build_rest is None and self.reach == 0.0

    @property
    def diagonal(self) -> bool:
        """Whether the metric is diagonal."""
        return self.coordinates is None

    @property
    def euclidean(self) -> bool:
        """Whether the metric is the identity."""
        return self.diagonal and (self.scales is None or bool((self.scales == 1.0).all()))

    @property
    def isotropic(self) -> bool:
        """Whether the distance is invariant under orthogonal changes of coordinates."""
        return self.moves_all and self.diagonal and self.scales is None

    @property
    def length(self) -> float:
        """How far the set reaches, in the unit of the data."""
        widest = 1.0 if self.scales is None and self.diagonal else self.frame.widest
        return max(self.radius * widest, math.sqrt(self.reach))

    def risk(self, laplacian: Array) -> float:
        """Return ``R(L)`` by a search over γ, independent of the sets' own worst cases."""
        from scipy.optimize import minimize_scalar  # slow to import, and only needed here

        centre = self.reach * float(np.linalg.norm(laplacian))
        if self.rest is not None:
            centre += float(np.vdot(self.rest, laplacian))
        pull = self.factor @ laplacian
        centre += float(np.vdot(self.factor, pull))
        values, vectors = scipy.linalg.eigh(self.frame.form(laplacian), check_finite=False)
        masses = np.sum((self.frame.pulled(pull) @ vectors) ** 2, axis=0)
        top = max(float(values[-1]), 0.0)
        unit = top + float(np.sqrt(masses.sum())) / self.radius if self.radius > 0.0 else 0.0
        if unit == 0.0:
            return centre

        def premium(log_shift: float) -> float:
            shift = unit * np.exp(log_shift)
            return float((top + shift) * self.radius**2 + np.sum(masses / (shift + top - values)))

        ends = np.log(1e-13), np.log(1e13)  # limits of γ - λmax, relative to the terms
        found = minimize_scalar(premium, bounds=ends, method="bounded", options={"xatol": 1e-9})
        return centre + min(float(found.fun), premium(ends[0]))


class Divergence(ABC):
    """A convex function of density ratios that is zero if all ratios are one."""

    @abstractmethod
    def divergence(self, ratios: Array) -> float:
        """Return the divergence, such as ``mean φ(ρ_i)``."""


class SmoothDivergence(Divergence):
    """The mean of a function φ of every ratio, smooth and strictly convex on positive ones."""

    #: Whether φ is the same for all sets of the class, and the functions take stacks (B, N), too.
    stackable: ClassVar[bool] = False

    @abstractmethod
    def slope(self, ratios: Array) -> Array:
        """Return φ′ of every ratio; the ratios are positive."""

    @abstractmethod
    def bend(self, ratios: Array) -> Array:
        """Return φ″ of every ratio; the ratios are positive, and so is φ″."""


class Piece(NamedTuple):
    """A part of every density ratio, between 0 and ``width``, at a cost of ``slope`` per unit.

    Examples
    --------
    >>> from wdro_cvx import TotalVariationBall
    >>> TotalVariationBall(0.1).pieces()  # free up to one, then one per unit
    (Piece(width=1.0, slope=0.0), Piece(width=inf, slope=1.0))
    """

    width: float
    slope: float


@dataclass(frozen=True, eq=False)
class Atoms:
    """A set that reweighs finitely many signals.

    It is ``{Σ q_k x_k x_kᵀ : f(q) ≤ ε}`` over probabilities ``q``, with a separable
    ``f(q) = Σ p_k φ(q_k / p_k)`` around the nominal probabilities ``p``. Equal signals are one
    atom: they share their weight.

    φ is smooth, or it has linear pieces. In the second case every ratio is a sum of pieces, and the
    mean of their costs is at most ε.

    Attributes
    ----------
    samples : array (N, d)
        The signals, each with the same nominal probability.
    radius : float
        ε, the largest divergence in the set.
    measure : Divergence
    pieces : tuple of Piece
        The pieces in the order of their slopes; empty if φ is smooth.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import KLBall, Nominal
    >>> atoms = KLBall(0.5).structure(Nominal.from_samples([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]))
    >>> len(atoms.signals), sorted(atoms.shares.round(2).tolist())
    (2, [0.33, 0.67])
    """

    samples: Array
    radius: float
    measure: Divergence
    pieces: tuple[Piece, ...] = ()

    multiplier_degree: ClassVar[float] = 2.0  # like the risk, because the radius has no unit
    isotropic: ClassVar[bool] = False

    @cached_property
    def _groups(self) -> tuple[Array, NDArray[np.intp], NDArray[np.intp]]:
        # If all first entries are different, so are the signals. This takes much less time than
        # comparing the signals.
        order = np.argsort(self.samples[:, 0])
        signals = self.samples[order]
        if (np.diff(signals[:, 0]) > 0.0).all():
            return signals, np.argsort(order), np.ones(len(order), dtype=np.intp)
        return np.unique(self.samples, axis=0, return_inverse=True, return_counts=True)

    @property
    def signals(self) -> Array:
        """The distinct samples (K, d), which are the atoms."""
        return self._groups[0]

    @property
    def which(self) -> NDArray[np.intp]:
        """The atom of every sample (N,)."""
        return self._groups[1].ravel()

    @cached_property
    def shares(self) -> Array:
        """The nominal probabilities ``p`` of the atoms (K,)."""
        return self._groups[2] / len(self.samples)

    def divergence(self, probabilities: Array) -> float:
        """Return ``f(q)``, summed over the samples like the set's own divergence."""
        return self.measure.divergence((probabilities / self.shares)[self.which])

    def slope(self, probabilities: Array) -> Array:
        """Return the gradient of a smooth ``f``."""
        assert isinstance(self.measure, SmoothDivergence)
        return self.measure.slope(probabilities / self.shares)

    def bend(self, probabilities: Array) -> Array:
        """Return the diagonal of the Hessian of a smooth ``f``; the rest of it is zero."""
        assert isinstance(self.measure, SmoothDivergence)
        return self.measure.bend(probabilities / self.shares) / self.shares

    def moment(self, probabilities: Array) -> ReweighedMoment:
        """Return ``Σ q_k x_k x_kᵀ``, as weights on the samples."""
        return ReweighedMoment(self.samples, (probabilities / self.shares)[self.which])


@dataclass(frozen=True)
class Norm:
    """A ball of an entrywise norm, ``{Θ + Δ : ‖vec Δ‖_p ≤ radius}`` with the set's own radius.

    Attributes
    ----------
    order : float in [1, ∞]
        p.
    alpha : float ≥ 1
        The multiplier belongs to the radius raised to this power.

    Examples
    --------
    >>> from wdro_cvx.ambiguity import Norm
    >>> Norm(order=1.0).dual_order
    inf
    """

    order: float
    alpha: float = 1.0

    @property
    def dual_order(self) -> float:
        """The conjugate exponent q, ``1/p + 1/q = 1``."""
        if self.order == 1.0:
            return float("inf")
        return 1.0 if np.isinf(self.order) else self.order / (self.order - 1.0)

    @property
    def multiplier_degree(self) -> float:
        """The power by which the multiplier grows with the data."""
        return 2.0 - 2.0 * self.alpha

    @property
    def isotropic(self) -> bool:
        """Whether the distance is invariant under orthogonal changes of coordinates."""
        return self.order == 2.0

    def multiplier(self, norm: float, radius: float) -> float:
        """Return ``γ = ‖vec L‖_q / αε^{α-1}`` for a Laplacian of this norm."""
        if self.alpha == 1.0:
            return norm
        return np.inf if radius == 0.0 else norm / (self.alpha * radius ** (self.alpha - 1.0))


@dataclass(frozen=True, eq=False)
class Surcharge:
    """A set whose worst case adds a fixed amount to the cost of each pair, whatever the graph.

        R(L) = ⟨Θ, L⟩ + Σ radius·scale_ij·w_ij

    Attributes
    ----------
    radius : float ≥ 0
        In the unit of the data squared.
    scales : array (d(d-1)/2,), positive, or None
        One per pair, in the order of ``scipy.spatial.distance.squareform``; None where all are one.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Nominal, PairBall
    >>> nominal = Nominal.from_samples(np.eye(3))
    >>> surcharge = PairBall(0.5, scales=(1.0, 2.0, 4.0)).structure(nominal)
    >>> print(surcharge.of(np.array([0, 2]), np.array([2, 1])), surcharge.least)
    [1. 2.] 0.5
    """

    radius: float
    scales: Array | None = None

    multiplier_degree: ClassVar[float] = 0.0
    isotropic: ClassVar[bool] = False

    @property
    def uniform(self) -> bool:
        """Whether all pairs pay the same."""
        return self.scales is None

    @cached_property
    def least(self) -> float:
        """The smallest amount of all pairs."""
        return self.radius if self.scales is None else self.radius * float(self.scales.min())

    @cached_property
    def _d(self) -> int:
        return 0 if self.scales is None else vertex_count(self.scales)

    def of(self, heads: NDArray[np.integer], tails: NDArray[np.integer]) -> Array:
        """Return the amounts of pairs of different vertices; the arrays are broadcast.

        A vertex paired with itself gets a meaningless amount.
        """
        low = np.minimum(heads, tails).astype(np.int64)
        if self.scales is None:
            return np.full(np.broadcast_shapes(low.shape, np.shape(tails)), self.radius)
        # The pairs of vertex i follow those of the i earlier vertices, each with all later ones.
        places = low * (2 * self._d - low - 1)
        places //= 2
        places += np.maximum(heads, tails)
        places -= low + 1
        return np.asarray(self.scales.take(places, mode="clip") * self.radius)

    def risk(self, laplacian: Array) -> float:
        """Return the sum of the amounts over the edges of a Laplacian, beyond ``⟨Θ, L⟩``."""
        heads, tails = np.nonzero(np.triu(laplacian, 1))
        return float(self.of(heads, tails) @ -laplacian[heads, tails])


Structure: TypeAlias = Transport | Atoms | Norm | Surcharge
