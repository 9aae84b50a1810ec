"""Transport sets where their risk is not smooth: an interior point, and ADMM for many edges."""

from solvers.incumbent import Incumbent
from solvers.transport.admm import run_admm
from solvers.transport.interior import MAX_EDGES, follow_path

__all__ = ["MAX_EDGES", "solve_transport"]


def solve_transport(incumbent: Incumbent, tol: float, max_iterations: int) -> None:
    """Improve the incumbent until its gap is ``tol`` or the limit is reached.

    Does nothing where the set offers no transport form.
    """
    problem = incumbent.problem
    form = problem.ambiguity.transport_form(problem.nominal)
    if form is None or form.radius == 0.0 or incumbent.gap <= tol:
        return
    before = incumbent.iterations
    follow_path(incumbent, form, tol, max_iterations)
    run_admm(incumbent, form, tol, max_iterations - (incumbent.iterations - before))
