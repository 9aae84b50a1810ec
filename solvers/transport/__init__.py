"""Transport sets where their risk is not smooth: an interior point, and ADMM for many edges."""

import numpy as np

from solvers.bracket.incumbent import Incumbent
from solvers.transport.admm import run_admm
from solvers.transport.edges import FreeEdges
from solvers.transport.interior import follow_path
from solvers.transport.working_set import MAX_EDGES
from wdro_cvx.ambiguity import Transport

__all__ = ["solve_transport"]

# From here on ADMM is tried first: at d = 60 it takes a third of the interior point's time where
# the optimal graph is dense, and loses as much where it is not; with 1000 edges there is nothing to
# gain. Metrics that differ more between vertices than this make it crawl.
_MANY_EDGES, _UNEVEN = 1400, 100.0


def solve_transport(incumbent: Incumbent, max_iterations: int) -> None:
    """Improve the incumbent until it is solved or the limit is reached.

    Does nothing where the set is not made by transport.
    """
    problem = incumbent.problem
    form = problem.structure
    if not isinstance(form, Transport) or form.radius == 0.0 or incumbent.solved:
        return
    end = incumbent.iterations + max_iterations
    if _suits_admm(FreeEdges.of(problem), form):
        # On trial only where the interior point can take over.
        run_admm(incumbent, form, max_iterations, on_trial=not _crowded(incumbent))
    follow_path(incumbent, form, end - incumbent.iterations)
    run_admm(incumbent, form, end - incumbent.iterations)


def _crowded(incumbent: Incumbent) -> bool:
    """Return whether the graph has more edges than the interior point takes."""
    laplacian = incumbent.laplacian
    return laplacian is not None and int(np.count_nonzero(laplacian < 0.0)) > 2 * MAX_EDGES


def _suits_admm(edges: FreeEdges, form: Transport) -> bool:
    """Return whether ADMM, should it converge, is faster than an interior point that is there."""
    even = np.max(form.metric) <= _UNEVEN * np.min(form.metric)
    return bool(edges.heads.size >= _MANY_EDGES and even)
