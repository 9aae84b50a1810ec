"""The judge for graphs of many vertices: lists of edges, and nothing is d × d."""
