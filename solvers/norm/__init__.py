"""The moment ball of Theorem 3: its dual, the split of its prices and Newton's method on it."""

from solvers.norm.newton import MomentNewton

__all__ = ["MomentNewton"]
