"""The algorithms: the paper's, and ours. Each has a file or a folder of its own."""

import importlib
import pkgutil
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from solvers.base import Solver, register, registered
from solvers.bracket.run import Request
from solvers.generic import CertifiedSolver
from solvers.large import SparseSolver, price_on
from solvers.likelihood import LikelihoodSolver
from solvers.many import solve_many
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
from solvers.solve import solve

if TYPE_CHECKING:
    from solvers.estimator import RobustGraph
    from solvers.selection.target_degree import NeighbourFit, solve_for_neighbours

# These modules hold no registered solver, and small problems need none of them, so they are loaded
# when first needed. The digest of a result reads both _ON_DEMAND and _LAZY
# (experiments/measuring/digest.py).
_ON_DEMAND = (
    "atoms",
    "estimator",
    "generic.bundle",
    "generic.handover",
    "large.coupled",
    "large.moment",
    "large.neighbours",
    "large.pricing",
    "large.reweighed",
    "large.rounds",
    "large.search",
    "large.sparse_qp",
    "large.start",
    "large.structure",
    "large.worst_case",
    "large.worth",
    "learned",
    "likelihood.central",
    "likelihood.hessian",
    "likelihood.model",
    "likelihood.newton",
    "likelihood.risks",
    "likelihood.search",
    "likelihood.start",
    "norm.ascent",
    "norm.dual",
    "norm.interior",
    "norm.split",
    "qp.minimax",
    "qp.saddle",
    "qp.saddle_model",
    "qp.saddle_stack",
    "qp.saddle_system",
    "qp.share_model",
    "qp.stack",
    "selection",
    "transport.admm",
    "transport.coupling",
    "transport.edges",
    "transport.interior",
    "transport.lmi",
    "transport.quadratic",
    "transport.solve",
    "transport.step",
    "transport.system",
    "transport.working_set",
)
_LAZY = {
    "NeighbourFit": "selection.target_degree",
    "RobustGraph": "estimator",
    "solve_for_neighbours": "selection.target_degree",
}


def _import_all(path: Iterable[str], prefix: str) -> None:
    """Import all other modules, so that a new file registers its solver without a change here."""
    for module in pkgutil.iter_modules(path, prefix):
        if module.name.removeprefix(f"{__name__}.") not in _ON_DEMAND:
            found = importlib.import_module(module.name)
            if module.ispkg:
                _import_all(found.__path__, f"{module.name}.")


_import_all(__path__, f"{__name__}.")

__all__ = [
    "BlockDescent",
    "CertifiedSolver",
    "LaplacianQP",
    "LikelihoodSolver",
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
    "solve_many",
    "solve_path",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
