"""Block coordinate descent on (γ, L) for the Gaussian scenario: an improved version of Algorithm 3.

A bisection that first finds its bracket gives γ. Spectral projected gradient gives L for fixed γ,
with the gradient ``γ²𝒯*((γI - L)⁻¹Θ(γI - L)⁻¹) + …``. The paper merges the two inverses as if they
commuted with Θ (docs/paper.md E3). The paper's algorithm is ``PrintedDescent``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from solvers.base import Solver, register
from solvers.bracket.limits import Clock
from solvers.paper.bisection import bisect_multiplier
from solvers.paper.projected_gradient import ProjectedGradient
from solvers.paper.spectral import Descent, spectral_descent, strong_convexity_bound
from solvers.paper.step import check_step, start_weights
from wdro_cvx import GraphProblem, Solution
from wdro_cvx.claims import EUCLIDEAN_TRANSPORT
from wdro_cvx.graphs.laplacian import adjoint, laplacian_from_weights
from wdro_cvx.priors import frobenius_of
from wdro_cvx.solution import Status
from wdro_cvx.validation import Array, tolerance, whole_number


@register
@dataclass(frozen=True)
class BlockDescent(Solver):
    """Block descent on (γ, L), an improved version of the paper's Algorithm 3.

    Unlike the paper's algorithm, :class:`PrintedDescent`, it brackets γ before the bisection, takes
    Barzilai-Borwein steps in L, solves for L only as accurately as the round needs, and stops when
    the gap is proved. It solves both the problem with a trace penalty and the one with an exact
    trace.

    In the hard case (a radius that is large for the number of samples), γ approaches λmax, and the
    L-step has no minimum. The status is then not ``SOLVED``, and the bound is poor.

    Parameters
    ----------
    tol : float
        Relative accuracy of the value; it is proved, not estimated.
    max_iterations : int
        Largest number of outer iterations.
    max_inner_iterations : int
        Largest number of projected gradient steps per outer iteration.
    time_limit : float
        Seconds after which to stop, with the status ``TIME_LIMIT``.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import GaussianBall, GraphProblem, Nominal
    >>> X = np.array([[1.0, 0.9, -1.0, -0.8], [-0.8, -1.0, 0.9, 1.1], [0.5, 0.4, -0.6, -0.5]])
    >>> problem = GraphProblem(Nominal.from_samples(X), GaussianBall(0.2), eta=0.3)
    >>> from solvers import BlockDescent
    >>> answer = BlockDescent().solve(problem)
    >>> bool(answer.multiplier > np.linalg.eigvalsh(answer.laplacian)[-1])
    True
    """

    claims = (EUCLIDEAN_TRANSPORT,)

    tol: float = 1e-7
    max_iterations: int = 500
    max_inner_iterations: int = 20_000
    time_limit: float = float("inf")

    def __post_init__(self) -> None:
        tolerance(self.tol)
        whole_number("max_iterations", self.max_iterations, 1)
        whole_number("max_inner_iterations", self.max_inner_iterations, 1)
        Clock(self.time_limit)

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Raise ProblemError unless the transport is Euclidean and the prior is the paper's."""
        super().check_claim(problem)
        frobenius_of(problem.prior, "BlockDescent")
        check_step(problem)

    def solve(self, problem: GraphProblem) -> Solution:
        """Solve the problem from the complete graph."""
        self.check_claim(problem)
        if problem.ambiguity.radius == 0.0:  # γ = ∞, so only the L-step is left
            settings = self.tol, self.max_inner_iterations, self.time_limit
            return ProjectedGradient(*settings).solve(problem)
        clock = Clock(self.time_limit)
        moment, radius = problem.nominal.second_moment, problem.ambiguity.radius
        weights = start_weights(problem)
        laplacian = laplacian_from_weights(weights)
        gamma = bisect_multiplier(moment, laplacian, radius)
        inner_target = 1e-2
        history: list[dict[str, float]] = []
        best: Solution | None = None
        inner_total = 0
        for _ in range(self.max_iterations):
            descent = self._update_laplacian(problem, gamma, weights, inner_target, clock)
            weights, inner_total = descent.weights, inner_total + descent.iterations
            laplacian = laplacian_from_weights(weights)
            if not weights.any():  # a weak penalty may leave no edges, and then no γ
                break
            _, old_moment = fixed_gamma(problem, laplacian, gamma)
            gamma = bisect_multiplier(moment, laplacian, radius)
            risk, new_moment = fixed_gamma(problem, laplacian, gamma)
            value = risk + problem.regularisation(laplacian)
            if not np.isfinite(value):  # γ = λmax, the hard case: this method cannot go on
                break
            # The inner subgradient belongs to the old γ, but the new γ is the minimiser. By
            # Danskin's theorem, a subgradient of the whole objective is the inner one plus the
            # difference of the two gradients.
            subgradient = descent.subgradient + adjoint(new_moment - old_moment)
            suboptimality = strong_convexity_bound(problem, subgradient, descent.rounding)
            history.append({"value": value, "suboptimality": suboptimality, "gamma": gamma})
            if best is None or value - suboptimality > best.bound:
                bound = value - suboptimality
                best = Solution(laplacian, value, Status.ITERATION_LIMIT, bound, multiplier=gamma)
            if suboptimality <= self.tol * abs(value):
                best = replace(best, status=Status.SOLVED)
                break
            if clock.seconds > clock.limit:
                best = replace(best, status=Status.TIME_LIMIT)
                break
            inner_target = max(0.1 * min(suboptimality / abs(value), 0.1), 0.1 * self.tol)
        if best is None:
            late = clock.seconds > clock.limit
            status = Status.TIME_LIMIT if late else Status.FAILED
            best = Solution(laplacian, problem.value(laplacian), status, multiplier=gamma)
        return replace(
            best,
            iterations=inner_total,
            solve_s=clock.cpu_s,
            history=history,
        )

    def _update_laplacian(
        self, problem: GraphProblem, gamma: float, start: Array, target: float, clock: Clock
    ) -> Descent:
        eta = problem.prior.beta

        def oracle(weights: Array) -> tuple[float, Array]:
            laplacian = laplacian_from_weights(weights)
            risk, moment = fixed_gamma(problem, laplacian, gamma)
            value = risk + eta * float(np.vdot(laplacian, laplacian))
            return value, adjoint(moment + 2 * eta * laplacian)

        limit = self.max_inner_iterations
        return spectral_descent(problem, oracle, start, target, limit, clock)


def fixed_gamma(problem: GraphProblem, laplacian: Array, gamma: float) -> tuple[float, Array]:
    """Return the risk for fixed γ and its derivative in L.

    They are ``γ(ε² - Tr Θ) + γ²Tr((γI - L)⁻¹Θ)`` and ``γ²(γI - L)⁻¹Θ(γI - L)⁻¹``. Unless
    ``γI ≻ L``, the risk is infinite and the derivative is set to zero.
    """
    identity = np.eye(problem.d)
    try:
        factor = scipy.linalg.cho_factor(
            gamma * identity - laplacian, lower=True, check_finite=False
        )
    except scipy.linalg.LinAlgError:
        return np.inf, np.zeros_like(laplacian)
    moment = problem.nominal.second_moment
    inverse = scipy.linalg.cho_solve(factor, identity, check_finite=False)
    # Computed as ⟨Θ, L⟩ plus the premium, without cancellation between large terms.
    premium = float(np.vdot(laplacian @ inverse @ laplacian, moment))
    risk = float(np.vdot(moment, laplacian)) + gamma * problem.ambiguity.radius**2 + premium
    return risk, gamma**2 * (inverse @ moment @ inverse)
