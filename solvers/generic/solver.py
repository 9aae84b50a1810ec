"""The certified solver: it finds the optimal graph with a proof, for any ambiguity set.

It only needs the worst case of the set. It brackets the optimum from both sides
(solvers/bracket/incumbent.py), and the gap of the bracket is the only stopping rule. Anyone can
check the status ``SOLVED`` with :func:`wdro_cvx.judge`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solvers.atoms import solve_atoms
from solvers.base import Solver, register
from solvers.bracket.incumbent import QP_TOL, Incumbent
from solvers.bracket.limits import MARGIN, OutOfTime, judged
from solvers.bracket.run import Request, Settings, running
from solvers.control.deadline import watched
from solvers.generic.bundle import bundle_ascent
from solvers.generic.proximal import proximal_descent
from solvers.norm.interior import solve_norm_ball
from solvers.transport import solve_transport
from solvers.transport.nearby import NearbyWorst
from wdro_cvx import AmbiguitySet, GraphProblem, ProblemError, Solution, Status, Term, WorstCase
from wdro_cvx.ambiguity import Transport
from wdro_cvx.validation import Array, square_matrix, whole_number

# If the risk is smooth at the optimum, a few steps suffice (measured: 2 to 40). A run that needs
# more than this limit should use a method for nonsmooth risks.
_SMOOTH_ITERATIONS = 60
# With many vertices and fast worst cases a step takes a fraction of one of ADMM's.
_NEARBY_ITERATIONS, _NEARBY_PATIENCE = 300, 40
_FIRST_ACCURACY = 1e-3  # of the sample-average graph, from which the smooth phase starts
_TRANSPORT_ITERATIONS = 5000  # usual: 10 to 50 of the interior point, 100 to 500 of ADMM
# The patience of the smooth phase if an interior point follows. Measured for atoms at d = 6 to 100:
# with 8 the median takes a quarter longer; with 2 one run in twenty goes on to the interior point
# without need. Measured for transport: at d = 30 it halves the time; at d = 60 a patience of 8 is
# the best of 4, 8 and 17.
_PATIENCE, _EDGES_PER_TRIAL = 4, 200


@register
@dataclass(frozen=True)
class CertifiedSolver(Settings, Solver):
    """Spectral proximal gradient with a duality certificate as its stopping rule.

    If the risk is not smooth at the optimum, it switches to a method for the structure of the set:
    an interior point or ADMM for transport, an interior point for atoms and for norm balls. The
    last method is a bundle of worst cases, for any set.

    Parameters
    ----------
    tol : float
        The relative gap between value and lower bound at which to stop.
    max_iterations : int
        Limit on iterations; the answer then has the status ``ITERATION_LIMIT`` and its true gap.
    callback : callable, optional
        Called with a :class:`solvers.bracket.run.Progress` after every iteration.
    progress : bool
        Show the gap on standard error during the run.
    time_limit : float
        Seconds after which to stop, checked between steps; the answer then has the status
        ``TIME_LIMIT`` and its true gap.

    Notes
    -----
    Ctrl-C ends the run with the best certified answer so far and the status ``INTERRUPTED``.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import KLBall, GraphProblem, Nominal
    >>> X = np.array([[1.0, 0.9, -1.0, -0.8], [-0.8, -1.0, 0.9, 1.1], [0.5, 0.4, -0.6, -0.5]])
    >>> problem = GraphProblem(Nominal.from_samples(X), KLBall(0.1), eta=0.3)
    >>> from solvers import CertifiedSolver
    >>> from wdro_cvx import judge
    >>> answer = CertifiedSolver(tol=1e-8).solve(problem)
    >>> judge(problem, answer).gap <= 1e-8
    True
    """

    claims = (AmbiguitySet,)
    takes_terms = (Term,)
    rank = 100  # it solves every problem, so it comes last

    max_iterations: int = 5500

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("max_iterations", self.max_iterations, 1)

    @classmethod
    def try_solve(cls, problem: GraphProblem, request: Request) -> Solution:
        """Solve any problem."""
        return cls(**request.settings(cls)).solve(problem, request.start)

    def solve(self, problem: GraphProblem, start: Solution | None = None) -> Solution:
        """Solve the problem, starting from another problem's solution if one is given.

        Parameters
        ----------
        problem : GraphProblem
        start : Solution, optional
            The answer to a similar problem with the same vertices.
        """
        self.check_claim(problem)
        with running(self, problem.unit) as run:
            incumbent = Incumbent(problem.normalised, MARGIN * self.tol, run)
            if NearbyWorst.applies(incumbent.problem):
                incumbent.oracle = NearbyWorst(incumbent.problem, incumbent.tol)
            status = Status.INTERRUPTED
            try:
                with watched(incumbent.check_clock):
                    self._run(incumbent, start)
                status = Status.SOLVED if incumbent.solved else Status.ITERATION_LIMIT
            except OutOfTime:
                status = Status.TIME_LIMIT
            except KeyboardInterrupt:
                if incumbent.laplacian is None:
                    raise
        answer = judged(problem, incumbent.solution(status), self.tol)
        return replace(answer, solve_s=run.clock.cpu_s)

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Accept every problem with a positive eta or beta."""
        super().check_claim(problem)
        for term in problem.terms:
            if not term.smooth:
                raise ProblemError(
                    f"CertifiedSolver takes smooth terms; {term!r} has kinks. Use a formulation, "
                    "such as SampleAverage or RobustPremium."
                )
        if problem.prior.beta == 0.0:
            raise ProblemError(
                "CertifiedSolver needs eta > 0, and this problem has eta = 0. Use LikelihoodSolver "
                "for LogDet with the sample average or a transport ball, a formulation, or a small "
                "eta."
            )

    def _run(self, incumbent: Incumbent, start: Solution | None) -> None:
        problem = incumbent.problem
        multipliers: tuple[Array, float] | None
        if problem.terms:
            laplacian = problem.prior.start(problem.d)
            if start is not None:
                laplacian = _feasible_start(problem, start)
            proximal_descent(incumbent, laplacian, self.max_iterations)
            return
        if start is None:
            tol = QP_TOL if problem.ambiguity.radius == 0.0 else _FIRST_ACCURACY
            answer = incumbent.bound_by(_centre(problem), None, tol)
            laplacian, multipliers = answer.laplacian, (answer.nu, answer.tau)
            if not np.isfinite(problem.regularisation(laplacian)):
                # With logarithms, a QP that ends early may leave a vertex isolated. Starting from a
                # graph without isolated vertices is easier.
                laplacian = problem.prior.start(problem.d)
            elif problem.ambiguity.radius == 0.0:  # the problem is the sample-average problem
                incumbent.evaluate(laplacian)
                incumbent.record()
                return
        else:
            laplacian = _feasible_start(problem, start)
            multipliers = _multipliers_of(start, incumbent.run.unit)
        limit = self.max_iterations
        smooth, patience = min(limit, _SMOOTH_ITERATIONS), _patience(problem)
        if incumbent.oracle is not None:
            smooth, patience = min(limit, _NEARBY_ITERATIONS), _NEARBY_PATIENCE
        proximal_descent(incumbent, laplacian, smooth, patience, multipliers)
        solve_transport(incumbent, min(limit - incumbent.iterations, _TRANSPORT_ITERATIONS))
        for method in (solve_atoms, solve_norm_ball, bundle_ascent):
            method(incumbent, limit - incumbent.iterations)


