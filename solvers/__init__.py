"""The algorithms: the paper's, by hand, and ours. One file each."""

import importlib
import pkgutil

from solvers.base import Solver, register, registered
from solvers.bisection import bisect_multiplier
from solvers.block_descent import BlockDescent
from solvers.certified import CertifiedSolver
from solvers.estimator import RobustGraph
from solvers.laplacian_qp import LaplacianQP, solve_laplacian_qp
from solvers.moment import MomentNewton
from solvers.path import solve, solve_path
from solvers.projected_gradient import ProjectedGradient

# A file added to this package registers itself without a change here.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "BlockDescent",
    "CertifiedSolver",
    "LaplacianQP",
    "MomentNewton",
    "ProjectedGradient",
    "RobustGraph",
    "Solver",
    "bisect_multiplier",
    "register",
    "registered",
    "solve",
    "solve_laplacian_qp",
    "solve_path",
]
