"""The moment ball of Theorem 3: its dual, the proximal step of its norm, and Newton's method."""

from solvers.norm.newton import MomentNewton

__all__ = ["MomentNewton"]
