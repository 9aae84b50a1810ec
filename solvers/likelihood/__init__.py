"""Problems with a log-determinant: projected Newton steps by conjugate gradients."""

from solvers.likelihood.solver import LikelihoodSolver

__all__ = ["LikelihoodSolver"]
