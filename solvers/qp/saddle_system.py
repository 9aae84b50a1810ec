"""The Newton system of the interior-point method, solved by eliminating the edges or the cases.

    (W + AᵀΦA) dw + Zᵀ dq - dτ          = edges       W = 4β + z/x + v/y, Φ = φ″
    Z dw - Q dq - f′ dλ - dθ            = -cases      Q = λf″ + r/q
    f′ᵀ dq - slack dλ                   = budget      slack = s/λ
    -1ᵀ dw - softness dτ                = total
    1ᵀ dq                               = mass

Eliminating the edges leaves ``BW⁻¹Bᵀ + diag(Φ⁻¹, Q, softness)`` with B = [A; Z; -1ᵀ]. It has size
d + K + 1 and is bordered by f′ and 1. Eliminating the cases leaves a matrix over the edges, which
is used if there are fewer edges than cases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from solvers.qp.saddle_model import SaddleModel, at_vertices
from wdro_cvx.stacks import column, diagonals, number, set_diagonals
from wdro_cvx.validation import Array

_SHIFT = 1e-15  # added to the unit diagonal if rounding makes the matrix indefinite
_MAX_SHIFTS = 6


@dataclass(frozen=True, eq=False)
class SaddleCurvature:
    """The coefficients of the system at a point."""

    edges: Array
    vertices: Array
    cases: Array
    slope: Array
    slack: Any
    softness: float


@dataclass(frozen=True, eq=False)
class SaddleVector:
    """An unknown or a right-hand side: edges, cases, and the multipliers λ, τ, θ."""

    edges: Array
    cases: Array
    budget: Any
    total: Any
    mass: Any


Solve = Callable[[SaddleVector], SaddleVector]


def newton_solver(model: SaddleModel, at: SaddleCurvature) -> Solve:
    """Factorise the system and return a function that solves it for a right-hand side."""
    return _without_cases(model, at) if model.spread.tall else _without_edges(model, at)


def _without_edges(model: SaddleModel, at: SaddleCurvature) -> Solve:
    d, count = at.vertices.shape[-1], at.cases.shape[-1]
    inverse = 1.0 / at.edges
    matrix = _edge_products(model, inverse)
    diagonal = diagonals(matrix).copy()
    diagonal[..., :d] += 1.0 / at.vertices
    diagonal[..., d:-1] += at.cases
    diagonal[..., -1] += at.softness
    set_diagonals(matrix, diagonal)
    solve = _positive_solver(matrix)
    border = np.zeros((*inverse.shape[:-1], 2, d + count + 1))
    border[..., 0, d:-1], border[..., 1, d:-1] = at.slope, 1.0
    solved_border = solve(border)
    # The system of λ and θ is symmetric and positive definite, so elimination needs no pivots.
    upper, lower = border[..., 0, :], border[..., 1, :]
    first_row = np.vecdot(upper, solved_border[..., 0, :]) + at.slack
    cross = np.vecdot(lower, solved_border[..., 0, :])
    pivot = np.vecdot(lower, solved_border[..., 1, :]) - cross * cross / first_row

    def solution(side: SaddleVector) -> SaddleVector:
        pushed = inverse * side.edges
        right = np.empty((*inverse.shape[:-1], 1, d + count + 1))
        right[..., 0, :d] = at_vertices(model.incidence, pushed)
        right[..., 0, d:-1] = model.spread.losses(pushed) + side.cases
        right[..., 0, -1] = -pushed.sum(axis=-1) - side.total
        first = solve(right)[..., 0, :]
        budget, mass = np.vecdot(upper, first) - side.budget, np.vecdot(lower, first) - side.mass
        theta = (mass - cross / first_row * budget) / pivot
        multiplier = (budget - cross * theta) / first_row
        p = first - column(multiplier) * solved_border[..., 0, :]
        p -= column(theta) * solved_border[..., 1, :]
        cases, tau = p[..., d:-1], p[..., -1]
        pull = model.spread.ends(p[..., :d]) + model.spread.costs(cases) - tau[..., np.newaxis]
        numbers = number(multiplier), number(tau), number(theta)
        return SaddleVector(inverse * (side.edges - pull), cases, *numbers)

    return solution


def _edge_products(model: SaddleModel, inverse: Array) -> Array:
    """Return ``B diag(inverse) Bᵀ``."""
    spread, d, count = model.spread, model.degrees.shape[-1], model.spread.count
    matrix = np.zeros((*inverse.shape[:-1], d + count + 1, d + count + 1))
    heads, tails = spread.heads, spread.tails
    matrix[..., heads, tails] = matrix[..., tails, heads] = inverse
    degrees = at_vertices(model.incidence, inverse)
    vertices = np.arange(d)
    matrix[..., vertices, vertices] = degrees
    cross, square = matrix[..., d:-1, :d], matrix[..., d:-1, d:-1]
    for _, edges, tile in spread.tiles():
        root = np.sqrt(inverse[..., edges])[..., np.newaxis, :]
        scaled = tile * root
        square += scaled @ scaled.mT
        scaled *= root
        whole = scaled.shape[-1] == inverse.shape[-1]  # slicing a sparse matrix is slow
        cross += at_vertices(model.incidence if whole else model.incidence[:, edges], scaled)
    matrix[..., :d, d:-1] = cross.mT
    matrix[..., -1, :d] = matrix[..., :d, -1] = -degrees
    losses = spread.losses(inverse)
    matrix[..., -1, d:-1] = matrix[..., d:-1, -1] = -losses
    matrix[..., -1, -1] = inverse.sum(axis=-1)
    return matrix


def _without_cases(model: SaddleModel, at: SaddleCurvature) -> Solve:
    spread, ends = model.spread, model.incidence
    inverse = 1.0 / at.cases
    root = np.sqrt(inverse)[:, np.newaxis]
    product: Any = ends.T @ (ends * at.vertices[:, np.newaxis])
    matrix = product.toarray() if scipy.sparse.issparse(product) else product
    matrix[np.diag_indices_from(matrix)] += at.edges
    for cases, _, tile in spread.tiles():
        scaled = tile * root[cases]
        matrix += scaled.T @ scaled
    solve = _positive_solver(matrix)
    # The borders for τ, λ and θ; the signs of the last two keep the matrix symmetric.
    sides = np.stack([at.slope, np.ones(inverse.size)])
    border = np.stack([-np.ones(at.edges.size), *(-spread.costs(inverse * side) for side in sides)])
    corner = scipy.linalg.block_diag(-at.softness, (sides * inverse) @ sides.T)
    corner[1, 1] += at.slack
    solved_border = solve(border)
    small = corner - border @ solved_border.T

    def solution(side: SaddleVector) -> SaddleVector:
        pushed = inverse * side.cases
        first = solve((side.edges - spread.costs(pushed))[np.newaxis])[0]
        right = np.concatenate([[side.total], sides @ pushed - [side.budget, side.mass]])
        tau, multiplier, theta = np.linalg.solve(small, right - border @ first)
        edges = first - np.array([tau, multiplier, theta]) @ solved_border
        cases = side.cases + spread.losses(edges) - multiplier * at.slope - theta
        return SaddleVector(edges, inverse * cases, float(multiplier), float(tau), float(theta))

    return solution


def _positive_solver(matrix: Array) -> Callable[[Array], Array]:
    """Return a solver for rows of right-hand sides with a positive definite matrix, or a stack.

    The matrix is factorised after scaling to unit diagonal. If that fails, solutions are NaN.
    """
    scale = 1.0 / np.sqrt(diagonals(matrix))[..., np.newaxis, :]
    matrix *= scale
    matrix *= scale.mT
    factors = [_factor(one) for one in matrix.reshape(-1, *matrix.shape[-2:])]

    def solve(right: Array) -> Array:
        sides = right * scale
        # The transposes are in LAPACK's column-major order, so nothing is copied.
        for factor, side in zip(factors, sides.reshape(-1, *sides.shape[-2:]), strict=True):
            if factor is None:
                side[:] = np.nan
            else:
                scipy.linalg.lapack.dpotrs(factor, side.T, lower=1, overwrite_b=1)
        sides *= scale
        return np.asarray(sides)

    return solve


def _factor(matrix: Array) -> Array | None:
    """Return the Cholesky factor, after a small shift if necessary; None if that does not help."""
    shift = _SHIFT
    for _ in range(_MAX_SHIFTS):
        # LAPACK itself, because SciPy's checks take longer than a small system.
        factor, info = scipy.linalg.lapack.dpotrf(matrix.T, lower=1, clean=0)
        if info == 0:
            return np.asarray(factor)
        matrix[np.diag_indices_from(matrix)] += shift
        shift *= 10.0
    return None
