"""The solver of problems with a log-determinant: Newton's method with a certificate.

The gap between value and bound is the only stopping rule. A transport ball is smoothed by a barrier
whose weight falls with the gap (solvers/likelihood/risks.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from solvers.base import Solver, register
from solvers.bracket.limits import MARGIN, OutOfTime, judged
from solvers.bracket.run import Request, Run, Settings, running
from solvers.control.deadline import watched
from solvers.likelihood.central import MOST_EDGES, central_path
from solvers.likelihood.model import Model, Point
from solvers.likelihood.newton import newton_step
from solvers.likelihood.risks import BarrierRisk, LinearRisk
from solvers.likelihood.start import start_weights
from wdro_cvx import (
    AmbiguitySet,
    Certificate,
    GraphProblem,
    LogDet,
    ProblemError,
    Solution,
    Status,
)
from wdro_cvx.ambiguity import Norm, Surcharge, Transport
from wdro_cvx.graphs.laplacian import (
    adjoint,
    complete_graph,
    laplacian_from_weights,
    weights_from_laplacian,
)
from wdro_cvx.solution import relative_gap
from wdro_cvx.validation import square_matrix, whole_number

_FIRST_BARRIER = 1e-2  # relative to the value per vertex
_CENTRED = 6.0  # times μd: a gap at which the barrier's weight falls
_FALL = 10.0
_LAST_BARRIER = 1e-3  # of the tolerance
_FIRST_GAP = 1e-2  # with which the central path starts, so that its first point is near a centre
_PATIENCE = 24  # Newton steps, usually 4 to 12, before the central path
_JUDGING = 6.0  # the judge's time, relative to that of the last bound


@register
@dataclass(frozen=True)
class LikelihoodSolver(Settings, Solver):
    """Projected Newton–CG for one :class:`~wdro_cvx.LogDet` term.

    It takes sets with one worst case for all graphs (the sample average, pair balls, moment balls
    with p = ∞) and Euclidean transport balls, with the paper's prior, its trace fixed, penalised or
    free, bounds on edges, and eta = 0.

    Parameters
    ----------
    tol : float
        The relative gap between value and lower bound at which to stop.
    max_iterations : int
        Limit on Newton steps; the answer then has the status ``ITERATION_LIMIT`` and its true gap.
    callback : callable, optional
        Called with a :class:`solvers.bracket.run.Progress` after every step.
    progress : bool
        Show the gap on standard error during the run.
    time_limit : float
        Seconds after which to stop, checked between steps.

    Examples
    --------
    >>> import numpy as np
    >>> from solvers import LikelihoodSolver
    >>> from wdro_cvx import Frobenius, GraphProblem, LogDet, Nominal, Singleton
    >>> X = np.array([[1.0, 0.9, -1.0, -0.8], [-0.8, -1.0, 0.9, 1.1], [0.5, 0.4, -0.6, -0.5]])
    >>> data, prior = Nominal.from_samples(X), Frobenius(eta=0.0, trace=None)
    >>> problem = GraphProblem(data, Singleton(), prior=prior, terms=(LogDet(1.0),))
    >>> answer = LikelihoodSolver().solve(problem)
    >>> answer.status.value, answer.iterations < 20
    ('solved', True)
    """

    claims = (AmbiguitySet,)
    takes_terms = (LogDet,)
    rank = 15

    max_iterations: int = 300

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("max_iterations", self.max_iterations, 1)

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Raise ProblemError unless the problem has one LogDet and a risk that is supported."""
        super().check_claim(problem)
        if len(problem.terms) != 1 or type(problem.terms[0]) is not LogDet:
            raise ProblemError(
                f"LikelihoodSolver takes problems with one LogDet term; this one has "
                f"{list(problem.terms)!r}. Use CertifiedSolver."
            )
        if problem.prior.alpha > 0.0:
            raise ProblemError(
                f"LikelihoodSolver takes no logarithms of degrees; this problem has "
                f"{problem.prior!r}. Use CertifiedSolver."
            )
        if not (_linear(problem) or _euclidean(problem)):
            raise ProblemError(
                f"LikelihoodSolver takes the sample average, pair balls, moment balls with p = ∞ "
                f"and Euclidean transport balls; this problem has {problem.ambiguity!r}. Use "
                "CertifiedSolver."
            )

    @classmethod
    def try_solve(cls, problem: GraphProblem, request: Request) -> Solution:
        """Solve the problem, from a start if there is one.

        Where the gap stays open, that of the generic solver is far wider.
        """
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
            search = _Search(problem.normalised, MARGIN * self.tol, run)
            status = search.run_steps(start, self.max_iterations)
        unit = problem.unit
        assert search.certificate is not None
        answer = Solution(
            laplacian=laplacian_from_weights(search.best.weights),
            value=search.value * unit**2,
            status=status,
            bound=search.bound * unit**2,
            iterations=search.iterations,
            multiplier=search.best.risk.multiplier,
            certificate=search.certificate.scaled(unit),
            history=tuple(run.history),
        )
        return replace(judged(problem, answer, self.tol), solve_s=run.clock.cpu_s)


