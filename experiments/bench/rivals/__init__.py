"""Opponents: published algorithms for log-degree graphs, implemented from their papers.

Unlike the originals, they stop at a duality gap instead of a relative change. Their step sizes are
tuned on the instances of the bench (docs/log-degree.md).
"""
