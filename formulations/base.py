"""What all formulations share: a new model writes its risk, and everything else is here.

Models are stated for the data in a normalised unit, in which the objective is of order d, because
conic backends work with absolute tolerances; values are scaled back. Radius and eta are CVXPY
parameters under the DPP rules, so that a sweep over them compiles once.
"""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar

import cvxpy as cp
import numpy as np
from cvxpy.error import SolverError as BackendError

from formulations.backends import backend_options, check_backend
from formulations.priors import PriorParameters, prior_constraints
from formulations.variables import LaplacianVariable, laplacian_variable, smoothness
from wdro_cvx import AmbiguitySet, Certificate, GraphProblem, ProblemError, Solution, SolverError
from wdro_cvx.claims import check_claims, check_stated
from wdro_cvx.graphs.laplacian import complete_graph
from wdro_cvx.moments.moment import Moment, as_moment
from wdro_cvx.priors import frobenius_of
from wdro_cvx.registry import Registry
from wdro_cvx.solution import Status
from wdro_cvx.validation import Array, real_number

_STATUS = {
    cp.OPTIMAL: Status.SOLVED,
    cp.OPTIMAL_INACCURATE: Status.INACCURATE,
    cp.USER_LIMIT: Status.ITERATION_LIMIT,
}


@dataclass(frozen=True)
class Risk:
    """The worst-case risk of a model as a convex expression.

    Attributes
    ----------
    expression : cvxpy.Expression
    constraints : list of cvxpy.Constraint
    multiplier : cvxpy.Expression or None
        γ, for the solution to report.
    worst_moment : callable, optional
        Returns the worst-case second moment of the solved program, in normalised units: the
        derivative of the risk in L, which the dual variables tell. It certifies the answer where
        the Laplacian does not determine the worst case (hard case, p = 1, a multiple eigenvalue).
    """

    expression: cp.Expression
    constraints: list[cp.Constraint] = field(default_factory=list)
    multiplier: cp.Expression | None = None
    worst_moment: Callable[[], Array | Moment] | None = None


