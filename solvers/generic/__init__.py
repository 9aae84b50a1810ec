"""The certified solver: smooth steps first, then what the set offers, then bundles."""

from solvers.generic.solver import CertifiedSolver

__all__ = ["CertifiedSolver"]
