"""The solver for sets that reweight finitely many signals (KL, χ²)."""

from solvers.atoms.solve import solve_atoms

__all__ = ["solve_atoms"]
