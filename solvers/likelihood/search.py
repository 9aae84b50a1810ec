"""The state of one run of the solver of log-determinants, and its steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from solvers.bracket.limits import OutOfTime
from solvers.bracket.run import Run
from solvers.control.deadline import watched
from solvers.likelihood.central import MOST_EDGES, central_path
from solvers.likelihood.kinds import is_linear
from solvers.likelihood.model import Model, Point
from solvers.likelihood.newton import newton_step
from solvers.likelihood.risks import BarrierRisk, LinearRisk
from solvers.likelihood.start import best_factor, start_weights
from wdro_cvx import Certificate, GraphProblem, ProblemError, Solution, SolverError, Status
from wdro_cvx.ambiguity import Transport
from wdro_cvx.graphs.laplacian import (
    adjoint,
    complete_graph,
    laplacian_from_weights,
    weights_from_laplacian,
)
from wdro_cvx.solution import relative_gap
from wdro_cvx.validation import square_matrix

_FIRST_BARRIER = 1e-2  # relative to the value per vertex
_CENTRED = 6.0  # times μd: a gap at which the barrier's weight falls
_FALL = 10.0
_LAST_BARRIER = 1e-3  # of the tolerance
_FIRST_GAP = 1e-2  # with which the central path starts, so that its first point is near a centre
_PATIENCE = 24  # Newton steps, usually 4 to 12, before the central path
# The judge's time, relative to those of the last bound and of the first point. Like a point, the
# judge computes eigenvalues.
_JUDGING, _JUDGING_POINT = 6.0, 4.0


@dataclass
class Search:
    """The state of one run, in the unit of the problem."""

    problem: GraphProblem
    tol: float
    run: Run
    value: float = np.inf
    bound: float = -np.inf
    certificate: Certificate | None = None
    iterations: int = 0
    judging: float = 0.0  # an estimate of the seconds that the judge will take
    pointing: float = 0.0  # the seconds that the first point took

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
                self.judging += _JUDGING_POINT * self.pointing
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
            walls = self.problem.d + self.best.weights.size
            scale = max(abs(self.value), self.problem.floor)
            gap = min(max(self.value - self.bound, _FIRST_GAP * scale), scale)
            yield from central_path(
                self.best,
                max(gap, self.tol * scale / 4) / walls,
                lambda at: self.tol * max(abs(at.above), self.problem.floor) / (4 * walls),
            )

    def _start(self, start: Solution | None) -> Point:
        problem, structure = self.problem, self.problem.structure
        costs = adjoint(self.linear.worst.second_moment)
        if not is_linear(problem):
            assert isinstance(structure, Transport)
            mu = _FIRST_BARRIER * max(problem.floor, self.linear.worst.risk) / problem.d
            theta = problem.nominal.second_moment
            risk = BarrierRisk(structure.factor, theta, structure.radius, mu)
            costs = costs + 2 * structure.radius**2 / problem.d  # those of an even spread
            self.model = replace(self.model, risk=risk)
        weights = start_weights(self.model, costs)
        if start is not None:
            given = square_matrix("start.laplacian", start.laplacian, problem.d, ProblemError)
            weights = weights_from_laplacian(problem.prior.repaired(given))
        started = self.run.clock.seconds
        point = self.model.at(weights)
        self.pointing = self.run.clock.seconds - started
        if point is None:  # a start that is not connected, or hardly
            weights = weights_from_laplacian(problem.prior.start(problem.d))
            point = self.model.at(weights)
        if point is None:
            raise SolverError(
                "no connected graph with a finite likelihood was found. The trace may be so large "
                "or small that numbers overflow; scale it."
            )
        return point if problem.prior.trace.fixed else self._rescaled(point)

    def _rescaled(self, point: Point) -> Point:
        """Return a multiple of the point if one is much better; otherwise return the point.

        If weights are far too large, each Newton step would only halve them.
        """
        laplacian = laplacian_from_weights(point.weights)
        risk = self.problem.ambiguity.worst_case(self.problem.nominal, laplacian).risk
        factor = best_factor(point, risk)
        if 0.5 <= factor <= 2.0:
            return point
        weights = np.clip(factor * point.weights, self.model.lower, self.model.upper)
        return self.model.at(weights) or point

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
