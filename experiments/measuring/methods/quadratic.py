"""QP solvers called directly, without a modelling language, on the sample average.

The program is ``min cᵀw + η(2‖w‖² + ‖u‖²)`` with ``u = Aw`` and ``w ≥ 0``; in ``w`` alone the QP is
dense. The package qpsolvers passes it on; that costs less than the noise of a measurement.
"""

from __future__ import annotations

import importlib.util
import time
from typing import Any

import numpy as np
from scipy import sparse

from formulations.backends import backend_options
from wdro_cvx import Frobenius, GraphProblem, Singleton, Solution, SolverError, Status
from wdro_cvx.graphs.laplacian import adjoint, incidence, laplacian_from_weights
from wdro_cvx.validation import Array

#: Solver → the module that it needs besides qpsolvers. All are in the extra ``bench``.
DIRECT = {
    "CLARABEL": "clarabel",
    "CVXOPT": "cvxopt",
    "HIGHS": "highspy",
    "OSQP": "osqp",
    "PIQP": "piqp",
    "PROXQP": "proxsuite",
    "SCS": "scs",
}

# OSQP's polishing finds the exact solution once the active edges are known; CVXPY polishes too.
_OPTIONS: dict[str, dict[str, Any]] = {"OSQP": {"polishing": True}}


def missing_module(name: str) -> str | None:
    """Return the module that a direct solver lacks, or None."""
    for module in ("qpsolvers", DIRECT[name]):
        if importlib.util.find_spec(module) is None:
            return module
    return None


def check_quadratic(name: str, problem: GraphProblem) -> None:
    """Raise SolverError unless the problem is a sample average with a fixed or penalised trace."""
    plain = isinstance(problem.prior, Frobenius) and problem.prior.bounds is None
    if not (isinstance(problem.ambiguity, Singleton) and plain):
        raise SolverError(
            f"{name}, called directly, solves sample averages under the Frobenius prior without "
            f"bounds; the problem is {problem!r}. Use a formulation with a backend."
        )


def solve_quadratic(name: str, problem: GraphProblem, tol: float) -> Solution:
    """Solve a sample average with a QP solver.

    Raises
    ------
    SolverError
        If the problem is of another kind, or the solver is missing, fails or returns no graph.
    """
    check_quadratic(name, problem)
    if missing := missing_module(name):
        raise SolverError(
            f"{name} needs {missing}; install it with: pip install 'wdro-cvx[bench]'."
        )
    import qpsolvers

    started = time.process_time()
    program = qpsolvers.Problem(**_matrices(problem))
    options = backend_options(name, tol) | _OPTIONS.get(name, {})
    built = time.process_time()
    try:
        found = qpsolvers.solve_problem(program, name.lower(), **options)
    except MemoryError:
        raise
    except Exception as reason:  # each solver has its own exceptions
        raise SolverError(
            f"{name} failed on {problem!r}: {type(reason).__name__}: {reason}. Try a larger tol."
        ) from reason
    solved = time.process_time()
    if found.x is None or not np.all(np.isfinite(found.x)):
        raise SolverError(f"{name} returned no graph for {problem!r}. Try a larger tol.")
    point = np.asarray(found.x, dtype=float)
    # Under a penalty, the QP is in terms of the deviation of the trace: no constant is missing.
    return Solution(
        laplacian=laplacian_from_weights(point[: problem.d * (problem.d - 1) // 2]),
        value=float(program.q @ point + point @ (program.P @ point) / 2),
        status=Status.SOLVED if found.found else Status.INACCURATE,
        iterations=_iterations(found.extras),
        build_s=built - started,
        solve_s=solved - built,
    )


def _matrices(problem: GraphProblem) -> dict[str, Any]:
    """Return the QP in ``(w, u)``, and in the deviation of the trace if it is penalised."""
    d, eta, rule = problem.d, problem.prior.beta, problem.prior.trace
    costs = adjoint(problem.nominal.second_moment)
    m, extra = costs.size, 0 if rule.fixed else 1
    curvature = [np.full(m, 4 * eta), np.full(d, 2 * eta), np.full(extra, 2 * rule.stiffness)]
    total = sparse.coo_array((np.full(m, 2.0), (np.zeros(m, int), np.arange(m))), shape=(1, m))
    blocks = [[incidence(d), -sparse.eye_array(d)], [total, None]]
    if extra:
        blocks = [[*blocks[0], None], [*blocks[1], -sparse.eye_array(1)]]
    free: Array = np.full(d + extra, -np.inf)
    return {
        "P": sparse.csc_matrix(sparse.diags_array(np.concatenate(curvature))),
        "q": np.r_[costs, np.zeros(d + extra)],
        "A": sparse.csc_matrix(sparse.block_array(blocks)),
        "b": np.r_[np.zeros(d), rule.target],
        "lb": np.r_[np.zeros(m), free],
    }


def _iterations(extras: dict[str, Any]) -> int:
    """Return the number of iterations where the solver reports it, otherwise 0."""
    info = extras.get("info")
    return int(getattr(info, "iter", extras.get("iter", extras.get("iterations", 0))))
