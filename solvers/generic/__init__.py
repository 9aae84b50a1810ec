"""The certified solver: smooth steps first, then a method for the set's structure, then bundles."""

from solvers.generic.solver import CertifiedSolver

__all__ = ["CertifiedSolver"]
