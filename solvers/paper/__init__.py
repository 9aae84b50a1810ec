"""The paper's Algorithms 1 to 4 as printed, and improved versions of them.

``PrintedGradient`` and ``PrintedDescent`` are the paper's algorithms. ``bisect_multiplier``,
``ProjectedGradient`` and ``BlockDescent`` are the improved versions.
"""

from solvers.paper.bisection import bisect_multiplier
from solvers.paper.block_descent import BlockDescent
from solvers.paper.printed_descent import PrintedDescent
from solvers.paper.printed_gradient import PrintedGradient
from solvers.paper.projected_gradient import ProjectedGradient

__all__ = [
    "BlockDescent",
    "PrintedDescent",
    "PrintedGradient",
    "ProjectedGradient",
    "bisect_multiplier",
]
