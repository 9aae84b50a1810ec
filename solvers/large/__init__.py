"""Sparse graphs of many vertices, certified over all pairs: what the large solver is made of."""

from solvers.large.blocks import price_on
from solvers.large.solve import SparseSolver

__all__ = ["SparseSolver", "price_on"]
