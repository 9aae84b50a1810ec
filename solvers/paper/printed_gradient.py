"""Algorithms 2 and 4 as printed: plain projected gradient on the edge weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.base import Solver, register
from solvers.bracket.limits import Clock
from solvers.paper.backtracking import Objective, plain_descent
from solvers.paper.printed_objectives import (
    check_penalised,
    gaussian_objective,
    general_objective,
)
from solvers.paper.step import start_weights
from wdro_cvx import (
    GaussianBall,
    GraphProblem,
    MomentBall,
    ProblemError,
    Singleton,
    Solution,
    WassersteinBall,
)
from wdro_cvx.graphs.laplacian import laplacian_from_weights, weights_from_laplacian
from wdro_cvx.validation import Array, real_number, whole_number


@register
@dataclass(frozen=True)
class PrintedGradient(Solver):
    """The paper's algorithm for the general scenario (4), and its L-step at a fixed γ (2).

    It iterates ``v ← (v - s∇m(v))₊`` on the edge weights, with the penalty ``β(Tr L - d)²`` in the
    gradient, and stops when ``‖v_{k+1} - v_k‖ < error``. The problem must therefore have a
    ``trace_penalty``, which is β; a fixed trace is rejected. :class:`ProjectedGradient` is an
    improved version for both kinds of trace and takes far fewer steps.

    The stopping rule says nothing about the value. Steps shrink like 1/β and with the number of
    edges, so for large β the rule stops far from the optimum. No answer is called ``SOLVED``.

    Notes
    -----
    The paper leaves some choices open; they are made as follows.

    - Line search: s is halved from 1 until Armijo's condition holds along the projection arc, with
      the constant 1e-4. Times and numbers of steps depend on this choice.
    - Start: the complete graph with trace d, which has v > 0.
    - ``γI ≻ L``: without it, equation 34 has no minimum (docs/paper.md E12). The line search
      rejects points at which the Cholesky factorisation fails.
    - ``L = 0``: the printed gradient of the norm is 0/0; it is set to 0.
    - ``p = 1``: equation 45 has no q. Its limit is used, shared by the vertices of largest degree.
      The descent may stall at a kink (docs/paper.md E14).

    Parameters
    ----------
    tol : float > 0
        The paper's *error*. It limits the length of a step; it is not a relative gap as in other
        solvers.
    max_iterations : int
        The paper's *maxIter*.
    as_printed : bool
        Whether to use the gradients of equations 35 and 45 as printed. They are wrong
        (docs/paper.md E3, E4). With equation 35, the descent stalls. Equation 45 is correct for
        p = 2. With it, the descent stalls for p = 3/2, and fails for p = 3 and p = 4, because a
        negative number is raised to a fractional power.
    time_limit : float
        Seconds after which to stop, with the status ``TIME_LIMIT``.

    Examples
    --------
    >>> from solvers import PrintedGradient
    >>> from wdro_cvx import GraphProblem, MomentBall, Nominal
    >>> nominal = Nominal.from_samples([[0.0, 0.1, 1.0], [0.2, 0.0, -1.0], [0.1, 0.3, 0.5]])
    >>> problem = GraphProblem(nominal, MomentBall(0.1), eta=0.3, trace_penalty=10.0)
    >>> answer = PrintedGradient().solve(problem)
    >>> answer.history[-1]["length"] < 1e-6
    True
    """

    claims = (MomentBall, Singleton)

    tol: float = 1e-6
    max_iterations: int = 100_000
    as_printed: bool = False
    time_limit: float = float("inf")

    def __post_init__(self) -> None:
        real_number("tol", self.tol, 0.0, strict=True)
        whole_number("max_iterations", self.max_iterations, 1)
        Clock(self.time_limit)

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Raise ProblemError unless this is the paper's general scenario with a trace penalty."""
        super().check_claim(problem)
        check_penalised(problem, cls.__name__)

    def solve(self, problem: GraphProblem) -> Solution:
        """Run Algorithm 4.

        Parameters
        ----------
        problem : GraphProblem
            With a ``MomentBall`` or a ``Singleton``, and a ``trace_penalty``.

        Returns
        -------
        Solution
            It has no bound. Its status is ``INACCURATE`` if the paper's rule ended the run,
            ``FAILED`` if the gradient was not finite, and otherwise ``ITERATION_LIMIT`` or
            ``TIME_LIMIT``. ``history`` has the ``value``, ``length`` and ``step`` size of every
            step.

        Raises
        ------
        ProblemError
            If the set is of another kind, the trace is fixed, or the prior is not the paper's.
        """
        self.check_claim(problem)
        objective = general_objective(problem, self.as_printed)
        return self._descend(problem, objective, start_weights(problem))

    def solve_at(
        self, problem: GraphProblem, multiplier: float, start: Array | None = None
    ) -> Solution:
        """Run Algorithm 2: minimise the Gaussian scenario's ``g(γ, L)`` in L for a fixed γ.

        Parameters
        ----------
        problem : GraphProblem
            With a ``GaussianBall`` or a ``WassersteinBall``, and a ``trace_penalty``.
        multiplier : float
            γ, above λmax of the start.
        start : array (d, d), optional
            The Laplacian to start from; by default the complete graph.

        Returns
        -------
        Solution
            The same as from :meth:`solve`. The values in ``history`` are ``g(γ, L)`` with the
            penalty; they are at least the objective, which is ``value``.

        Raises
        ------
        ProblemError
            If the set is of another kind, the trace is fixed, the prior is not the paper's, or γ is
            not above λmax.
        """
        if not isinstance(problem.ambiguity, GaussianBall | WassersteinBall):
            raise ProblemError(
                "Algorithm 2 is for GaussianBall or WassersteinBall; this problem has "
                f"{type(problem.ambiguity).__name__}. Use solve."
            )
        check_penalised(problem, type(self).__name__)
        gamma = real_number("multiplier", multiplier, 0.0, strict=True)
        objective = gaussian_objective(problem, gamma, self.as_printed)
        weights = start_weights(problem) if start is None else weights_from_laplacian(start)
        if not np.isfinite(objective(weights)[0]):
            top = float(np.linalg.eigvalsh(laplacian_from_weights(weights))[-1])
            raise ProblemError(f"multiplier must exceed λmax = {top:g} of start; it is {gamma:g}.")
        return self._descend(problem, objective, weights, gamma)

    def _descend(
        self, problem: GraphProblem, objective: Objective, start: Array, gamma: float = np.nan
    ) -> Solution:
        clock = Clock(self.time_limit)
        found = plain_descent(objective, start, self.tol, self.max_iterations, clock)
        laplacian = laplacian_from_weights(found.weights)
        return Solution(
            laplacian=laplacian,
            value=problem.value(laplacian),
            status=found.status,
            iterations=len(found.history),
            multiplier=gamma,
            solve_s=clock.cpu_s,
            history=found.history,
        )
