"""The certified solver: it finds the optimal graph with a proof, for any ambiguity set.

It only needs the worst case of the set. It brackets the optimum from both sides
(solvers/bracket/incumbent.py), and the gap of the bracket is the only stopping rule. Anyone can
check the status ``SOLVED`` with :func:`wdro_cvx.judge`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.base import Solver, register
from solvers.bracket.incumbent import QP_TOL, Incumbent
from solvers.bracket.limits import MARGIN, OutOfTime, judged
from solvers.bracket.requests import Method, alone
from solvers.bracket.run import Request, Settings, running
from solvers.control.deadline import watched
from solvers.generic.proximal import proximal_descent
from solvers.norm.peak import solve_largest_degree
from solvers.transport.nearby import NearbyWorst
from wdro_cvx import AmbiguitySet, GraphProblem, ProblemError, Solution, Status, Term, WorstCase
from wdro_cvx.ambiguity import Atoms, Transport
from wdro_cvx.programs import Program, programs_for
from wdro_cvx.validation import Array, square_matrix, whole_number

# If the risk is smooth at the optimum, fewer steps suffice (usual: 2 to 40). A run that needs more
# than this limit should use a method for nonsmooth risks.
_SMOOTH_ITERATIONS = 60
# With many vertices and fast worst cases a step takes a fraction of one of ADMM's.
_NEARBY_ITERATIONS, _NEARBY_PATIENCE = 300, 40
_FIRST_ACCURACY = 1e-3  # of the sample-average graph, from which the smooth phase starts
_TRANSPORT_ITERATIONS = 5000  # usual: 10 to 50 interior-point steps, or 100 to 500 of ADMM
# The patience of the smooth phase if an interior-point method follows. With more patience, atoms
# take longer; with less, some runs go on to the interior-point method without need. For transport
# sets the best patience grows with the number of edges.
_PATIENCE, _EDGES_PER_TRIAL = 4, 200
# For reweighted samples the smooth phase takes many steps if, after the first one, the risk is more
# than about five times as curved as the prior. The interior-point method is then faster, as long as
# its matrix products are small.
_STEEPEST, _PRODUCT = 5.0, 1e7
# With more vertices than this, a conic backend takes minutes, and a bundle method often solves the
# problem in less time.
_CONIC_UP_TO = 80


@register
@dataclass(frozen=True)
class CertifiedSolver(Settings, Solver):
    """Spectral proximal gradient with a duality certificate as its stopping rule.

    If the risk is not smooth at the optimum, it switches to a method for the structure of the set:
    an interior-point method or ADMM for transport sets, and interior-point methods for atoms and
    norm balls. The last method is a bundle method on worst cases, for any set.

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
    conic : bool
        Whether a set without structure may go to a registered formulation that certifies its
        answers, if the risk has a kink at the optimum. :func:`solvers.solve` allows it.

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
    rank = 100  # it takes every problem that no other solver solves, so it comes last

    max_iterations: int = 5500
    conic: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("max_iterations", self.max_iterations, 1)

    @classmethod
    def try_solve(cls, problem: GraphProblem, request: Request) -> Solution:
        """Solve any problem."""
        return cls(conic=True, **request.settings(cls)).solve(problem, request.start)

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
                    alone(self.phases(incumbent, start))
                status = Status.SOLVED if incumbent.solved else Status.ITERATION_LIMIT
            except OutOfTime:
                status = Status.TIME_LIMIT
            except KeyboardInterrupt:
                if incumbent.laplacian is None:
                    raise
        return judged(problem, incumbent.solution(status), self.tol, run.clock)

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Raise ProblemError unless eta (or beta) is positive and all terms are smooth."""
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

    def phases(self, incumbent: Incumbent, start: Solution | None = None) -> Method[None]:
        """Improve the incumbent until it is solved or no method can improve it."""
        program = self._program(incumbent.problem)
        yield from self.smooth_phase(incumbent, start, program)
        yield from self.last_phases(incumbent, program)

    def smooth_phase(
        self, incumbent: Incumbent, start: Solution | None = None, program: Program | None = None
    ) -> Method[None]:
        """Improve the incumbent as far as a smooth method can; it takes any number of requests."""
        problem = incumbent.problem
        multipliers: tuple[Array, float] | None
        if problem.terms:
            laplacian = problem.prior.start(problem.d)
            if start is not None:
                laplacian = _feasible_start(problem, start)
            yield from proximal_descent(incumbent, laplacian, self.max_iterations)
            return
        solve_largest_degree(incumbent, self.max_iterations)
        if incumbent.solved:
            return
        if start is None:
            tol = QP_TOL if problem.ambiguity.radius == 0.0 else _FIRST_ACCURACY
            answer = yield from incumbent.bounding(_centre(problem), None, tol)
            laplacian, multipliers = answer.laplacian, (answer.nu, answer.tau)
            if problem.prior.alpha > 0.0 and not np.isfinite(problem.regularisation(laplacian)):
                # With logarithms, a QP that ends early may leave a vertex isolated. Starting from a
                # graph without isolated vertices is easier.
                laplacian = problem.prior.start(problem.d)
            elif problem.ambiguity.radius == 0.0:  # the problem is the sample-average problem
                yield from incumbent.evaluation(laplacian)
                incumbent.record()
                return
        else:
            laplacian = _feasible_start(problem, start)
            multipliers = _multipliers_of(start, incumbent.run.unit)
        smooth, patience = min(self.max_iterations, _SMOOTH_ITERATIONS), _patience(problem)
        if program is not None:  # which follows
            patience = 2 * max(_PATIENCE, _brief(problem))
        if NearbyWorst.applies(problem):
            smooth, patience = min(self.max_iterations, _NEARBY_ITERATIONS), _NEARBY_PATIENCE
        yield from proximal_descent(
            incumbent, laplacian, smooth, patience, multipliers, _steepest(problem)
        )

    def _program(self, problem: GraphProblem) -> Program | None:
        """Return a program for a conic backend, if the set offers no structure but has one."""
        if not self.conic or problem.structure is not None or problem.d > _CONIC_UP_TO:
            return None
        if problem.ambiguity.radius == 0.0:  # no kinks; the program takes longer than the solution
            return None
        return next(programs_for(problem), None)

    def last_phases(self, incumbent: Incumbent, program: Program | None = None) -> Method[None]:
        """Improve an incumbent that the smooth phase has not solved."""
        if incumbent.problem.terms or incumbent.solved:
            return  # these methods know the risk and the prior only
        # Loaded here, because most problems need none of them.
        from solvers.atoms import solve_atoms
        from solvers.generic.bundle import brief_ascent, bundle_ascent
        from solvers.generic.handover import solve_program
        from solvers.norm.interior import solve_norm_ball
        from solvers.transport.solve import solve_transport

        limit = self.max_iterations
        solve_transport(incumbent, min(limit - incumbent.iterations, _TRANSPORT_ITERATIONS))
        if program is not None:
            brief = 3 * _brief(incumbent.problem)
            brief_ascent(incumbent, min(limit - incumbent.iterations, brief))
            solve_program(incumbent, program)
        yield from solve_atoms(incumbent, limit - incumbent.iterations)
        for method in (solve_norm_ball, bundle_ascent):
            method(incumbent, limit - incumbent.iterations)


def _patience(problem: GraphProblem) -> int | None:
    """Return for how many trials the smooth phase may stall; None if no better method follows."""
    if problem.structure is None:
        return None
    if isinstance(problem.structure, Transport):
        return max(_PATIENCE, _brief(problem))
    return _PATIENCE


def _steepest(problem: GraphProblem) -> float:
    """Return the curvature of the risk, in units of the prior's, for which smooth steps are few."""
    if not isinstance(problem.structure, Atoms):
        return np.inf
    edges, atoms = problem.d * (problem.d - 1) // 2, len(problem.structure.samples)
    product = float(edges * atoms * min(edges, atoms))
    return _STEEPEST * (1.0 + product / _PRODUCT)


def _brief(problem: GraphProblem) -> int:
    """Return a number of steps that take little time compared with an interior-point method."""
    return problem.d * (problem.d - 1) // 2 // _EDGES_PER_TRIAL


def _centre(problem: GraphProblem) -> WorstCase:
    """Return the nominal moment in the form of a worst case."""
    nominal, ambiguity = problem.nominal, problem.ambiguity
    return WorstCase(
        np.nan,
        nominal.second_moment,
        np.inf,
        build_moment=lambda: ambiguity.membership(nominal).centre,
    )


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
