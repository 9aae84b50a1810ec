"""The best Laplacian and the best bound that a certified solver has so far.

The optimum lies between them (weak duality: any second moment in the set bounds it from below), so
their gap is a certificate, and the only reason for which a certified solver stops satisfied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from solvers.bracket.limits import Clock
from solvers.qp import LaplacianQP, QPSolution, solve_laplacian_qp
from wdro_cvx import Certificate, GraphProblem, Solution, WorstCase
from wdro_cvx.moments.points import Moment, as_moment
from wdro_cvx.solution import Status, relative_gap
from wdro_cvx.validation import Array

_QP_TOL = 1e-12


@dataclass(frozen=True)
class Progress:
    """Where a solver is; what a callback receives."""

    iteration: int
    value: float
    bound: float
    gap: float
    seconds: float


Callback = Callable[[Progress], None]


@dataclass
class Incumbent:
    """What is known about the optimum of one problem."""

    problem: GraphProblem
    callback: Callback | None = None
    clock: Clock = field(default_factory=Clock)
    unit: float = 1.0  # of the data, in the unit of the problem as it was given
    laplacian: Array | None = None
    value: float = np.inf
    multiplier: float = np.nan
    bound: float = -np.inf
    certificate: Certificate | None = None
    iterations: int = 0
    history: list[dict[str, float]] = field(default_factory=list)

    @property
    def gap(self) -> float:
        """The certified relative gap."""
        return relative_gap(self.value, self.bound, self.problem.constant, self.problem.floor)

    def evaluate(self, laplacian: Array) -> tuple[WorstCase, float]:
        """Return worst case and objective of a feasible Laplacian; keep it if it is the best."""
        self._check_clock()
        worst = self.problem.ambiguity.worst_case(self.problem.nominal, laplacian)
        value = worst.risk + self.problem.regularisation(laplacian)
        if value < self.value:
            self.laplacian, self.value, self.multiplier = laplacian, value, worst.multiplier
        return worst, value

    def bound_by(
        self, source: Array | Moment | WorstCase, start: tuple[Array, float] | None
    ) -> QPSolution:
        """Solve the sample-average problem of a moment in the set; keep its bound if the best.

        A bare matrix makes a certificate that the judge has to explain by itself.
        """
        self._check_clock()
        matrix = source.second_moment if isinstance(source, (Moment, WorstCase)) else source
        answer = solve_laplacian_qp(self.quadratic(matrix), start, _QP_TOL)
        if answer.bound > self.bound:
            self.bound = answer.bound
            moment = source.moment if isinstance(source, WorstCase) else as_moment(source)
            self.certificate = Certificate(moment, answer.nu, answer.tau)
        return answer

    def _check_clock(self) -> None:
        if self.laplacian is not None:  # without one there is no answer to end with
            self.clock.check()

    def quadratic(
        self, moment: Array, rho: float = 0.0, centre: Array | None = None
    ) -> LaplacianQP:
        """Return the QP ``⟨M, L⟩ + prior(L) + ρ/2‖L - centre‖²``, up to a constant."""
        if centre is not None and rho > 0.0:
            moment = moment - rho * centre
        prior = self.problem.prior
        return LaplacianQP(moment, prior if rho == 0.0 else prior.proximal(rho))

    def record(self, iterations: int = 1) -> None:
        """Count iterations, note where they led and tell the callback."""
        self.iterations += iterations
        seconds, square = self.clock.seconds, self.unit**2
        row = Progress(self.iterations, self.value * square, self.bound * square, self.gap, seconds)
        self.history.append({"value": row.value, "bound": row.bound, "seconds": seconds})
        if self.callback is not None:
            self.callback(row)

    def solution(self, status: Status) -> Solution:
        """Return what was found, in the unit of the problem as it was given."""
        assert self.laplacian is not None
        certificate = self.certificate
        return Solution(
            laplacian=self.laplacian,
            value=self.value * self.unit**2,
            status=status,
            bound=self.bound * self.unit**2,
            iterations=self.iterations,
            multiplier=self.multiplier * self.unit**self.problem.multiplier_degree,
            certificate=None if certificate is None else certificate.scaled(self.unit),
            history=tuple(self.history),
        )
