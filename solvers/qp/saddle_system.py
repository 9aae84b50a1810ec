"""The Newton system of the interior point, solved by eliminating the edges or the cases.

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

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from solvers.qp.saddle_model import SaddleModel
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
    slack: float
    softness: float


@dataclass(frozen=True, eq=False)
class SaddleVector:
    """An unknown or a right-hand side: edges, cases, and the multipliers λ, τ, θ."""

    edges: Array
    cases: Array
    budget: float
    total: float
    mass: float


Solve = Callable[[SaddleVector], SaddleVector]


def newton_solver(model: SaddleModel, at: SaddleCurvature) -> Solve:
    """Factorise the system and return a function that solves it for a right-hand side."""
    return _without_cases(model, at) if model.spread.tall else _without_edges(model, at)


def _without_edges(model: SaddleModel, at: SaddleCurvature) -> Solve:
    d, count = at.vertices.size, at.cases.size
    inverse = 1.0 / at.edges
    matrix = _edge_products(model, inverse)
    diagonal = np.concatenate([1.0 / at.vertices, at.cases, [at.softness]])
    matrix[np.diag_indices_from(matrix)] += diagonal
    solve = _positive_solver(matrix)
    border = np.zeros((d + count + 1, 2))
    border[d:-1, 0], border[d:-1, 1] = at.slope, 1.0
    solved_border = solve(border)
    small = border.T @ solved_border
    small[0, 0] += at.slack

    def solution(side: SaddleVector) -> SaddleVector:
        pushed = inverse * side.edges
        right = np.concatenate(
            [
                model.incidence @ pushed,
                model.spread.losses(pushed) + side.cases,
                [-float(pushed.sum()) - side.total],
            ]
        )
        first = solve(right)
        duals = np.linalg.solve(small, border.T @ first - [side.budget, side.mass])
        p = first - solved_border @ duals
        cases, tau = p[d:-1], float(p[-1])
        pull = model.spread.ends(p[:d]) + model.spread.costs(cases) - tau
        return SaddleVector(
            inverse * (side.edges - pull), cases, float(duals[0]), tau, float(duals[1])
        )

    return solution


def _edge_products(model: SaddleModel, inverse: Array) -> Array:
    """Return ``B diag(inverse) Bᵀ``."""
    spread, d, count = model.spread, model.degrees.size, model.spread.count
    matrix = np.zeros((d + count + 1, d + count + 1))
    heads, tails = spread.heads, spread.tails
    matrix[heads, tails] = matrix[tails, heads] = inverse
    degrees = model.incidence @ inverse
    matrix[np.arange(d), np.arange(d)] = degrees
    cross, square = matrix[:d, d:-1], matrix[d:-1, d:-1]
    for _, edges, tile in spread.tiles():
        root = np.sqrt(inverse[edges])
        scaled = tile * root
        square += scaled @ scaled.T
        scaled *= root
        whole = scaled.shape[1] == inverse.size  # slicing a sparse matrix is slow
        cross += (model.incidence if whole else model.incidence[:, edges]) @ scaled.T
    matrix[d:-1, :d] = cross.T
    matrix[-1, :d] = matrix[:d, -1] = -degrees
    matrix[-1, d:-1] = matrix[d:-1, -1] = -spread.losses(inverse)
    matrix[-1, -1] = float(inverse.sum())
    return matrix


def _without_cases(model: SaddleModel, at: SaddleCurvature) -> Solve:
    spread, ends = model.spread, model.incidence
    inverse = 1.0 / at.cases
    root = np.sqrt(inverse)[:, np.newaxis]
    matrix = (ends.T @ (ends * at.vertices[:, np.newaxis])).toarray()
    matrix[np.diag_indices_from(matrix)] += at.edges
    for cases, _, tile in spread.tiles():
        scaled = tile * root[cases]
        matrix += scaled.T @ scaled
    solve = _positive_solver(matrix)
    # The borders for τ, λ and θ; the signs of the last two keep the matrix symmetric.
    sides = np.stack([at.slope, np.ones(inverse.size)])
    border = np.stack([-np.ones(at.edges.size), *(-spread.costs(inverse * side) for side in sides)])
    corner = linalg.block_diag(-at.softness, (sides * inverse) @ sides.T)
    corner[1, 1] += at.slack
    solved_border = solve(border.T)
    small = corner - border @ solved_border

    def solution(side: SaddleVector) -> SaddleVector:
        pushed = inverse * side.cases
        first = solve(side.edges - spread.costs(pushed))
        right = np.concatenate([[side.total], sides @ pushed - [side.budget, side.mass]])
        tau, multiplier, theta = np.linalg.solve(small, right - border @ first)
        edges = first - solved_border @ [tau, multiplier, theta]
        cases = side.cases + spread.losses(edges) - multiplier * at.slope - theta
        return SaddleVector(edges, inverse * cases, float(multiplier), float(tau), float(theta))

    return solution


def _positive_solver(matrix: Array) -> Callable[[Array], Array]:
    """Return a solver for a positive definite matrix, factorised after scaling to unit diagonal."""
    scale = 1.0 / np.sqrt(np.diagonal(matrix))
    scaled = matrix * scale[:, np.newaxis] * scale
    shift = _SHIFT
    for _ in range(_MAX_SHIFTS):
        # LAPACK itself, because SciPy's checks take longer than a small system.
        factor, info = lapack.dpotrf(scaled, lower=1, clean=0)
        if info == 0:
            break
        scaled[np.diag_indices_from(scaled)] += shift
        shift *= 10.0
    else:
        raise linalg.LinAlgError("no shift within reason makes the system positive definite")

    def solve(right: Array) -> Array:
        columns = right.reshape(right.shape[0], -1) * scale[:, np.newaxis]
        solved, _ = lapack.dpotrs(factor, columns, lower=1)
        return np.asarray((solved * scale[:, np.newaxis]).reshape(right.shape))

    return solve
