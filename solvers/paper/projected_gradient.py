"""Projected gradient on the edge weights: an improved version of Algorithm 4.

The gradient of the worst-case risk is 𝒯* of the worst-case second moment (Danskin), so one
algorithm serves every ambiguity set. For the moment ball, this is the paper's gradient with its
missing sign corrected (docs/paper.md E4). The paper's algorithm is ``PrintedGradient``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from solvers.base import Solver, register
from solvers.bracket.limits import Clock
from solvers.paper.spectral import Descent, spectral_descent
from solvers.paper.step import check_step, start_weights
from wdro_cvx import Certificate, GraphProblem, Solution, Status
from wdro_cvx.ambiguity import Norm
from wdro_cvx.claims import WITH_GRADIENT
from wdro_cvx.graphs.laplacian import adjoint, laplacian_from_weights
from wdro_cvx.moments.points import as_moment
from wdro_cvx.priors import frobenius_of
from wdro_cvx.validation import Array, tolerance, whole_number

_SMOOTHING_CUT = 0.1  # ratio of the smoothing of successive stages for p = 1


@register
@dataclass(frozen=True)
class ProjectedGradient(Solver):
    """Projected gradient with spectral steps: an improved version of the paper's Algorithm 4.

    Unlike the paper's algorithm, :class:`PrintedGradient`, it takes Barzilai-Borwein steps with a
    nonmonotone line search, puts the trace penalty into the projection instead of the gradient, and
    stops when the gap is proved instead of when a step is short. It solves both the problem with a
    trace penalty and the one with an exact trace, and accepts any ambiguity set.

    For ``MomentBall``, the printed formula is undefined at both ends of the range of p. With
    ``p = ∞``, the norm is constant on Laplacians of fixed trace; its gradient ``4ε`` per edge is
    used. With ``p = 1``, the norm is the largest degree, which is not differentiable. It is
    replaced by ``μ·log Σ exp(deg/μ)``, which exceeds it by at most ``μ·log d``, and μ is reduced
    until this is half the tolerance.

    If the risk is not smooth at the optimum (as for a Wasserstein ball that is large for the number
    of samples), the method stalls, and the status is not ``SOLVED``.

    Parameters
    ----------
    tol : float
        Relative accuracy of the value; it is proved, not estimated.
    max_iterations : int
    time_limit : float
        Seconds after which to stop, with the status ``TIME_LIMIT``.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import MomentBall, GraphProblem, Nominal
    >>> X = np.array([[1.0, 0.9, -1.0, -0.8], [-0.8, -1.0, 0.9, 1.1], [0.5, 0.4, -0.6, -0.5]])
    >>> nominal, ball = Nominal.from_samples(X), MomentBall(0.2)
    >>> problem = GraphProblem(nominal, ball, eta=0.3, trace_penalty=10.0)
    >>> from solvers import ProjectedGradient
    >>> answer = ProjectedGradient(tol=1e-8).solve(problem)
    >>> answer.value - answer.bound <= 1e-8 * answer.value
    True
    """

    claims = (WITH_GRADIENT,)

    tol: float = 1e-7
    max_iterations: int = 20_000
    time_limit: float = float("inf")

    def __post_init__(self) -> None:
        tolerance(self.tol)
        whole_number("max_iterations", self.max_iterations, 1)
        Clock(self.time_limit)

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Raise ProblemError unless the prior is the paper's and the step supports its bounds."""
        super().check_claim(problem)
        frobenius_of(problem.prior, "ProjectedGradient")
        check_step(problem)

    def solve(self, problem: GraphProblem) -> Solution:
        """Solve the problem from the complete graph."""
        self.check_claim(problem)
        clock = Clock(self.time_limit)
        ambiguity = problem.ambiguity
        norm = problem.structure
        if isinstance(norm, Norm) and norm.order == 1.0 and ambiguity.radius > 0.0:
            descent, certificate = self._solve_largest_degree(problem, clock)
            slack = self.tol / 2 * abs(descent.value)
        else:
            descent = self._descend(problem, start_weights(problem), self.tol, clock)
            certificate, slack = None, 0.0
        laplacian = laplacian_from_weights(descent.weights)
        worst = ambiguity.worst_case(problem.nominal, laplacian)
        value = worst.risk + problem.regularisation(laplacian)
        bound = descent.value - descent.suboptimality - slack
        return Solution(
            laplacian=laplacian,
            value=value,
            status=descent.status,
            bound=bound,
            iterations=descent.iterations,
            multiplier=worst.multiplier,
            certificate=certificate,
            solve_s=clock.cpu_s,
            history=descent.history,
        )

    def _descend(
        self,
        problem: GraphProblem,
        start: Array,
        target: float,
        clock: Clock,
        smoothing: float = 0.0,
    ) -> Descent:
        eta = problem.prior.beta

        def oracle(weights: Array) -> tuple[float, Array]:
            laplacian = laplacian_from_weights(weights)
            if smoothing > 0.0:
                risk, moment = _smoothed_largest_degree(problem, laplacian, smoothing)
            else:
                worst = problem.ambiguity.worst_case(problem.nominal, laplacian)
                risk, moment = worst.risk, worst.second_moment
            value = risk + eta * float(np.vdot(laplacian, laplacian))
            return value, adjoint(moment + 2 * eta * laplacian)

        return spectral_descent(problem, oracle, start, target, self.max_iterations, clock)

    def _solve_largest_degree(
        self, problem: GraphProblem, clock: Clock
    ) -> tuple[Descent, Certificate]:
        weights = start_weights(problem)
        scale = problem.value(laplacian_from_weights(weights))
        spread = problem.ambiguity.radius * np.log(problem.d)
        smoothing, total = scale / spread, 0
        while True:
            descent = self._descend(problem, weights, self.tol / 2, clock, smoothing)
            weights, total = descent.weights, total + descent.iterations
            laplacian = laplacian_from_weights(weights)
            close = smoothing * spread <= self.tol / 2 * abs(descent.value)
            if close or descent.status is Status.TIME_LIMIT:
                break
            smoothing *= _SMOOTHING_CUT
        _, moment = _smoothed_largest_degree(problem, laplacian, smoothing)
        return replace(descent, iterations=total), Certificate(as_moment(moment))


def _smoothed_largest_degree(
    problem: GraphProblem, laplacian: Array, smoothing: float
) -> tuple[float, Array]:
    """Return the smoothed risk for p = 1 and its second moment, which lies in the ball."""
    degrees = np.diagonal(laplacian) / smoothing
    radius = problem.ambiguity.radius
    theta = problem.nominal.second_moment
    largest = smoothing * float(scipy.special.logsumexp(degrees))
    risk = float(np.vdot(theta, laplacian)) + radius * largest
    return risk, theta + radius * np.diag(scipy.special.softmax(degrees))