class Formulation(ABC):
    """One convex program for the problem, declared in CVXPY.

    A subclass names the ambiguity sets that it ``claims`` and writes :meth:`risk`.

    Parameters
    ----------
    problem : GraphProblem
    over : {"weights", "matrix"}, optional
        What the model's variable is: the edge weights, or the symmetric matrix with Laplacian
        constraints. Each formulation defaults to what was measured to be faster.
    """

    #: The ambiguity sets whose problem this program solves.
    claims: ClassVar[tuple[type[AmbiguitySet], ...]]
    #: Whether the program is stated over ``"weights"`` or ``"matrix"`` by default.
    default_over: ClassVar[str] = "weights"
    #: Whether the program needs the samples themselves.
    needs_samples: ClassVar[bool] = False

    def __init__(self, problem: GraphProblem, over: str | None = None) -> None:
        started = time.perf_counter()
        self.over = self.default_over if over is None else over
        if self.over not in ("weights", "matrix"):
            raise ProblemError(f"over must be 'weights' or 'matrix'; it is {over!r}.")
        self.check_claim(problem)
        self.problem = problem
        # A power of four, so that data and certificates are scaled without rounding.
        self._unit = 4.0 ** round(float(np.log2(self._size(problem))) / 2)
        self.normalised = problem.scaled(self._unit**-0.5)
        self.radius = cp.Parameter(nonneg=True, name="radius")
        self.radius_squared = cp.Parameter(nonneg=True, name="radius_squared")
        self.prior = PriorParameters()
        self._set_parameters()
        self.laplacian = laplacian_variable(problem.d, self.over)
        self.cvxpy = self._build()
        self._build_s = time.perf_counter() - started

    @abstractmethod
    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """State the worst-case risk, without ``η‖L‖²``.

        Data come from ``self.normalised`` and the radius from ``self.radius`` or
        ``self.radius_squared``.
        """

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Raise ProblemError unless this formulation solves this problem."""
        remedy = "Choose another formulation or set."
        check_claims(cls.__name__, cls.claims, problem, remedy)
        if cls.needs_samples and problem.nominal.samples is None:
            raise ProblemError(
                f"{cls.__name__} needs samples; this nominal has moments only. "
                "Build it with Nominal.from_samples(X)."
            )

    def at(self, *, radius: float | None = None, eta: float | None = None) -> Self:
        """Move to another radius or eta; the compiled program is kept."""
        problem = self.problem
        if radius is not None:
            problem = problem.replace(radius=radius)
        if eta is not None:
            frobenius_of(problem.prior, f"at(eta={eta!r})")
            problem = problem.replace(eta=eta)
        rebuild = (problem.ambiguity.radius == 0.0) != (self.problem.ambiguity.radius == 0.0)
        self.problem = problem
        self.normalised = problem.scaled(self._unit**-0.5)
        self._set_parameters()
        if rebuild:
            self.cvxpy = self._build()
        return self

    def solve(
        self, solver: str = "CLARABEL", tol: float = 1e-9, verbose: bool = False, **options: Any
    ) -> Solution:
        """Solve with an installed CVXPY backend.

        Parameters
        ----------
        solver : str
            The backend's name, for example ``"CLARABEL"`` or ``"SCS"``.
        tol : float
            The backend's own tolerances, absolute and relative, for an objective of order d.
        verbose : bool
            Let the backend print its log.
        **options
            Further options of the backend, as CVXPY takes them; they win over ``tol``.
        """
        backend = check_backend(solver)
        tol = real_number("tol", tol, 0.0, strict=True)
        settings = backend_options(backend, tol) | options
        started = time.perf_counter()
        try:
            data, chain, inverse = self.cvxpy.get_problem_data(
                backend, enforce_dpp=True, solver_opts=settings
            )
            compiled = time.perf_counter()
            raw = chain.solve_via_data(self.cvxpy, data, verbose=verbose, solver_opts=settings)
            solved = time.perf_counter()
            with warnings.catch_warnings():  # our status says the same
                warnings.filterwarnings("ignore", "Solution may be inaccurate")
                self.cvxpy.unpack_results(raw, chain, inverse)
        except BackendError as reason:
            raise SolverError(
                f"{backend} cannot solve {type(self).__name__}: {reason} "
                "Try another solver, such as CLARABEL, or a larger tol."
            ) from reason
        status = _STATUS.get(self.cvxpy.status, Status.FAILED)
        if status is Status.FAILED or self.laplacian.weights.value is None:
            raise SolverError(
                f"{backend} ended {type(self).__name__} with status {self.cvxpy.status!r}. "
                "The problem is always feasible and bounded: try another solver or a larger tol."
            )
        return self._solution(status, compiled - started, solved - compiled)

    def _set_parameters(self) -> None:
        self.radius.value = self.normalised.ambiguity.radius
        self.radius_squared.value = self.normalised.ambiguity.radius**2
        self.prior.set(self.normalised.prior)

    def _build(self) -> cp.Problem:
        variable, problem = self.laplacian, self.normalised
        if problem.ambiguity.radius == 0.0:
            # Every ball of radius 0 is the nominal moment; the infimum over γ is then attained
            # only at γ = ∞, which no backend can return.
            self._risk = Risk(smoothness(problem.nominal.second_moment, variable))
        else:
            self._risk = self.risk(variable)
        objective = self._risk.expression + self.prior.cost(variable, problem.prior)
        constraints = [*variable.constraints, *self._risk.constraints]
        constraints += prior_constraints(variable, problem.prior)
        return cp.Problem(cp.Minimize(objective), constraints)

    @staticmethod
    def _size(problem: GraphProblem) -> float:
        """Return about how large the objective per vertex is at the optimum.

        The complete graph tells it well enough; under logarithms the optimum balances them with
        the rest, ``R + 4β‖w‖² = αd``.
        """
        if problem.prior.alpha > 0.0:
            return problem.prior.alpha
        return problem.value(complete_graph(problem.d, problem.target_trace)) / problem.d

    def _solution(self, status: Status, compile_s: float, solve_s: float) -> Solution:
        multiplier = np.nan
        moment = None
        if self.problem.ambiguity.radius > 0.0:
            read = self._risk.worst_moment
            moment = None if read is None else read()
            if self._risk.multiplier is not None:
                multiplier = float(np.asarray(self._risk.multiplier.value).item())
        stats = self.cvxpy.solver_stats
        matrix = np.asarray(self.laplacian.matrix.value)
        return Solution(
            laplacian=(matrix + matrix.T) / 2,
            # The backend's own optimal value: CVXPY's is recomputed from the variables, which
            # inverts a singular matrix where γ meets λmax.
            value=float(self.cvxpy.solution.opt_val) * self._unit,
            status=status,
            iterations=int(stats.num_iters or 0) if stats is not None else 0,
            multiplier=multiplier,
            certificate=None if moment is None else self._certificate(moment),
            build_s=self._build_s,
            compile_s=compile_s,
            solve_s=solve_s,
        )

    def _certificate(self, moment: Array | Moment) -> Certificate:
        return Certificate(as_moment(moment).scaled(self._unit**0.5))


F = TypeVar("F", bound=type[Formulation])
_REGISTRY: Registry[Formulation] = Registry(Formulation)


def register(cls: F) -> F:
    """Class decorator: make a formulation known by its name to the runner."""
    check_stated(cls)
    _REGISTRY.add(cls)
    return cls


def registered() -> dict[str, type[Formulation]]:
    """Return all registered formulations by name."""
    return _REGISTRY.all()
