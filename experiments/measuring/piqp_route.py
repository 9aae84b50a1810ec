"""The sample average by PIQP, a sparse interior-point QP solver: the strongest QP opponent.

Stated over edge weights with the degrees ``u = Aw`` split off, which keeps the matrices sparse; in
``L`` or in ``w`` alone the quadratic form is dense.
"""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from wdro_cvx import Frobenius, GraphProblem, Singleton, Solution, SolverError, Status
from wdro_cvx.graphs.laplacian import adjoint, incidence, laplacian_from_weights


def check_piqp(problem: GraphProblem) -> None:
    """Raise SolverError unless it is a sample average over graphs of a fixed trace."""
    prior = problem.prior
    plain = isinstance(prior, Frobenius) and prior.trace.fixed and prior.bounds is None
    if not (isinstance(problem.ambiguity, Singleton) and plain):
        raise SolverError("PIQP is set up for sample averages with the exact trace only.")


def solve_with_piqp(problem: GraphProblem, tol: float) -> Solution:
    """Solve a sample-average problem with the exact trace."""
    try:
        import piqp
    except ImportError as reason:
        raise SolverError(
            "PIQP is not installed; install it with: pip install 'wdro-cvx[bench]'"
        ) from reason
    check_piqp(problem)
    started = time.perf_counter()
    d = problem.d
    costs = adjoint(problem.nominal.second_moment)
    m = costs.size
    eta = problem.prior.beta
    quadratic = sparse.diags_array(np.r_[np.full(m, 4 * eta), np.full(d, 2 * eta)], format="csc")
    total = sparse.csr_array((np.ones(m), (np.zeros(m, int), np.arange(m))), shape=(1, m + d))
    tie = sparse.hstack([incidence(d), -sparse.eye_array(d)])
    equalities = sparse.vstack([tie, total]).tocsc()
    right = np.r_[np.zeros(d), problem.target_trace / 2]
    lower = np.r_[np.zeros(m), np.full(d, -np.inf)]
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = tol
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = tol
    built = time.perf_counter()
    solver.setup(
        sparse.csc_matrix(quadratic), np.r_[costs, np.zeros(d)],
        sparse.csc_matrix(equalities), right, x_l=lower,
    )  # fmt: skip
    status = solver.solve()
    solved = time.perf_counter()
    weights = np.asarray(solver.result.x)[:m]
    return Solution(
        laplacian=laplacian_from_weights(weights),
        value=float(solver.result.info.primal_obj),
        status=Status.SOLVED if status == piqp.PIQP_SOLVED else Status.INACCURATE,
        iterations=int(solver.result.info.iter),
        build_s=built - started,
        solve_s=solved - built,
    )
