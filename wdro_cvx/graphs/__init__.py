"""Graphs as matrices: Laplacians and edge weights, bounds on edges, brackets of them."""