def _linear(problem: GraphProblem) -> bool:
    """Say whether one moment is the worst case of every Laplacian."""
    form = problem.structure
    flat = isinstance(form, Norm) and np.isinf(form.order)
    return problem.ambiguity.radius == 0.0 or flat or isinstance(form, Surcharge)


def _euclidean(problem: GraphProblem) -> bool:
    found = problem.structure
    return isinstance(found, Transport) and found.moves_all and found.euclidean


@dataclass
class _Search:
    """The state of one run, in the unit of the problem."""

    problem: GraphProblem
    tol: float
    run: Run
    value: float = np.inf
    bound: float = -np.inf
    certificate: Certificate | None = None
    iterations: int = 0
    judging: float = 0.0  # an estimate of the seconds that the judge will take

    def __post_init__(self) -> None:
        problem = self.problem
        worst = problem.ambiguity.worst_case(
            problem.nominal, complete_graph(problem.d, problem.target_trace)
        )
        self.linear = LinearRisk(worst)
        self.model = Model(problem.d, problem.prior, self.linear, problem.terms[0].alpha)
        self.best: Point

    @property
    def gap(self) -> float:
        """The certified relative gap."""
        return relative_gap(self.value, self.bound, self.problem.constant, self.problem.floor)

    def run_steps(self, start: Solution | None, limit: int) -> Status:
        """Take steps until the gap is closed or nothing improves."""
        point = self._start(start)
        with watched(self._check_clock):
            return self._steps(point, limit)

    def _check_clock(self) -> None:
        if self.certificate is not None:
            self.run.clock.check(self.judging)

    def _steps(self, point: Point, limit: int) -> Status:
        try:
            for moved in self._points(point):
                started = self.run.clock.seconds
                self._keep(moved)
                self.judging = _JUDGING * (self.run.clock.seconds - started)
                self.run.report(self.iterations, self.value, self.bound, self.gap)
                if self.gap <= self.tol:
                    return Status.SOLVED
                if self.iterations >= limit:
                    return Status.ITERATION_LIMIT
                self.run.clock.check(self.judging)
                self.iterations += 1
        except OutOfTime:
            return Status.TIME_LIMIT
        return Status.INACCURATE

    def _points(self, point: Point | None) -> Iterator[Point]:
        """Yield Newton's points, and the central path if they are many or come to a halt."""
        small = np.count_nonzero(self.model.lower < self.model.upper) <= MOST_EDGES
        while point is not None and not (small and self.iterations >= _PATIENCE):
            yield point
            point = self._step(point)
        if small:
            d, edges = self.problem.d, self.best.weights.size
            scale = max(abs(self.value), self.problem.floor)
            last = self.tol * scale / (4 * (d + edges))
            gap = min(max(self.value - self.bound, _FIRST_GAP * scale), scale)
            first = max(gap / (d + edges), last)
            yield from central_path(self.best, first, last)

    def _start(self, start: Solution | None) -> Point:
        problem, structure = self.problem, self.problem.structure
        weights = start_weights(self.model, adjoint(self.linear.worst.second_moment))
        if start is not None:
            given = square_matrix("start.laplacian", start.laplacian, problem.d, ProblemError)
            weights = weights_from_laplacian(problem.prior.repaired(given))
        if not _linear(problem):
            assert isinstance(structure, Transport)
            mu = _FIRST_BARRIER * max(problem.floor, self.linear.worst.risk) / problem.d
            theta = problem.nominal.second_moment
            risk = BarrierRisk(structure.factor, theta, structure.radius, mu)
            self.model = replace(self.model, risk=risk)
        point = self.model.at(weights)
        if point is None:  # a start that is not connected, or hardly
            weights = weights_from_laplacian(problem.prior.start(problem.d))
            point = self.model.at(weights)
        assert point is not None
        return point

    def _step(self, point: Point) -> Point | None:
        """Return the next point, with less of the barrier if this one is near its centre."""
        risk, d = self.model.risk, self.problem.d
        accuracy = max(3e-3, min(0.1, np.sqrt(max(self.gap, 0.0))))
        if isinstance(risk, BarrierRisk):
            scale = max(abs(self.value), self.problem.floor)
            least = _LAST_BARRIER * self.tol * scale / d
            own = point.above - point.bound().value
            moved = None if own <= _CENTRED * risk.mu * d else newton_step(point, accuracy)
            if moved is None and risk.mu > least:
                risk = replace(risk, mu=risk.mu / _FALL)
                self.model = replace(self.model, risk=risk)
                point_again = self.model.at(point.weights)
                assert point_again is not None
                return newton_step(point_again, accuracy) or point_again
            return moved
        return newton_step(point, accuracy)

    def _keep(self, point: Point) -> None:
        if point.above < self.value:
            self.value, self.best = point.above, point
        bound = point.bound()
        if bound.value > self.bound or self.certificate is None:
            self.bound = bound.value
            self.certificate = point.certificate(bound)
