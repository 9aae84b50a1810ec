"""Graphs as matrices: Laplacians, edge weights and bounds on edges."""
