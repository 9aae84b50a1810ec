"""The log-degree prior: every vertex keeps an edge, and the trace is free.

``2β‖w‖² - α Σ log deg`` (Kalofolias, "How to learn a graph from smooth signals", AISTATS 2016). The
product αβ determines the shape of the graph, ``L*(α, β) = α L*(1, αβ)``. A smaller product gives a
sparser graph.
"""

from __future__ import annotations

from wdro_cvx.graphs.bounds import EdgeBounds
from wdro_cvx.priors.base import DegreePrior
from wdro_cvx.priors.trace import TraceRule
from wdro_cvx.validation import real_number


class LogDegree(DegreePrior):
    """The prior ``2β‖w‖² - α Σ log deg``, which isolates no vertex.

    Parameters
    ----------
    alpha : float > 0
        The weight of the logarithms, which keep every vertex connected; it scales the graph.
    beta : float > 0
        The weight of ``2‖w‖²``; larger values give graphs with more edges.
    bounds : EdgeBounds, optional
        Prior knowledge of edges.

    Raises
    ------
    ProblemError
        If a number is not positive, or the bounds isolate a vertex.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import GraphProblem, LogDegree, Nominal, Singleton
    >>> nominal = Nominal.from_samples(np.eye(3))
    >>> problem = GraphProblem(nominal, Singleton(), prior=LogDegree(alpha=1.0, beta=0.5))
    >>> print(problem.prior, problem.trace)
    LogDegree(alpha=1, beta=0.5) None
    """

    def __init__(self, alpha: float, beta: float, bounds: EdgeBounds | None = None) -> None:
        alpha = real_number("alpha", alpha, 0.0, strict=True, sized=True)
        beta = real_number("beta", beta, 0.0, strict=True, sized=True)
        if bounds is not None:
            bounds.check_degrees()
        super().__init__(beta, 0.0, alpha, TraceRule(0.0, 0.0), bounds)

    def scaled(self, factor: float) -> LogDegree:
        """Return the prior for objectives multiplied by factor."""
        return LogDegree(self.alpha * factor, self.beta * factor, self.bounds)

    def __repr__(self) -> str:
        """Return the figures."""
        return f"LogDegree(alpha={self.alpha:g}, beta={self.beta:g})"
