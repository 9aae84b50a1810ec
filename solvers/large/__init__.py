"""The solver for large sparse graphs, certified over all pairs of vertices."""

from solvers.large.blocks import price_on
from solvers.large.solve import SparseSolver

__all__ = ["SparseSolver", "price_on"]
