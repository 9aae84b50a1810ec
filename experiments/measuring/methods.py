"""Everything that can be timed, by name.

A formulation runs on a CVXPY backend as ``RobustPremium:SCS``; a solver by its own name. Methods
are compared at equal judged accuracy, so each has a ladder of tolerances: it is run at the loosest
one whose answer the judge accepts.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import formulations
import solvers
from experiments.measuring.piqp_route import check_piqp, solve_with_piqp
from formulations.backends import check_backend, installed_backends
from wdro_cvx import GraphProblem, Solution, SolverError, WdroError

# Interior-point methods gain digits almost for free; first-order ones pay for each.
_LADDERS = {
    "CLARABEL": (1e-6, 1e-8, 1e-10),
    "SCS": (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9),
    "PIQP": (1e-6, 1e-8, 1e-10, 1e-12),
}
_DEFAULT_LADDER = (1e-6, 1e-8, 1e-10)


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
        """Say whether the method applies to a problem."""
        try:
            self.check(problem)
        except WdroError:
            return False
        except Exception:  # of a plug-in: its measurement says what, and the others go on
            return True
        return True


def find_method(name: str) -> Method:
    """Return a method by its name, or say which names there are."""
    extra = _EXTRA.get(name)
    if extra is not None:
        if name in solvers.registered():
            raise SolverError(f"{name!r} is a method of ours; give the solver another name.")
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


def missing_backend(name: str) -> str | None:
    """Return how to install the backend of a method, None if it is there."""
    backend = name.partition(":")[2].upper() or (name if name == "PIQP" else "")
    if not backend:
        return None
    if name == "PIQP":
        there = importlib.util.find_spec("piqp") is not None
    else:
        there = backend in installed_backends()
    extra = "wdro-cvx[bench]" if name == "PIQP" else backend.lower()
    return None if there else f"{backend} is not installed (pip install '{extra}')"


def _conic(formulation: type[formulations.Formulation], backend: str) -> Method:
    def run(problem: GraphProblem, tol: float) -> Solution:
        return formulation(problem).solve(backend, tol=tol)

    ladder = _LADDERS.get(backend, _DEFAULT_LADDER)
    return Method(f"{formulation.__name__}:{backend}", run, formulation.check_claim, ladder)


def _hand_written(name: str, solver: type[solvers.Solver]) -> Method:
    def run(problem: GraphProblem, tol: float) -> Solution:
        settings: dict[str, Any] = {"tol": tol}
        return solver(**settings).solve(problem)

    return Method(name, run, solver.check_claim)


_EXTRA = {
    "PIQP": Method("PIQP", solve_with_piqp, check_piqp, _LADDERS["PIQP"]),
    "solve": Method(
        "solve", lambda problem, tol: solvers.solve(problem, tol=tol), lambda problem: None
    ),
}
