"""Find the methods that can be timed, by name.

- ``NAME:BACKEND``, for example ``RobustPremium:SCS``: a formulation over edge weights, through
  CVXPY; ``NAME/matrix:BACKEND`` states it over matrices.
- ``BACKEND``, for example ``PIQP`` or ``OSQP``: a QP solver that is called directly on the sample
  average in edge weights (quadratic.py).
- Any other name: one of our solvers, or ``solve``.

Each method has a ladder of tolerances and runs at the loosest one whose answer reaches the judged
gap. A name with ``@`` has one tolerance instead: ``PrintedGradient@1e-3`` stops by its own rule at
1e-3, and the judge reports its gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import cvxpy as cp

import formulations
import solvers
from experiments.measuring.methods.quadratic import (
    DIRECT,
    check_quadratic,
    missing_module,
    solve_quadratic,
)
from formulations.backends import LICENSED, check_backend, how_to_install, installed_backends
from wdro_cvx import GraphProblem, Solution, SolverError, WdroError
from wdro_cvx.validation import real_number

# Extra digits cost interior-point methods little and first-order methods much. CVXOPT and SDPA fail
# at tolerances below their last ones.
_LADDERS = {
    "CVXOPT": (1e-6, 1e-7, 1e-8),
    "OSQP": (1e-4, 1e-6, 1e-8, 1e-10),
    "PIQP": (1e-6, 1e-8, 1e-10, 1e-12),
    "PROXQP": (1e-6, 1e-8, 1e-10, 1e-12),
    "SCS": (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10),
    "SDPA": (1e-5, 1e-6, 1e-7),
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
    formulation, _, over = formulation.partition("/")
    if backend and formulation in formulations.registered() and over in ("", "matrix"):
        return _conic(formulations.registered()[formulation], check_backend(backend), over)
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
    if name in DIRECT:
        missing = missing_module(name)
        return missing and f"{missing} is not installed (pip install 'wdro-cvx[bench]')"
    backend = name.partition(":")[2].upper()
    if not backend:
        return None
    if backend not in installed_backends():
        return f"{backend} is not installed ({how_to_install(backend)})"
    if backend in LICENSED and not _has_licence(backend):
        return f"{backend} finds no licence (get one from its maker)"
    return None


@lru_cache
def _has_licence(backend: str) -> bool:
    """Return whether a commercial backend solves the smallest problem."""
    variable = cp.Variable()
    try:
        cp.Problem(cp.Minimize(variable), [variable >= 1]).solve(backend)
    except Exception:  # each maker has its own exceptions
        return False
    return True


def _conic(formulation: type[formulations.Formulation], backend: str, over: str) -> Method:
    def run(problem: GraphProblem, tol: float) -> Solution:
        program = formulation(problem, over="matrix") if over else formulation(problem)
        return program.solve(backend, tol=tol)

    ladder = _LADDERS.get(backend, _DEFAULT_LADDER)
    name = f"{formulation.__name__}{over and '/' + over}:{backend}"
    return Method(name, run, formulation.check_claim, ladder)


def _hand_written(name: str, solver: type[solvers.Solver]) -> Method:
    def run(problem: GraphProblem, tol: float) -> Solution:
        settings: dict[str, Any] = {"tol": tol}
        return solver(**settings).solve(problem)

    ladder = _STEP_LENGTHS if name in _PRINTED else None
    return Method(name, run, solver.check_claim, ladder)


def _direct(name: str) -> Method:
    ladder = _LADDERS.get(name, _DEFAULT_LADDER)
    return Method(name, partial(solve_quadratic, name), partial(check_quadratic, name), ladder)


_EXTRA = {
    **{name: _direct(name) for name in DIRECT},
    "solve": Method(
        "solve", lambda problem, tol: solvers.solve(problem, tol=tol), lambda problem: None
    ),
}
