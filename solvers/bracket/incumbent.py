"""The best Laplacian and the best lower bound of a certified solver so far.

The optimum lies between the value of this Laplacian and the bound: by weak duality, any second
moment in the set gives a lower bound. The gap between the two is therefore proved. A run ends as
solved only if the gap is at most the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from solvers.bracket.requests import Dual, Method, Optimum, Oracle, Value, alone
from solvers.bracket.run import Run
from solvers.qp import LaplacianQP, QPSolution
from wdro_cvx import Certificate, GraphProblem, Solution, SolverError, WorstCase
from wdro_cvx.moments.points import Moment, as_moment
from wdro_cvx.solution import Status, relative_gap
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    from solvers.qp.minimax import Master

#: The relative gap to which a QP is solved if its answer is final.
QP_TOL = 1e-12
_JUDGING = 3.0  # the judge's time, relative to the last evaluation


_Evidence = Certificate | tuple[Array | Moment | WorstCase, Array, float] | None


@dataclass(frozen=True, eq=False)
class SlopedCase(WorstCase):
    """A worst case whose second moment has the gradients of the problem's terms added.

    The sum is the gradient of ``R + Σ g``. The bound is that of the Laplacian QP less ``price``,
    the sum of the terms' conjugates at their slopes.
    """

    slopes: tuple[Array, ...] = ()
    price: float = 0.0


def sloped(problem: GraphProblem, worst: WorstCase, laplacian: Array) -> SlopedCase:
    """Return a worst case with the gradients of the terms at a Laplacian."""
    slopes = tuple(term.gradient(laplacian) for term in problem.terms)
    # Fenchel's inequality is an equality for a graph and its gradient: no conjugate is needed.
    price = sum(
        float(np.vdot(slope, laplacian)) - term.value(laplacian)
        for term, slope in zip(problem.terms, slopes, strict=True)
    )
    return SlopedCase(
        worst.risk,
        worst.second_moment + sum(slopes),
        worst.multiplier,
        build_moment=lambda: worst.moment,
        slopes=slopes,
        price=float(price),
    )


@dataclass
class Incumbent:
    """The bracket of one problem's optimum, and the relative gap ``tol`` to which to close it."""

    problem: GraphProblem
    tol: float = 1e-6
    run: Run = field(default_factory=Run)
    # A faster worst case than the set's own, if there is one.
    oracle: Oracle | None = None
    laplacian: Array | None = None
    value: float = np.inf
    multiplier: float = np.nan
    bound: float = -np.inf
    iterations: int = 0
    judging: float = 0.0  # an estimate of the seconds that the judge will take
    _evidence: _Evidence = None
    _measured: tuple[float, float, float] = (np.inf, -np.inf, np.inf)  # value, bound, gap

    @property
    def gap(self) -> float:
        """The certified relative gap."""
        bracket = self.value, self.bound
        if bracket != self._measured[:2]:
            problem = self.problem
            self._measured = *bracket, relative_gap(*bracket, problem.constant, problem.floor)
        return self._measured[2]

    @property
    def solved(self) -> bool:
        """Whether the gap is closed to ``tol``."""
        return self.gap <= self.tol

    @property
    def size(self) -> float:
        """The size of the value, to which gaps are relative."""
        return max(abs(self.value), self.problem.floor)

    def evaluate(self, laplacian: Array) -> tuple[WorstCase, float]:
        """Return the worst case and objective of a feasible Laplacian; keep it if it is best.

        If the problem has terms, the worst case includes their gradients.
        """
        return alone(self.evaluation(laplacian))

    def evaluation(self, laplacian: Array) -> Method[tuple[WorstCase, float]]:
        """Do what :meth:`evaluate` does, as a method that asks for the worst case."""
        self.check_clock()
        started = self.run.clock.seconds
        worst, value = yield Value(self.problem, laplacian, self.oracle)
        if value < self.value:
            self.laplacian, self.value, self.multiplier = laplacian, value, worst.multiplier
        if self.problem.terms and np.isfinite(value):
            worst = sloped(self.problem, worst, laplacian)
        self.judging = _JUDGING * (self.run.clock.seconds - started)
        return worst, value

    def bound_by(
        self,
        source: Array | Moment | WorstCase,
        start: tuple[Array, float] | None,
        tol: float = QP_TOL,
    ) -> QPSolution:
        """Solve the sample-average problem of a moment in the set; keep its bound if it is best.

        If the source is a bare matrix, the judge must itself prove that the matrix is in the set.
        """
        return alone(self.bounding(source, start, tol))

    def bounding(
        self,
        source: Array | Moment | WorstCase,
        start: tuple[Array, float] | None,
        tol: float = QP_TOL,
    ) -> Method[QPSolution]:
        """Do what :meth:`bound_by` does, as a method that asks for the QP's solution."""
        self.check_clock()
        matrix = source.second_moment if isinstance(source, (Moment, WorstCase)) else source
        answer = yield Optimum(self.quadratic(matrix), start, tol)
        self._keep(answer.bound, source, answer.nu, answer.tau)
        return answer

    def bounding_at(self, worst: WorstCase, multipliers: tuple[Array, float]) -> Method[None]:
        """Keep the bound of a worst case at given multipliers if it is best; no QP is solved."""
        value, nu, tau = yield Dual(self.quadratic(worst.second_moment), multipliers)
        self._keep(value, worst, nu, tau)

    def _keep(
        self, bound: float, source: Array | Moment | WorstCase, nu: Array, tau: float
    ) -> None:
        """Keep a bound and its evidence if it is best."""
        if self.problem.terms:
            if not isinstance(source, SlopedCase):
                return  # without slopes of the terms there is no bound
            bound -= source.price
        if bound > self.bound:
            self.bound, self._evidence = bound, (source, nu, tau)

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of the best bound."""
        if isinstance(self._evidence, tuple):  # built when it is needed, because most are not
            source, nu, tau = self._evidence
            moment = source.moment if isinstance(source, WorstCase) else as_moment(source)
            slopes = source.slopes if isinstance(source, SlopedCase) else None
            self._evidence = Certificate(moment, nu, tau, slopes)
        return self._evidence

    @certificate.setter
    def certificate(self, certificate: Certificate | None) -> None:
        self._evidence = certificate

    def check_clock(self) -> None:
        """Raise OutOfTime if there is an answer and the time left is only enough to judge it."""
        if self.laplacian is not None:
            self.run.clock.check(self.judging)

    def quadratic(
        self, moment: Array, rho: float = 0.0, centre: Array | None = None
    ) -> LaplacianQP:
        """Return the QP ``⟨M, L⟩ + prior(L) + ρ/2‖L - centre‖²``, up to a constant."""
        if centre is not None and rho > 0.0:
            moment = moment - rho * centre
        prior = self.problem.prior
        return LaplacianQP(moment, prior if rho == 0.0 else prior.proximal(rho))

    def master(self) -> Master:
        """Return the problem of a few worst cases, in the units of the incumbent."""
        from solvers.qp.minimax import Master  # only methods for kinks need it

        assert self.laplacian is not None
        trace = float(np.trace(self.laplacian)) or self.problem.target_trace
        return Master.of(self.problem.d, self.problem.prior, self.size, trace)

    def record(self, iterations: int = 1) -> None:
        """Count iterations and report the bracket."""
        self.iterations += iterations
        self.run.report(self.iterations, self.value, self.bound, self.gap)

    def solution(self, status: Status) -> Solution:
        """Return the best answer, in the unit of the problem as given.

        Raises
        ------
        SolverError
            If every graph that was tried has an infinite value.
        """
        if self.laplacian is None:
            raise SolverError(
                "every graph that was tried has an infinite value. Edge weights or the trace may "
                "be so large or small that numbers overflow; scale the signals or the trace."
            )
        certificate, unit = self.certificate, self.run.unit
        return Solution(
            laplacian=self.laplacian,
            value=self.value * unit**2,
            status=status,
            bound=self.bound * unit**2,
            iterations=self.iterations,
            multiplier=self.multiplier * unit**self.problem.multiplier_degree,
            certificate=None if certificate is None else certificate.scaled(unit),
            history=tuple(self.run.history),
        )
