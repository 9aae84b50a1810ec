"""The solver for sets that reweigh finitely many signals (KL, χ²): weights and probabilities."""

from solvers.atoms.solve import solve_atoms

__all__ = ["solve_atoms"]
