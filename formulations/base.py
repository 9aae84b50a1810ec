"""The base of all formulations: a subclass states its risk, and the rest is here.

Conic backends work with absolute tolerances. Programs are therefore stated in a unit of the data
that makes the objective of order d, and values are scaled back. Radius and eta are CVXPY parameters
under the rules of disciplined parametrised programming (DPP): a sweep over them compiles once.
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
from cvxpy.error import DCPError, DPPError
from cvxpy.error import SolverError as BackendError

from formulations.backends import backend_options, check_backend
from formulations.dual import DualProgram, MomentSet, dual_program, with_slopes
from formulations.priors import PriorParameters, prior_constraints
from formulations.variables import LaplacianVariable, laplacian_variable, smoothness
from wdro_cvx import AmbiguitySet, Certificate, GraphProblem, ProblemError, Solution, SolverError
from wdro_cvx.claims import check_claims, check_stated
from wdro_cvx.graphs.laplacian import complete_graph
from wdro_cvx.moments.points import Moment, as_moment
from wdro_cvx.priors import frobenius_of
from wdro_cvx.programs import SOURCES
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
    """The worst-case risk of a program as a convex expression.

    Attributes
    ----------
    expression : cvxpy.Expression
        The risk, without the prior's cost.
    constraints : list of cvxpy.Constraint
        The constraints of the variables that the risk adds.
    multiplier : cvxpy.Expression, optional
        The multiplier γ of the radius, which the solution reports.
    worst_moment : callable, optional
        Returns the worst-case second moment of the solved program, in normalised units. It is the
        derivative of the risk in L, read from the dual variables. It certifies the answer where
        the Laplacian does not determine the worst case (hard case, p = 1, a multiple eigenvalue).

    Examples
    --------
    >>> import numpy as np
    >>> from formulations import Risk, laplacian_variable, smoothness
    >>> risk = Risk(smoothness(np.eye(3), laplacian_variable(3)))
    >>> risk.expression.is_convex(), risk.constraints
    (True, [])
    """

    expression: cp.Expression
    constraints: list[cp.Constraint] = field(default_factory=list)
    multiplier: cp.Expression | None = None
    worst_moment: Callable[[], Array | Moment] | None = None


class Formulation(ABC):
    """A convex program for a graph problem, stated in CVXPY.

    A subclass names the ambiguity sets that it ``claims`` and states its :meth:`risk`.

    Parameters
    ----------
    problem : GraphProblem
    over : {"weights", "matrix"}, optional
        The variable of the program: the edge weights (the default), or the symmetric matrix with
        Laplacian constraints.

    Attributes
    ----------
    cvxpy : cvxpy.Problem
        The program, in normalised units.
    laplacian : LaplacianVariable
        Its variable.
    normalised : GraphProblem
        The problem in normalised units, for :meth:`risk`.

    Raises
    ------
    ProblemError
        If the formulation does not claim the problem, or ``over`` is neither of the two.

    Examples
    --------
    A formulation of a moment ball with p = ∞, where the norm of the Laplacian is twice its trace:

    >>> import numpy as np
    >>> from formulations import Formulation, Risk, smoothness
    >>> from wdro_cvx import GraphProblem, MomentBall, Nominal, judge
    >>> class Flat(Formulation):
    ...     claims = (MomentBall,)
    ...
    ...     def risk(self, laplacian):
    ...         average = smoothness(self.normalised.nominal.second_moment, laplacian)
    ...         return Risk(average + self.radius * 2 * laplacian.trace)
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, MomentBall(0.5, p=np.inf), eta=0.1)
    >>> solution = Flat(problem).solve()
    >>> judge(problem, solution).solved(1e-7)
    True
    """

    #: The ambiguity sets whose problems the program solves.
    claims: ClassVar[tuple[type[AmbiguitySet], ...]]
    #: The default of ``over``.
    default_over: ClassVar[str] = "weights"
    #: Whether the program needs samples; otherwise mean and covariance suffice.
    needs_samples: ClassVar[bool] = False

    def __init__(self, problem: GraphProblem, over: str | None = None) -> None:
        started = time.process_time()
        self.over = self.default_over if over is None else over
        if self.over not in ("weights", "matrix"):
            raise ProblemError(f"over must be 'weights' or 'matrix'; it is {over!r}.")
        self.check_claim(problem)
        self.problem = problem
        # A power of four scales data and certificates without rounding.
        self._unit = 4.0 ** round(float(np.log2(self._size(problem))) / 2)
        self.normalised = problem.scaled(self._unit**-0.5)
        self.radius = cp.Parameter(nonneg=True, name="radius")
        self.radius_squared = cp.Parameter(nonneg=True, name="radius_squared")
        self.prior = PriorParameters()
        self._set_parameters()
        self.laplacian = laplacian_variable(problem.d, self.over)
        self.cvxpy = self._build()
        self._build_s = time.process_time() - started

    @classmethod
    def part_of(cls, whole: Formulation, ambiguity: AmbiguitySet) -> Self:
        """Return a formulation of a part of a combined set, in the units of the whole program.

        It has no program of its own: only :meth:`risk` is used, with the whole program's variable.
        """
        part = cls.__new__(cls)
        part.over, part._unit = whole.over, whole._unit
        part.laplacian, part.prior = whole.laplacian, whole.prior
        part.radius = cp.Parameter(nonneg=True, name="radius")
        part.radius_squared = cp.Parameter(nonneg=True, name="radius_squared")
        part.resize(whole.problem.replace(ambiguity=ambiguity))
        return part

    def resize(self, problem: GraphProblem) -> None:
        """Set the parameters of a part to those of a problem that differs in the radius."""
        self.problem, self.normalised = problem, problem.scaled(self._unit**-0.5)
        self.radius.value = self.normalised.ambiguity.radius
        self.radius_squared.value = self.normalised.ambiguity.radius**2

    @abstractmethod
    def risk(self, laplacian: LaplacianVariable) -> Risk | MomentSet:
        """Return the worst-case risk, without the prior's cost.

        The data come from ``self.normalised``, and the radius from ``self.radius`` or
        ``self.radius_squared``. A dual program returns the set of second moments instead, whose
        support function is the risk.

        Parameters
        ----------
        laplacian : LaplacianVariable

        Returns
        -------
        Risk or MomentSet
        """

    def multiplier_unit(self) -> float:
        """Return the multiplier γ at the complete graph, as the unit of γ in the program."""
        problem = self.normalised
        start = complete_graph(problem.d, problem.target_trace)
        unit = problem.ambiguity.worst_case(problem.nominal, start).multiplier
        return unit if unit > 0.0 else 1.0

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Raise ProblemError unless the formulation claims the problem.

        Parameters
        ----------
        problem : GraphProblem

        Raises
        ------
        ProblemError
            If the ambiguity set is not one that it claims, or samples are needed and missing.
        """
        remedy = "Choose another formulation or set."
        check_claims(cls.__name__, cls.claims, problem, remedy)
        if cls.needs_samples and problem.nominal.samples is None:
            raise ProblemError(
                f"{cls.__name__} needs samples; this nominal has only moments. "
                "Build the nominal with Nominal.from_samples(X)."
            )

    def at(self, *, radius: float | None = None, eta: float | None = None) -> Self:
        """Change the radius or eta, keep the compiled program, and return the formulation.

        A change of the radius from or to 0 states the program anew.

        Parameters
        ----------
        radius : float, optional
        eta : float, optional
            Each stays as it is by default.

        Returns
        -------
        Formulation
            The same object.

        Raises
        ------
        ProblemError
            If a value is not allowed, or the prior has no eta.

        Examples
        --------
        >>> from formulations import RobustPremium
        >>> from wdro_cvx import GaussianBall, GraphProblem, Nominal
        >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
        >>> program = RobustPremium(GraphProblem(nominal, GaussianBall(0.1), eta=0.1))
        >>> [round(program.at(radius=radius).solve().value, 4) for radius in (0.1, 0.5)]
        [1.8123, 3.0168]
        """
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
        """Solve the program with an installed CVXPY backend.

        Parameters
        ----------
        solver : str
            The backend's name, for example ``"CLARABEL"`` or ``"SCS"``; case does not matter.
        tol : float > 0
            The backend's tolerances, absolute and relative, for an objective of order d.
        verbose : bool
            Whether the backend prints its log.
        **options
            Further options of the backend, as CVXPY takes them. They override ``tol``.

        Returns
        -------
        Solution
            With the backend's status; ask :func:`~wdro_cvx.judge` whether it is solved.

        Raises
        ------
        ProblemError
            If ``tol`` is not positive.
        SolverError
            If the backend is not installed, cannot solve this kind of program, or fails, or the
            program breaks CVXPY's rules.

        Examples
        --------
        >>> from formulations import RobustPremium
        >>> from wdro_cvx import GaussianBall, GraphProblem, Nominal, judge
        >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
        >>> problem = GraphProblem(nominal, GaussianBall(0.5), eta=0.1)
        >>> solution = RobustPremium(problem).solve("SCS", tol=1e-8)
        >>> judge(problem, solution).solved(1e-5)
        True
        """
        backend = check_backend(solver)
        tol = real_number("tol", tol, 0.0, strict=True)
        settings = backend_options(backend, tol) | options
        started = time.process_time()
        try:
            data, chain, inverse = self.cvxpy.get_problem_data(
                backend, enforce_dpp=True, solver_opts=settings
            )
            compiled = time.process_time()
            raw = self._run(chain, data, verbose, settings)
            solved = time.process_time()
            with warnings.catch_warnings():  # the status says the same
                warnings.filterwarnings("ignore", "Solution may be inaccurate")
                self.cvxpy.unpack_results(raw, chain, inverse)
        except (DCPError, DPPError) as reason:
            raise SolverError(
                f"{type(self).__name__} breaks CVXPY's rules (DCP or DPP) and cannot be compiled; "
                f"check_formulation({type(self).__name__}) says more."
            ) from reason
        except BackendError as reason:
            raise SolverError(
                f"{backend} cannot solve {type(self).__name__}: {reason} "
                "Try another solver, such as CLARABEL, or a larger tol."
            ) from reason
        status = _STATUS.get(self.cvxpy.status, Status.FAILED)
        if status is Status.FAILED or self.laplacian.weights.value is None:
            raise SolverError(
                f"{backend} stopped on {type(self).__name__} with status {self.cvxpy.status!r}, "
                "although the problem has a solution. Try another solver or a larger tol."
            )
        return self._solution(status, compiled - started, solved - compiled)

    def _run(self, chain: Any, data: Any, verbose: bool, settings: dict[str, Any]) -> Any:
        """Call the backend; report whatever it raises as CVXPY's own error."""
        try:
            return chain.solve_via_data(self.cvxpy, data, verbose=verbose, solver_opts=settings)
        except (BackendError, MemoryError):
            raise
        except Exception as reason:  # a breakdown, a missing licence, an unknown option
            raise BackendError(f"it raises {type(reason).__name__}: {reason}.") from reason

    def _set_parameters(self) -> None:
        self.radius.value = self.normalised.ambiguity.radius
        self.radius_squared.value = self.normalised.ambiguity.radius**2
        self.prior.set(self.normalised.prior)

    def _build(self) -> cp.Problem:
        variable, problem = self.laplacian, self.normalised
        self._dual: DualProgram | None = None
        self._risk: Risk | MomentSet
        if problem.ambiguity.radius == 0.0:
            # A ball of radius 0 holds the nominal moment alone. The infimum over γ would be at
            # γ = ∞, which no backend can return.
            self._risk = Risk(smoothness(problem.nominal.second_moment, variable))
        else:
            self._risk = self.risk(variable)
        if isinstance(self._risk, MomentSet):
            risk = with_slopes(self._risk, problem.terms)
            self._dual = dual_program(variable, self.prior, problem.prior, risk)
            return self._dual.cvxpy
        objective = self._risk.expression + self.prior.cost(variable, problem.prior)
        objective += sum(term.expression(variable, cp) for term in problem.terms)
        constraints = [*variable.constraints, *self._risk.constraints]
        constraints += prior_constraints(variable, problem.prior)
        return cp.Problem(cp.Minimize(objective), constraints)

    @staticmethod
    def _size(problem: GraphProblem) -> float:
        """Return the approximate size of the optimal objective per vertex.

        The complete graph's value is near enough. Under a log-degree prior the optimum satisfies
        ``R + 4β‖w‖² = αd``.
        """
        if problem.prior.alpha > 0.0:
            return problem.prior.alpha
        value = problem.value(complete_graph(problem.d, problem.target_trace))
        return max(abs(value), problem.floor) / problem.d

    def _solution(self, status: Status, compile_s: float, solve_s: float) -> Solution:
        multiplier = np.nan
        moment = None
        if self.problem.ambiguity.radius > 0.0:
            read = self._risk.worst_moment
            moment = None if read is None else read()
            if self._risk.multiplier is not None:
                multiplier = float(np.asarray(self._risk.multiplier.value).item())
        stats = self.cvxpy.solver_stats
        read_graph = self._dual.laplacian if self._dual else lambda: self.laplacian.matrix.value
        matrix = np.asarray(read_graph())
        return Solution(
            laplacian=(matrix + matrix.T) / 2,
            # CVXPY recomputes its value from the variables, which inverts a singular matrix where
            # γ = λmax. The backend's own value is safe.
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
    """Register a formulation under its name; use it as a class decorator.

    Parameters
    ----------
    cls : subclass of Formulation
        It states ``claims`` and ``risk``.

    Returns
    -------
    subclass of Formulation
        The same class.

    Raises
    ------
    ProblemError
        If the class lacks one of the two, or its name is taken.

    Examples
    --------
    >>> from formulations import Formulation, register
    >>> @register
    ... class Unfinished(Formulation):
    ...     pass
    Traceback (most recent call last):
    wdro_cvx.errors.ProblemError: Unfinished cannot be registered: claims must be ...
    """
    check_stated(cls)
    _REGISTRY.add(cls)
    return cls


def registered() -> dict[str, type[Formulation]]:
    """Return all registered formulations by name.

    Returns
    -------
    dict of str to subclass of Formulation

    Examples
    --------
    >>> from formulations import registered
    >>> registered()["GaussianSDP"].claims
    (<class 'wdro_cvx.ambiguity.gelbrich.GaussianBall'>,)
    """
    return _REGISTRY.all()


SOURCES.append(registered)
