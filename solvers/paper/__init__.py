"""The paper's Algorithms 1 to 4: bisection, block coordinate descent, projected gradient."""

from solvers.paper.bisection import bisect_multiplier
from solvers.paper.block_descent import BlockDescent
from solvers.paper.projected_gradient import ProjectedGradient

__all__ = ["BlockDescent", "ProjectedGradient", "bisect_multiplier"]
