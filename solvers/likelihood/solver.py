"""The solver of problems with a log-determinant: Newton's method with a certificate.

The gap between value and bound is the only stopping rule. A transport ball is smoothed by a barrier
whose weight falls with the gap (solvers/likelihood/risks.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from solvers.base import Solver, register
from solvers.bracket.limits import MARGIN, judged
from solvers.bracket.run import Request, Settings, running
from solvers.likelihood.kinds import is_euclidean, is_linear
from wdro_cvx import AmbiguitySet, GraphProblem, LogDet, ProblemError, Solution
from wdro_cvx.graphs.laplacian import laplacian_from_weights
from wdro_cvx.validation import whole_number


@register
@dataclass(frozen=True)
class LikelihoodSolver(Settings, Solver):
    """Projected Newton–CG for one :class:`~wdro_cvx.LogDet` term.

    It takes sets with one worst case for all graphs (the sample average, pair balls, moment balls
    with p = ∞) and Euclidean transport balls. The prior is the paper's, with a fixed, penalised or
    free trace; edges may have bounds, and eta may be 0.

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
        if not (is_linear(problem) or is_euclidean(problem)):
            raise ProblemError(
                f"LikelihoodSolver takes the sample average, pair balls, moment balls with p = ∞ "
                f"and Euclidean transport balls; this problem has {problem.ambiguity!r}. Use "
                "CertifiedSolver."
            )

    @classmethod
    def try_solve(cls, problem: GraphProblem, request: Request) -> Solution:
        """Solve the problem, from a start if there is one.

        The answer is returned even if its gap is open: the generic solver would leave a far wider
        one.
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
        from solvers.likelihood.search import Search  # loaded only when needed

        with running(self, problem.unit) as run:
            search = Search(problem.normalised, MARGIN * self.tol, run)
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