def _patience(problem: GraphProblem) -> int | None:
    """Return for how many trials the smooth phase may stall; None if no better method follows."""
    if problem.structure is None:
        return None
    if isinstance(problem.structure, Transport):
        return max(_PATIENCE, problem.d * (problem.d - 1) // 2 // _EDGES_PER_TRIAL)
    return _PATIENCE


def _centre(problem: GraphProblem) -> WorstCase:
    """Return the nominal moment in the form of a worst case."""
    nominal, membership = problem.nominal, problem.ambiguity.membership(problem.nominal)
    return WorstCase(np.nan, nominal.second_moment, np.inf, build_moment=lambda: membership.centre)


def _feasible_start(problem: GraphProblem, start: Solution) -> Array:
    """Return the Laplacian of another problem's solution, made feasible for this one."""
    laplacian = square_matrix("start.laplacian", start.laplacian, problem.d, ProblemError)
    return problem.prior.repaired(laplacian)


def _multipliers_of(start: Solution, unit: float) -> tuple[Array, float] | None:
    """Return the multipliers of another problem's solution, if it has any."""
    certificate = start.certificate
    if certificate is None or certificate.degree_multipliers is None:
        return None
    tau = certificate.trace_multiplier
    return None if tau is None else (certificate.degree_multipliers / unit**2, tau / unit**2)
