"""The Laplacian QP: an exact and fast solver of the sample-average problem, for any prior."""

from solvers.qp.ascent import Ascent, Curvature, maximise
from solvers.qp.qp import LaplacianQP, QPSolution, edge_gains
from solvers.qp.solve import climb, dual_point, solve_laplacian_qp

__all__ = [
    "Ascent",
    "Curvature",
    "LaplacianQP",
    "QPSolution",
    "climb",
    "dual_point",
    "edge_gains",
    "maximise",
    "solve_laplacian_qp",
]
