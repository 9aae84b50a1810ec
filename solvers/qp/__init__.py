"""The Laplacian QP: the sample average of any moment under any prior, exactly and fast."""

from solvers.qp.ascent import Ascent, Curvature, maximise
from solvers.qp.qp import LaplacianQP, QPSolution, edge_gains
from solvers.qp.solve import climb, solve_laplacian_qp

__all__ = [
    "Ascent",
    "Curvature",
    "LaplacianQP",
    "QPSolution",
    "climb",
    "edge_gains",
    "maximise",
    "solve_laplacian_qp",
]
