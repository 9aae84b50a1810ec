"""The solver for sets that reweight finitely many signals, such as KL and χ² balls."""

from solvers.atoms.solve import solve_atoms

__all__ = ["solve_atoms"]
