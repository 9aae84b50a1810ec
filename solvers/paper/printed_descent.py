"""Algorithm 3 as printed: alternate between γ (Algorithm 1, bisection) and L (Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.base import Solver, register
from solvers.bracket.limits import Clock
from solvers.paper.backtracking import plain_descent
from solvers.paper.bisection import slope_in_gamma
from solvers.paper.printed_objectives import check_penalised, gaussian_objective
from solvers.paper.step import start_weights
from wdro_cvx import (
    GaussianBall,
    GraphProblem,
    ProblemError,
    Solution,
    SolverError,
    WassersteinBall,
)
from wdro_cvx.graphs.laplacian import laplacian_from_weights
from wdro_cvx.solution import Status
from wdro_cvx.validation import Array, real_number, whole_number


@register
@dataclass(frozen=True)
class PrintedDescent(Solver):
    """The paper's algorithm for the Gaussian scenario (Algorithm 3, with 1 and 2).

    It alternates between bisection for γ on ``[λmax + b, aλmax]`` and projected gradient for L,
    with the penalty ``β(Tr L - d)²`` in the gradient. It stops when
    ``‖L_{k+1} - L_k‖_F < error``. The problem must therefore have a ``trace_penalty``, which is β;
    a fixed trace is rejected. :class:`BlockDescent` is an improved version for both kinds of trace
    and takes far fewer steps.

    The stopping rule says nothing about the value, so no answer is called ``SOLVED``.

    Notes
    -----
    The paper leaves some choices open; they are made as follows. The line search and the test of
    ``γI ≻ L`` are those of :class:`PrintedGradient`.

    - One *error* ends all three loops: the outer one, the bisection and the projected gradient.
    - Start: the complete graph with trace d. Algorithm 2 starts from the last L; a cold start in
      every round takes far longer.
    - a = 100, b = 1e-4: with a = 10 the bracket may miss the root on ordinary data.
    - λmax is computed from all eigenvalues.
    - If the derivative of g has no sign change on the bracket, the printed bisection never ends.
      This version raises a SolverError that names the number to change, a or b.

    The values decrease from one round to the next, up to the *error* in γ.

    Parameters
    ----------
    tol : float > 0
        The paper's *error*. It limits the lengths of steps and of the bracket; it is not a relative
        gap as in other solvers.
    upper_factor : float > 1
        The paper's *a*.
    lower_shift : float > 0
        The paper's *b*.
    max_iterations : int
        The paper's *maxIter* of Algorithm 3.
    max_inner_iterations : int
        The paper's *maxIter* of Algorithm 2.
    as_printed : bool
        Whether to use the gradient of equation 35 as printed. It is wrong unless L and Θ commute
        (docs/paper.md E3), and the descent then ends above the optimum for any *error*.
    time_limit : float
        Seconds after which to stop, with the status ``TIME_LIMIT``.

    Examples
    --------
    >>> from solvers import PrintedDescent
    >>> from wdro_cvx import GaussianBall, GraphProblem, Nominal
    >>> nominal = Nominal.from_samples([[0.0, 0.1, 1.0], [0.2, 0.0, -1.0], [0.1, 0.3, 0.5]])
    >>> problem = GraphProblem(nominal, GaussianBall(0.1), eta=0.3, trace_penalty=10.0)
    >>> answer = PrintedDescent().solve(problem)
    >>> answer.history[-1]["length"] < 1e-6
    True
    """

    claims = (GaussianBall, WassersteinBall)

    tol: float = 1e-6
    upper_factor: float = 100.0
    lower_shift: float = 1e-4
    max_iterations: int = 10_000
    max_inner_iterations: int = 20_000
    as_printed: bool = False
    time_limit: float = float("inf")

    def __post_init__(self) -> None:
        real_number("tol", self.tol, 0.0, strict=True)
        real_number("upper_factor", self.upper_factor, 1.0, strict=True)
        real_number("lower_shift", self.lower_shift, 0.0, strict=True)
        whole_number("max_iterations", self.max_iterations, 1)
        whole_number("max_inner_iterations", self.max_inner_iterations, 1)
        Clock(self.time_limit)

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Raise ProblemError unless this is the paper's Gaussian scenario with a trace penalty."""
        super().check_claim(problem)
        check_penalised(problem, cls.__name__)
        if problem.ambiguity.radius == 0.0:
            raise ProblemError(
                "PrintedDescent needs a radius above 0: at 0 no γ is finite. Use PrintedGradient "
                "with a Singleton."
            )

    def solve(self, problem: GraphProblem) -> Solution:
        """Run Algorithm 3.

        Parameters
        ----------
        problem : GraphProblem
            With a ``GaussianBall`` or a ``WassersteinBall`` and a ``trace_penalty``.

        Returns
        -------
        Solution
            It has no bound. Its status is ``INACCURATE`` if the paper's rule ended the run, and
            otherwise ``ITERATION_LIMIT`` or ``TIME_LIMIT``. ``iterations`` counts the steps of
            Algorithm 2 in all rounds. ``history`` has, for every round, ``gamma``, the ``value`` of
            g with the penalty, the ``length`` ``‖L_{k+1} - L_k‖_F`` and the number of ``steps``.

        Raises
        ------
        ProblemError
            If the set is of another kind, the trace is fixed, the prior is not the paper's, or the
            radius is 0.
        SolverError
            If Algorithm 1 does not bracket γ.
        """
        self.check_claim(problem)
        clock = Clock(self.time_limit)
        weights = start_weights(problem)
        laplacian = laplacian_from_weights(weights)
        gamma, status = np.nan, Status.ITERATION_LIMIT
        history: list[dict[str, float]] = []
        for _ in range(self.max_iterations):
            gamma = self.bisect(problem, laplacian)
            objective = gaussian_objective(problem, gamma, self.as_printed)
            inner = plain_descent(objective, weights, self.tol, self.max_inner_iterations, clock)
            weights, previous = inner.weights, laplacian
            laplacian = laplacian_from_weights(weights)
            length = float(np.linalg.norm(laplacian - previous))
            history.append(
                {
                    "value": objective(weights)[0],
                    "gamma": gamma,
                    "length": length,
                    "steps": len(inner.history),
                }
            )
            if inner.status in (Status.TIME_LIMIT, Status.FAILED):
                status = inner.status
                break
            if length < self.tol:
                status = Status.INACCURATE
                break
        return Solution(
            laplacian=laplacian,
            value=problem.value(laplacian),
            status=status,
            iterations=sum(int(row["steps"]) for row in history),
            multiplier=gamma,
            solve_s=clock.cpu_s,
            history=history,
        )

    def bisect(self, problem: GraphProblem, laplacian: Array) -> float:
        """Return γ for a fixed L by Algorithm 1.

        Parameters
        ----------
        problem : GraphProblem
            With a ``GaussianBall`` or a ``WassersteinBall``.
        laplacian : array (d, d)

        Returns
        -------
        float
            The middle of the last bracket.

        Raises
        ------
        SolverError
            If the bracket does not contain γ.
        """
        moment, radius = problem.nominal.second_moment, problem.ambiguity.radius

        def slope(gamma: float) -> float:
            return slope_in_gamma(moment, laplacian, gamma, radius)

        top = float(np.linalg.eigvalsh(laplacian)[-1])
        low, high = top + self.lower_shift, self.upper_factor * top
        width = max(self.tol, 2 * float(np.spacing(high)))  # limit of floating point
        at_low, at_high = slope(low), slope(high)
        while True:
            middle = (low + high) / 2
            at_middle = slope(middle)
            if at_middle == 0.0:
                return middle
            if at_low * at_middle < 0.0:
                high, at_high = middle, at_middle
            elif at_high * at_middle < 0.0:
                low, at_low = middle, at_middle
            elif high - low > width:
                raise SolverError(_not_bracketed(low, high, at_low))
            if high - low <= width:
                return (low + high) / 2


def _not_bracketed(low: float, high: float, slope: float) -> str:
    remedy = (
        "The root is below: choose a smaller lower_shift (b); with few samples there may be no "
        "root (docs/paper.md E6)."
        if slope > 0.0
        else "The root is above: choose a larger upper_factor (a)."
    )
    return (
        "PrintedDescent cannot find γ: the derivative of g has one sign on "
        f"[λmax + b, aλmax] = [{low:g}, {high:g}], and Algorithm 1 would never end. {remedy}"
    )
