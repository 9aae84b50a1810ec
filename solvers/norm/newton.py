"""An exact, certified solver for the moment ball of Theorem 3 and every norm type p in [1, ∞].

It applies Newton's method (solvers/norm/ascent.py) to a dual (solvers/norm/dual.py) with d + 1
unknowns, with or without bounds on the weights. For p = ∞ and for radius 0 all Laplacians have the
same worst case, so a single QP remains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from solvers.base import Solver, register
from solvers.bracket.incumbent import Incumbent
from solvers.bracket.limits import judged
from solvers.bracket.run import Request, Settings, running
from solvers.qp import LaplacianQP, climb, edge_gains
from solvers.qp.bounded import best_bounded_tau
from solvers.qp.start import best_tau
from wdro_cvx import Certificate, GraphProblem, MomentBall, ProblemError, Solution, Status
from wdro_cvx.ambiguity import Norm
from wdro_cvx.claims import NORM_BALL
from wdro_cvx.graphs.laplacian import complete_graph
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.priors import frobenius_of
from wdro_cvx.solution import relative_gap
from wdro_cvx.validation import square_matrix, whole_number

if TYPE_CHECKING:
    from solvers.norm.dual import MomentEvidence


@register
@dataclass(frozen=True)
class MomentNewton(Settings, Solver):
    """Semismooth Newton for the moment ball, for any p; a step is a Cholesky factorisation.

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
        Seconds after which to stop, checked between steps; the answer then has the status
        ``TIME_LIMIT`` and its true gap.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import MomentBall, GraphProblem, Nominal
    >>> X = np.array([[1.0, 0.9, -1.0, -0.8], [-0.8, -1.0, 0.9, 1.1], [0.5, 0.4, -0.6, -0.5]])
    >>> problem = GraphProblem(Nominal.from_samples(X), MomentBall(0.2, p=1.5), eta=0.3)
    >>> from solvers import MomentNewton
    >>> answer = MomentNewton().solve(problem)
    >>> answer.status.value, answer.iterations < 20
    ('solved', True)
    """

    claims = (NORM_BALL,)
    rank = 20

    max_iterations: int = 500

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("max_iterations", self.max_iterations, 1)

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Raise ProblemError unless the set is a norm ball and the prior is the paper's."""
        super().check_claim(problem)
        frobenius_of(problem.prior, "MomentNewton")

    @classmethod
    def try_solve(cls, problem: GraphProblem, request: Request) -> Solution | None:
        """Solve the problem; return None if the weights have bounds and 1 < p < ∞.

        With bounds, the interior-point method of solvers/norm/interior.py usually takes as long,
        and far less time if there are upper bounds and p is close to 1.
        """
        norm = problem.structure
        assert isinstance(norm, Norm)  # as claimed
        if problem.bounds is not None and 1.0 < norm.order < np.inf:
            return None
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
        if start is not None and start.certificate is not None:
            start = replace(start, certificate=start.certificate.scaled(1.0 / problem.unit))
        with running(self, problem.unit) as run:
            incumbent = Incumbent(problem.normalised, self.tol, run)
            status = self._run(incumbent, start)
        return judged(problem, incumbent.solution(status), self.tol, run.clock)

    def _run(self, incumbent: Incumbent, start: Solution | None) -> Status:
        from solvers.norm.ascent import ascend  # loaded only when needed

        problem, run, steps = incumbent.problem, incumbent.run, count(1)

        def watch(value: float, bound: float) -> bool:
            run.tell(next(steps), value, bound, relative_gap(value, bound))
            return run.late

        norm = problem.structure
        assert isinstance(norm, Norm)  # as claimed
        ball = MomentBall(problem.ambiguity.radius, norm.order)
        evidence = _guess(problem, ball, start)
        tol, left, laplacian = self.tol / 2, self.max_iterations, None  # half is for rounding
        history: list[tuple[float, float]] = []
        if ball.radius > 0.0 and not np.isinf(ball.p):
            qp = LaplacianQP(problem.nominal.second_moment, problem.prior)
            found = ascend(qp, ball, evidence, tol, left, watch)
            laplacian, history = found.laplacian, found.history
            evidence, left = found.point.evidence(), left - found.steps
        # The sample-average problem of a moment in the ball gives the bound. For the moment found
        # above it is solved already. If the moment was known beforehand, nothing else is needed.
        qp = LaplacianQP(evidence.moment, problem.prior)
        if laplacian is None:  # solve to rounding: a constant may cancel most of the value
            tol = 1e-13
        if run.late and laplacian is not None:  # any multipliers give a bound
            left = min(left, 1)
        average = climb(qp, (evidence.nu, evidence.tau), tol, left)
        if laplacian is None:
            laplacian, history = average.best.laplacian(), average.history
        left -= average.steps
        incumbent.evaluate(laplacian)
        shift = evidence.moment - problem.nominal.second_moment
        moment = TransportedMoment(problem.nominal.rows, shift=shift)
        incumbent.certificate = Certificate(moment, average.last.nu, average.last.level)
        incumbent.bound, incumbent.iterations = average.last.value, self.max_iterations - left
        square = run.unit**2
        run.history += [{"value": row[0] * square, "bound": row[1] * square} for row in history]
        if incumbent.solved:
            return Status.SOLVED
        if run.late:
            return Status.TIME_LIMIT
        return Status.INACCURATE if left else Status.ITERATION_LIMIT


def _guess(problem: GraphProblem, ball: MomentBall, start: Solution | None) -> MomentEvidence:
    """Return the worst case of the start or of the complete graph, with matching multipliers."""
    from solvers.norm.dual import MomentEvidence, share_inside

    theta = problem.nominal.second_moment
    laplacian = complete_graph(problem.d, problem.target_trace)
    if start is not None:
        laplacian = square_matrix("start.laplacian", start.laplacian, problem.d, ProblemError)
    if start is not None or problem.bounds is not None:
        laplacian = problem.prior.repaired(laplacian)
    moment = ball.worst_case(problem.nominal, laplacian).second_moment
    if ball.p == 1.0 and start is not None and start.certificate is not None:
        # Rounding hides which degrees are the largest and how they share the shift.
        shares = np.maximum(np.diagonal(start.certificate.second_moment - theta), 0.0)
        if shares.any():
            moment = theta + np.diag(ball.radius / shares.sum() * shares)
    if np.isinf(ball.p) and ball.radius > 0.0:  # the moment is the certificate's
        shift = moment - theta
        moment = theta + share_inside(ball, theta, shift, np.ones_like(theta)) * shift
    nu = problem.prior.slope(np.diagonal(laplacian))
    qp = LaplacianQP(moment, problem.prior)
    if problem.bounds is not None:
        return MomentEvidence(moment, nu, best_bounded_tau(qp, problem.bounds, nu))
    return MomentEvidence(moment, nu, best_tau(qp, edge_gains(moment), nu))
