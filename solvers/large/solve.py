"""The sparse solver: graphs of many vertices, certified over all pairs.

Each round (solvers/large/rounds.py) solves the problem on candidate edges (search.py) and prices
all pairs (pricing.py). Pairs that would pay join the candidates, until the bound over *all* pairs
meets the value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solvers.base import Solver, register
from solvers.bracket.limits import MARGIN, judged
from solvers.bracket.run import Executor, Request, Settings, running
from solvers.control.deadline import watched
from solvers.large.blocks import ambient_executor
from wdro_cvx import GraphProblem, ProblemError, Singleton, Solution, Status
from wdro_cvx.ambiguity import Norm
from wdro_cvx.claims import DEARER_PAIRS, MOVED_ROWS, REWEIGHED, SIMPLE_NORM
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.graphs.listed_bounds import ListedBounds
from wdro_cvx.judge import LARGE_FROM
from wdro_cvx.solution import SPARSE_FROM


@register
@dataclass(frozen=True)
class SparseSolver(Settings, Solver):
    """Sparse Newton, conjugate gradients and exact pricing in place of d × d matrices.

    Parameters
    ----------
    tol : float
        The relative gap between value and lower bound at which to stop.
    callback : callable, optional
        Called with a :class:`solvers.bracket.run.Progress` after every round.
    progress : bool
        Show the gap as it closes, on standard error.
    time_limit : float
        Seconds after which to stop, checked between steps.
    executor : optional
        A ``concurrent.futures`` executor or a Dask client that computes the blocks of prices. The
        default is the executor of :func:`solvers.price_on`.

    Examples
    --------
    >>> import numpy as np
    >>> from solvers import SparseSolver
    >>> from wdro_cvx import GraphProblem, Nominal, WassersteinBall
    >>> from wdro_cvx.generators import neighbour_graph, smooth_table
    >>> rng = np.random.default_rng(0)
    >>> X = smooth_table(neighbour_graph(300, rng), 20, rng)
    >>> problem = GraphProblem(Nominal.from_samples(X), WassersteinBall(1.0), eta=0.3)
    >>> answer = SparseSolver().solve(problem)
    >>> answer.status.value, answer.edges.d
    ('solved', 300)
    """

    claims = (MOVED_ROWS, Singleton, SIMPLE_NORM, DEARER_PAIRS, REWEIGHED)
    rank = 10
    least = LARGE_FROM

    executor: Executor | None = None

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Raise ProblemError unless the set and the bounds are supported.

        Supported are transport balls, the sample average, moment balls with p = 1, 2 or ∞, balls
        with a radius for every pair and divergence balls, without bounds or with a list of the
        possible edges (``EdgeBounds.from_list``).
        """
        super().check_claim(problem)
        bounds = problem.prior.bounds
        if bounds is not None and not isinstance(bounds, ListedBounds):
            raise ProblemError(
                f"SparseSolver takes bounds as a list of the possible edges; they are {bounds!r}. "
                "State them with EdgeBounds.from_list, or use CertifiedSolver."
            )

    def solve(self, problem: GraphProblem, start: Solution | None = None) -> Solution:
        """Solve the problem, from another problem's solution if one is given.

        Parameters
        ----------
        problem : GraphProblem
        start : Solution, optional
            The answer to a similar problem with the same vertices.
        """
        self.check_claim(problem)
        found = self._solve(problem, True, start)
        assert found is not None
        return found

    @classmethod
    def try_solve(cls, problem: GraphProblem, request: Request) -> Solution | None:
        """Solve the problem if this solver is the fastest for it; otherwise return None.

        Some reasons for None appear only during the solve: the graph may turn out not to be sparse,
        or the worst case not to be unique (the hard case, in which the bounds are loose).
        """
        form = problem.structure
        # For these, MomentNewton needs one solve, and the judge needs the shift as a matrix anyway.
        dense = isinstance(form, Norm) and np.isfinite(form.order) and problem.d <= SPARSE_FROM
        if problem.d < cls.least or dense:
            return None
        patient = problem.d > SPARSE_FROM
        if not patient:
            from solvers.large.worth import worthwhile  # only needed for many vertices

            if not worthwhile(problem):
                return None
        return cls(**request.settings(cls))._solve(problem, patient, request.start)

    def _solve(
        self, problem: GraphProblem, patient: bool, start: Solution | None
    ) -> Solution | None:
        # The other modules of this folder are loaded only if there are many vertices.
        from solvers.large.moment import in_matrices, solve_moment_ball
        from solvers.large.rounds import Rounds
        from solvers.large.worth import NotWorthwhileError

        known = None if start is None else _edges_of(start, problem)
        executor = ambient_executor() if self.executor is None else self.executor
        with running(self) as run:
            form = problem.structure
            special = isinstance(form, Norm) and form.order == 2.0
            # For p = 2 the sample average's multipliers are those of the ball only at the optimum.
            tol = MARGIN * self.tol * (0.1 if special else 1.0)

            def rounds(step: GraphProblem) -> Solution:
                own = replace(run, unit=step.unit, history=[])
                found = Rounds(step, tol, own, executor, patient, known)
                with watched(found.search.check_clock):
                    status = Status.SOLVED if found.finish() else found.status
                return found.solution(status)

            try:
                answer = solve_moment_ball(problem, rounds) if special else rounds(problem)
            except NotWorthwhileError:
                return None
        late = answer.status is Status.TIME_LIMIT
        if late:  # no time is left for the judge's dense back end, which might prove more
            answer = judged(problem, answer, self.tol)
        if problem.d <= SPARSE_FROM:
            answer = in_matrices(problem, answer)
        if not late:  # judge exactly the answer that is returned, so the caller's judge agrees
            answer = judged(problem, answer, self.tol)
        if not patient and answer.status is Status.ITERATION_LIMIT:
            return None
        return replace(answer, solve_s=run.clock.cpu_s)


def _edges_of(start: Solution, problem: GraphProblem) -> EdgeList | None:
    """Return the edges of another solution, or None if it has none."""
    if start.laplacian.shape != (problem.d, problem.d):
        raise ProblemError(
            f"start.laplacian must have shape {(problem.d, problem.d)}; it has "
            f"{start.laplacian.shape}. Start from a solution for the same vertices."
        )
    edges = start.edges
    return edges if (edges.weights > 0.0).any() else None
