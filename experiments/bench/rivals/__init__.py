"""Opponents that no package offers, implemented from their papers.

The algorithms for log-degree graphs (fdpg.py, primal_dual.py, neighbours.py) stop at a duality gap
instead of a relative change, unlike the originals. Their step sizes are tuned on the instances of
the bench (docs/log-degree.md). low_rank.py is for transport balls.
"""
