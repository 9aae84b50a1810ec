"""The judge for graphs with many vertices: edge lists instead of d × d arrays."""
