"""Iteration control shared by the dense and the large solvers."""
