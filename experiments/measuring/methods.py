"""Find the methods that can be timed, by name.

A formulation is named with its CVXPY backend, for example ``RobustPremium:SCS``; a solver has its
own name. Methods are compared at equal judged accuracy. Each method has a ladder of tolerances and
runs at the loosest one whose answer the judge accepts. A name with ``@`` has one tolerance instead:
``PrintedGradient@1e-3`` stops by its own rule at 1e-3, and the judge says what that is worth.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

import formulations
import solvers
from formulations.backends import check_backend, installed_backends
from wdro_cvx import (
    Frobenius,
    GraphProblem,
    Singleton,
    Solution,
    SolverError,
    Status,
    WdroError,
)
from wdro_cvx.graphs.laplacian import adjoint, incidence, laplacian_from_weights
from wdro_cvx.validation import real_number

# Extra digits cost interior-point methods little and first-order methods much.
_LADDERS = {
    "CLARABEL": (1e-6, 1e-8, 1e-10),
    "SCS": (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9),
    "PIQP": (1e-6, 1e-8, 1e-10, 1e-12),
}
_DEFAULT_LADDER = (1e-6, 1e-8, 1e-10)
# The paper's rule limits the length of a step, which says little about the gap.
_STEP_LENGTHS = tuple(10.0 ** (-k / 2) for k in range(4, 17))
_PRINTED = ("PrintedGradient", "PrintedDescent")


@dataclass(frozen=True)
class Method:
    """A way to solve a problem."""

    name: str
    run: Callable[[GraphProblem, float], Solution]
    check: Callable[[GraphProblem], None]
    ladder: tuple[float, ...] | None = None

    def tolerances(self, target: float) -> tuple[float, ...]:
        """Return the tolerances to try for a judged gap of ``target``."""
        return self.ladder if self.ladder is not None else (target, target / 10)

    def claims(self, problem: GraphProblem) -> bool:
        """Return whether the method applies to a problem."""
        try:
            self.check(problem)
        except WdroError:
            return False
        except Exception:  # raised by a plug-in; its measurement will report it
            return True
        return True


def find_method(name: str) -> Method:
    """Return a method by its name.

    Raises
    ------
    SolverError
        If there is no such method; the message lists the names.
    """
    plain, at, tolerance = name.partition("@")
    if at:
        tol = real_number(f"the tolerance of method {name!r}", _number(tolerance), 0.0, strict=True)
        return replace(find_method(plain), name=at_tolerance(plain, tol), ladder=(tol,))
    extra = _EXTRA.get(name)
    if extra is not None:
        if name in solvers.registered():
            raise SolverError(f"{name!r} is a built-in method; give the solver another name.")
        return extra
    formulation, _, backend = name.partition(":")
    if backend and formulation in formulations.registered():
        return _conic(formulations.registered()[formulation], check_backend(backend))
    if not backend and name in solvers.registered():
        return _hand_written(name, solvers.registered()[name])
    raise SolverError(
        f"method {name!r} is unknown. Solvers: {', '.join(sorted(solvers.registered()))}. "
        f"Formulations, as NAME:BACKEND: {', '.join(sorted(formulations.registered()))}. "
        f"Others: {', '.join(sorted(_EXTRA))}."
    )


def at_tolerance(name: str, tol: float) -> str:
    """Return the name of a method that stops by its own rule at one tolerance."""
    return f"{name}@{tol:g}"


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def missing_backend(name: str) -> str | None:
    """Return how to install a method's missing backend, or None if it is installed."""
    name = name.partition("@")[0]
    if name == "PIQP":
        there = importlib.util.find_spec("piqp") is not None
        backend, package = name, "wdro-cvx[bench]"
    else:
        backend = name.partition(":")[2].upper()
        there, package = not backend or backend in installed_backends(), backend.lower()
    return None if there else f"{backend} is not installed (pip install '{package}')"


def _conic(formulation: type[formulations.Formulation], backend: str) -> Method:
    def run(problem: GraphProblem, tol: float) -> Solution:
        return formulation(problem).solve(backend, tol=tol)

    ladder = _LADDERS.get(backend, _DEFAULT_LADDER)
    return Method(f"{formulation.__name__}:{backend}", run, formulation.check_claim, ladder)


def _hand_written(name: str, solver: type[solvers.Solver]) -> Method:
    def run(problem: GraphProblem, tol: float) -> Solution:
        settings: dict[str, Any] = {"tol": tol}
        return solver(**settings).solve(problem)

    ladder = _STEP_LENGTHS if name in _PRINTED else None
    return Method(name, run, solver.check_claim, ladder)


def _check_piqp(problem: GraphProblem) -> None:
    """Raise SolverError unless the problem is a sample average over graphs with fixed trace."""
    prior = problem.prior
    plain = isinstance(prior, Frobenius) and prior.trace.fixed and prior.bounds is None
    if not (isinstance(problem.ambiguity, Singleton) and plain):
        raise SolverError("PIQP solves only sample averages with a fixed trace.")


def _solve_with_piqp(problem: GraphProblem, tol: float) -> Solution:
    """Solve a sample average with PIQP in ``w`` and ``u = Aw``; in ``w`` alone the QP is dense."""
    try:
        import piqp
    except ImportError as reason:
        raise SolverError(
            "PIQP is not installed; install it with: pip install 'wdro-cvx[bench]'"
        ) from reason
    _check_piqp(problem)
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


_EXTRA = {
    "PIQP": Method("PIQP", _solve_with_piqp, _check_piqp, _LADDERS["PIQP"]),
    "solve": Method(
        "solve", lambda problem, tol: solvers.solve(problem, tol=tol), lambda problem: None
    ),
}
