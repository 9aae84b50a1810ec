"""The algorithms: the paper's, by hand, and ours. One file or one room each."""

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from solvers.base import Solver, register, registered
from solvers.bracket.run import Request
from solvers.generic import CertifiedSolver
from solvers.large import SparseSolver, price_on
from solvers.norm import MomentNewton
from solvers.paper import (
    BlockDescent,
    PrintedDescent,
    PrintedGradient,
    ProjectedGradient,
    bisect_multiplier,
)
from solvers.path import solve_path
from solvers.qp import LaplacianQP, solve_laplacian_qp
from solvers.selection.target_degree import NeighbourFit, solve_for_neighbours
from solvers.solve import solve

if TYPE_CHECKING:
    from solvers.estimator import RobustGraph

# The estimator alone needs scikit-learn, which takes longer to import than all of the rest.
_LAZY = {"RobustGraph": "estimator"}

# A file added to this package, or to a room of it, registers itself without a change here.
for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    if _module.name.rpartition(".")[2] not in _LAZY.values():
        importlib.import_module(_module.name)

__all__ = [
    "BlockDescent",
    "CertifiedSolver",
    "LaplacianQP",
    "MomentNewton",
    "NeighbourFit",
    "PrintedDescent",
    "PrintedGradient",
    "ProjectedGradient",
    "Request",
    "RobustGraph",
    "Solver",
    "SparseSolver",
    "bisect_multiplier",
    "price_on",
    "register",
    "registered",
    "solve",
    "solve_for_neighbours",
    "solve_laplacian_qp",
    "solve_path",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
