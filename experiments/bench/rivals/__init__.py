"""Published algorithms for log-degree graphs, written from their papers, as opponents.

Unlike the originals they stop at a duality gap instead of a relative change, and their step sizes
are tuned on the bench's own instances (docs/log-degree.md).
"""
