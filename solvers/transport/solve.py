"""The main loop for transport sets with a nonsmooth risk: interior point or ADMM."""

from __future__ import annotations

import numpy as np

from solvers.bracket.incumbent import Incumbent
from solvers.transport.admm import run_admm
from solvers.transport.edges import FreeEdges
from solvers.transport.interior import follow_path
from solvers.transport.working_set import MAX_EDGES
from wdro_cvx.ambiguity import Transport

# From this many edges on, ADMM is tried first. It is faster than the interior-point method if the
# optimal graph is dense, and slower if it is not. With fewer edges it gains nothing. ADMM is slow
# if the metric differs between vertices by more than the factor _UNEVEN.
_MANY_EDGES, _UNEVEN = 1400, 100.0


def solve_transport(incumbent: Incumbent, max_iterations: int) -> None:
    """Improve the incumbent until it is solved or the limit is reached.

    Do nothing if the set is not a transport set.
    """
    problem = incumbent.problem
    form = problem.structure
    if not isinstance(form, Transport) or form.radius == 0.0 or incumbent.solved:
        return
    end = incumbent.iterations + max_iterations
    if _suits_admm(FreeEdges.of(problem), form):
        # On trial only if the interior-point method can take over.
        run_admm(incumbent, form, max_iterations, on_trial=not _crowded(incumbent))
    follow_path(incumbent, form, end - incumbent.iterations)
    run_admm(incumbent, form, end - incumbent.iterations)


def _crowded(incumbent: Incumbent) -> bool:
    """Return whether the graph has more edges than the interior-point method can handle."""
    laplacian = incumbent.laplacian
    return laplacian is not None and int(np.count_nonzero(laplacian < 0.0)) > 2 * MAX_EDGES


def _suits_admm(edges: FreeEdges, form: Transport) -> bool:
    """Return whether ADMM, if it converges, is faster than the interior-point method."""
    even = form.diagonal and np.max(form.metric) <= _UNEVEN * np.min(form.metric)
    return bool(edges.heads.size >= _MANY_EDGES and even)
