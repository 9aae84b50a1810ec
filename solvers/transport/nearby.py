"""Worst cases of a Euclidean transport ball without eigenvalues, for many vertices or problems.

The multiplier γ hardly changes from step to step. With ``A = γI - L`` at a nearby γ, the moves are
``Y = γA⁻¹Fᵀ - Fᵀ``, one factorisation and one solve. With ``E = A⁻¹Y`` the moves at γ + h are
``Y - hE`` up to ``(h/(γ - λ))²``, and errors of the moves enter the risk squared. This takes less
time than an eigendecomposition, which is still used for γ close to λmax. For a stack of small
matrices NumPy has no solves with Cholesky factors, so A is inverted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy

from wdro_cvx import GraphProblem, WorstCase
from wdro_cvx.ambiguity import Transport
from wdro_cvx.ambiguity.base import stacked_worst_cases
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.stacks import diagonals, flat, number, plane
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
        """Return whether this class takes the problem, and is faster even without a stack."""
        return problem.d >= FROM and cls.takes(problem)

    @classmethod
    def takes(cls, problem: GraphProblem) -> bool:
        """Return whether this class takes the problem: all rows move, in the Euclidean metric."""
        form = problem.structure
        known = isinstance(form, Transport) and form.moves_all and form.euclidean
        return known and problem.ambiguity.radius > 0.0

    def __call__(self, laplacian: Array) -> WorstCase:
        """Return the worst case; its risk is too small by at most a share of the tolerance."""
        nominal, radius = self.problem.nominal, self.problem.ambiguity.radius
        gamma = self.multiplier
        if not np.isfinite(gamma):
            gamma = _first_multiplier(laplacian, nominal.factor, radius)
        moves, gamma, near = _moves(nominal.factor, laplacian, radius, gamma, self.tol)
        if near:
            moment, moved, risk, error = _worst(nominal.factor, laplacian, radius, moves)
            if nominal.accumulation * error <= _CANCELLED * risk:
                self.multiplier = float(gamma)
                return WorstCase(
                    risk, moment, self.multiplier, build_moment=lambda: TransportedMoment(moved)
                )
        exact = self.problem.ambiguity.worst_case(nominal, laplacian)
        self.multiplier = exact.multiplier
        return exact

    @staticmethod
    def together(cases: Sequence[NearbyWorst], laplacians: Array) -> list[WorstCase]:
        """Return the worst cases of problems of one set's class, with factors of one shape."""
        sets = [one.problem.ambiguity for one in cases]
        nominals = [one.problem.nominal for one in cases]
        gamma = np.array([one.multiplier for one in cases])
        known = np.isfinite(gamma)
        found: dict[int, WorstCase] = {}
        if known.any():
            places = np.flatnonzero(known)
            rows = np.stack([nominals[place].factor for place in places])
            radii = np.array([sets[place].radius for place in places])
            errors = np.array([nominals[place].accumulation for place in places])
            graphs = laplacians[places]
            moves, gamma, near = _moves(rows, graphs, radii, gamma[places], cases[0].tol)
            moments, moved, risk, error = _worst(rows, graphs, radii, moves)
            near &= errors * error <= _CANCELLED * risk
            numbers = zip(
                near.tolist(), places.tolist(), risk.tolist(), gamma.tolist(), strict=True
            )
            for at, (good, place, value, multiplier) in enumerate(numbers):
                if good:
                    moment = partial(TransportedMoment, moved[at])
                    found[place] = WorstCase(value, moments[at], multiplier, build_moment=moment)
        rest = [place for place in range(len(cases)) if place not in found]
        if rest:
            some = [sets[place] for place in rest], [nominals[place] for place in rest]
            found.update(zip(rest, stacked_worst_cases(*some, laplacians[rest]), strict=True))
        for place, one in enumerate(cases):
            one.multiplier = found[place].multiplier
        return [found[place] for place in range(len(cases))]


@np.errstate(all="ignore")  # if nothing moves, the set's own formula is used
def _moves(
    rows: Array, laplacian: Array, radius: Any, gamma: Any, tol: float
) -> tuple[Array, Any, Any]:
    """Return the moves and γ, from a nearby γ, and whether they are accurate; also of a stack."""
    limit, moves, near = (_SHARE * tol) ** 0.25, rows, gamma != gamma
    for _ in range(_PASSES):
        solve = _solver(gamma, laplacian)
        if solve is None:
            break
        moves = solve(plane(gamma) * rows)
        moves -= rows
        turn = solve(moves, rough=True)
        step = _step(moves, turn, radius)
        gamma = gamma + step
        near = np.abs(step) * _norm(turn) <= limit * _norm(moves)
        if np.all(near | ~np.isfinite(step)):
            break
    if np.any(near):
        turn *= plane(step)
        moves -= turn
    return moves, gamma, near


@np.errstate(all="ignore")
def _worst(
    rows: Array, laplacian: Array, radius: Any, moves: Array
) -> tuple[Array, Array, Any, Any]:
    """Return the moment, the moved rows, their risk and the scale of its rounding error."""
    moved = moves * plane(radius * _INSIDE / _norm(moves))
    moved += rows
    moment = moved.mT @ moved
    risk = number(flat(moment * laplacian).sum(axis=-1))
    top = 2 * diagonals(laplacian).max(axis=-1)
    return moment, moved, risk, number(top * diagonals(moment).sum(axis=-1))


def _solver(gamma: Any, laplacian: Array) -> Callable[..., Array] | None:
    """Return a function that multiplies rows by ``(γI - L)⁻¹``; None if that is not positive.

    In a stack the products are NaN where it is not positive.
    """
    if laplacian.ndim > 2:
        inverse = _inverse(plane(gamma) * np.eye(laplacian.shape[-1]) - laplacian)
        return lambda rows, rough=False: rows @ inverse
    root = _root(gamma, laplacian)
    if root is None:
        return None

    def solve(rows: Array, rough: bool = False) -> Array:
        if not rough:
            return _solved(root, rows)
        # Single precision is enough for a correction.
        return _solved(root.astype(np.float32), rows.astype(np.float32))

    return solve


def _inverse(matrix: Array) -> Array:
    """Return the inverses of a stack, NaN for matrices that are not positive definite."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        positive = [scipy.linalg.lapack.dpotrf(one, lower=1)[1] == 0 for one in matrix]
        matrix = np.where(plane(np.array(positive)), matrix, np.nan)
    try:
        return np.asarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:  # one of them is singular to rounding
        return np.full_like(matrix, np.nan)


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


def _step(moves: Array, turn: Array, radius: Any) -> Any:
    """Return the Newton step of ``1/‖Y‖ = 1/ε`` in γ, where ``dY/dγ = -turn``."""
    square, slope = _norm(moves) ** 2, number(np.vecdot(flat(moves), flat(turn)))
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


def _norm(array: Array) -> Any:
    entries = flat(array)
    return np.sqrt(number(np.vecdot(entries, entries)))
