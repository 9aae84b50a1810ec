"""The Newton system of the interior point, by elimination of the edges or of the atoms.

    (W + AᵀΦA) dw + Zᵀ dq - dτ          = edges       W = 4β + z/x + v/y, Φ = φ″
    Z dw - Q dq - f′ dλ - dθ            = -atoms      Q = λf″ + r/q
    f′ᵀ dq - slack dλ                   = budget      slack = s/λ
    -1ᵀ dw - softness dτ                = total
    1ᵀ dq                               = mass

Eliminating the edges leaves the system of solvers/qp/bordered.py with the borders f′ and 1.
Eliminating the atoms leaves a matrix of the size of the edges, for when these are fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from solvers.atoms.model import SaddleModel
from solvers.qp.bordered import BorderedSystem, unit_solver
from wdro_cvx.validation import Array

# Of a unit diagonal, when rounding has left no positive definite matrix.
_SHIFTS = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11)


@dataclass(frozen=True, eq=False)
class SaddleCurvature:
    """The coefficients of the system at a point."""

    edges: Array
    vertices: Array
    atoms: Array
    slope: Array
    slack: float
    softness: float


@dataclass(frozen=True, eq=False)
class SaddleVector:
    """An unknown or a right-hand side: edges, atoms, and the multipliers λ, τ, θ."""

    edges: Array
    atoms: Array
    budget: float
    total: float
    mass: float


Solve = Callable[[SaddleVector], SaddleVector]


def newton_solver(model: SaddleModel, at: SaddleCurvature) -> Solve:
    """Factorise the system; return what solves it for a right-hand side."""
    return _without_atoms(model, at) if model.spread.tall else _without_edges(model, at)


def _without_edges(model: SaddleModel, at: SaddleCurvature) -> Solve:
    system = BorderedSystem(
        model.incidence,
        model.spread,
        omega=1.0 / at.edges,
        diagonal=np.concatenate([1.0 / at.vertices, at.atoms, [at.softness]]),
        border=np.stack([at.slope, np.ones(at.slope.size)]),
        slack=np.array([at.slack, 0.0]),
        shifts=_SHIFTS,
    )

    def solution(side: SaddleVector) -> SaddleVector:
        border = np.array([side.budget, side.mass])
        found = system.solve(side.edges, 0.0, side.atoms, side.total, border)
        edges, _, atoms, tau, (multiplier, theta) = found
        return SaddleVector(edges, atoms, float(multiplier), tau, float(theta))

    return solution


def _without_atoms(model: SaddleModel, at: SaddleCurvature) -> Solve:
    spread, ends = model.spread, model.incidence
    inverse = 1.0 / at.atoms
    root = np.sqrt(inverse)[:, np.newaxis]
    matrix = (ends.T @ (ends * at.vertices[:, np.newaxis])).toarray()
    matrix[np.diag_indices_from(matrix)] += at.edges
    for atoms, _, tile in spread.tiles():
        scaled = tile * root[atoms]
        matrix += scaled.T @ scaled
    solve = unit_solver(matrix, _SHIFTS)
    # The borders τ, λ and θ; the last two with the sign that leaves the matrix symmetric.
    sides = np.stack([at.slope, np.ones(inverse.size)])
    border = np.stack([-np.ones(at.edges.size), *(-spread.costs(inverse * side) for side in sides)])
    corner = linalg.block_diag(-at.softness, (sides * inverse) @ sides.T)
    corner[1, 1] += at.slack
    solved_border = solve(border.T)
    small = corner - border @ solved_border

    def solution(side: SaddleVector) -> SaddleVector:
        pushed = inverse * side.atoms
        first = solve(side.edges - spread.costs(pushed))
        right = np.concatenate([[side.total], sides @ pushed - [side.budget, side.mass]])
        tau, multiplier, theta = np.linalg.solve(small, right - border @ first)
        edges = first - solved_border @ [tau, multiplier, theta]
        atoms = side.atoms + spread.losses(edges) - multiplier * at.slope - theta
        return SaddleVector(edges, inverse * atoms, float(multiplier), float(tau), float(theta))

    return solution
