"""Graphs of many vertices: edge lists, generators, and a judge that never forms d × d."""
