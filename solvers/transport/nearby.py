"""Worst cases of a Euclidean transport ball from Cholesky factors, for graphs of many vertices.

The multiplier γ hardly changes from step to step. With ``A = γI - L`` at a nearby γ, the moves are
``Y = γA⁻¹Fᵀ - Fᵀ``, one factorisation and one solve. With ``E = A⁻¹Y`` the moves at γ + h are
``Y - hE`` up to ``(h/(γ - λ))²``, and errors of the moves enter the risk squared. This takes about
half of the time of an eigendecomposition, which remains for γ close to λmax.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy

from wdro_cvx import GraphProblem, WorstCase
from wdro_cvx.ambiguity import Transport
from wdro_cvx.graphs.laplacian import inner
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.validation import Array

#: The number of vertices from which factorisations are faster than an eigendecomposition.
FROM = 300
_PROBES, _SEED = 64, 0  # random mixtures of rows, for the first γ
_SEARCH, _PASSES = 8, 3
_NEAR = 0.02  # relative change of γ at which the search among the probes ends
_SHARE = 0.01  # error of the risk, relative to the tolerance
_CANCELLED = 1e-10  # relative rounding error of the risk above which to use the set's own formula
_INSIDE = 1.0 - 1e-14


@dataclass
class NearbyWorst:
    """The worst cases of one problem, each from the multiplier of the one before."""

    problem: GraphProblem
    tol: float
    multiplier: float = field(default=np.nan, init=False)

    @classmethod
    def applies(cls, problem: GraphProblem) -> bool:
        """Return whether all rows move, in the Euclidean metric, and there are many vertices."""
        form = problem.structure
        known = isinstance(form, Transport) and form.moves_all and form.euclidean
        return known and problem.d >= FROM and problem.ambiguity.radius > 0.0

    def __call__(self, laplacian: Array) -> WorstCase:
        """Return the worst case; its risk is too small by at most a share of the tolerance."""
        rows, radius = self.problem.nominal.factor, self.problem.ambiguity.radius
        gamma = self.multiplier
        if not np.isfinite(gamma):
            gamma = _first_multiplier(laplacian, rows, radius)
        limit = (_SHARE * self.tol) ** 0.25
        for _ in range(_PASSES):
            root = _root(gamma, laplacian)
            if root is None:
                break
            moves = _solved(root, gamma * rows)
            moves -= rows
            # Single precision is enough for a correction.
            turn = _solved(root.astype(np.float32), moves.astype(np.float32))
            step = _step(moves, turn, radius)
            gamma += step
            if abs(step) * _norm(turn) <= limit * _norm(moves):
                turn *= np.float32(step)
                moves -= turn
                found = self._worst(laplacian, moves, gamma)
                if found is not None:
                    self.multiplier = gamma
                    return found
                break
        exact = self.problem.ambiguity.worst_case(self.problem.nominal, laplacian)
        self.multiplier = exact.multiplier
        return exact

    def _worst(self, laplacian: Array, moves: Array, gamma: float) -> WorstCase | None:
        """Return the worst case for known moves; None if rounding would spoil its risk."""
        nominal, radius = self.problem.nominal, self.problem.ambiguity.radius
        moved = moves * (radius * _INSIDE / _norm(moves))
        moved += nominal.factor
        moment = moved.T @ moved
        risk = inner(moment, laplacian)
        top = 2 * float(np.diagonal(laplacian).max())
        if nominal.accumulation * top * float(np.trace(moment)) > _CANCELLED * risk:
            return None
        return WorstCase(risk, moment, gamma, build_moment=lambda: TransportedMoment(moved))


def _root(gamma: float, laplacian: Array) -> Array | None:
    """Return the Cholesky factor of ``γI - L``; None if it is not positive definite."""
    matrix = -laplacian
    np.fill_diagonal(matrix, gamma - np.diagonal(laplacian))
    found, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1)
    return None if failed else np.asarray(found)


def _solved(root: Array, rows: Array) -> Array:
    """Return rows times the inverse of the factored matrix; both arrays are in C order."""
    found, _ = scipy.linalg.lapack.get_lapack_funcs(("potrs",), (root,))[0](root, rows.T, lower=1)
    return np.asarray(found).T


def _step(moves: Array, turn: Array, radius: float) -> float:
    """Return the Newton step of ``1/‖Y‖ = 1/ε`` in γ, where ``dY/dγ = -turn``."""
    square, slope = _norm(moves) ** 2, float(np.einsum("ij,ij->", moves, turn))
    return (np.sqrt(square) / radius - 1.0) * square / slope


def _first_multiplier(laplacian: Array, rows: Array, radius: float) -> float:
    """Return γ for random mixtures of the rows, which have nearly the same second moment."""
    signs = np.random.default_rng(_SEED).choice([-1.0, 1.0], (_PROBES, len(rows)))
    side = signs @ rows @ laplacian / np.sqrt(_PROBES)
    size = _norm(side)
    if size == 0.0:
        return np.nan
    # For large γ, ‖Y‖ is nearly size/(γ - centre).
    gamma = size / radius + float(np.vdot(side, side @ laplacian)) / size**2
    for _ in range(_SEARCH):
        root = _root(gamma, laplacian)
        if root is None:
            return np.nan
        moves = _solved(root, side)
        turn = _solved(root, moves)
        step = _step(moves, turn, radius)
        gamma += step
        if abs(step) <= _NEAR * gamma:
            break
    return gamma


def _norm(array: Array) -> float:
    return float(np.linalg.norm(array))
