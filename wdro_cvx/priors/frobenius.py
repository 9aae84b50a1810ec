"""The paper's prior: ``η‖L‖_F²``, with the trace fixed or penalised."""

from __future__ import annotations

import math

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.bounds import EdgeBounds
from wdro_cvx.priors.base import DegreePrior
from wdro_cvx.priors.trace import TraceRule
from wdro_cvx.validation import real_number


class Frobenius(DegreePrior):
    """The paper's prior: ``η‖L‖_F²`` over Laplacians of trace ``trace``.

    Parameters
    ----------
    eta : float ≥ 0
        Larger values give graphs with more edges. Only a problem with a term such as
        :class:`LogDet` may have eta = 0.
    trace : float > 0 or None
        The trace, which sets the scale of the graph. :class:`GraphProblem` uses the number of
        vertices by default. None leaves it free, for problems with a term that sets the scale.
    trace_penalty : float > 0, optional
        The paper's β. If given, the penalty ``β(Tr L - trace)²`` replaces ``Tr L = trace``. This is
        another problem with another optimum (docs/paper.md E7).
    bounds : EdgeBounds, optional
        Prior knowledge of edges: absent, present, bounded.

    Raises
    ------
    ProblemError
        If a number is not allowed, or no weights within the bounds have this trace.

    Examples
    --------
    >>> from wdro_cvx import EdgeBounds, Frobenius
    >>> Frobenius(eta=0.1, trace=6.0, trace_penalty=2.0).trace_penalty
    2.0
    >>> Frobenius(eta=0.1, trace=6.0, bounds=EdgeBounds.from_edges(3, most=0.5))
    Traceback (most recent call last):
        ...
    wdro_cvx.errors.ProblemError: no graph has this trace: ... the upper bounds sum to 1.5, ...
    """

    def __init__(
        self,
        eta: float,
        trace: float | None,
        trace_penalty: float | None = None,
        bounds: EdgeBounds | None = None,
    ) -> None:
        eta = real_number("eta", eta, 0.0, sized=True)
        if trace is None:
            if trace_penalty is not None:
                raise ProblemError("trace_penalty needs a trace to compare with; give trace too.")
            super().__init__(eta, eta, 0.0, TraceRule(0.0, 0.0), bounds)
            return
        trace = real_number("trace", trace, 0.0, strict=True, sized=True)
        stiffness = math.inf
        if trace_penalty is not None:
            remedy = "Leave it out for the exact constraint."
            stiffness = real_number(
                "trace_penalty", trace_penalty, 0.0, strict=True, sized=True, remedy=remedy
            )
        elif bounds is not None:
            bounds.check_total(trace / 2)
        super().__init__(eta, eta, 0.0, TraceRule(trace, stiffness), bounds)

    @property
    def eta(self) -> float:
        """The weight of ``‖L‖_F²``."""
        return self.beta

    @property
    def trace_penalty(self) -> float | None:
        """The weight of the squared deviation of the trace; None if it is fixed or free."""
        return None if self.trace.fixed or self.trace.free else self.trace.stiffness

    @property
    def target(self) -> float | None:
        """The fixed or penalised trace; None if it is free."""
        return None if self.trace.free else self.trace.target

    def scaled(self, factor: float) -> Frobenius:
        """Return the prior for objectives multiplied by factor."""
        penalty = self.trace_penalty
        penalty = None if penalty is None else penalty * factor
        return Frobenius(self.eta * factor, self.target, penalty, self.bounds)

    def __repr__(self) -> str:
        """Return the figures."""
        trace = "free" if self.target is None else f"{self.target:g}"
        return f"Frobenius(eta={self.eta:g}, trace={trace})"


def frobenius_of(prior: DegreePrior, who: str) -> Frobenius:
    """Return the prior if it is the paper's, or raise ProblemError on behalf of ``who``."""
    if not isinstance(prior, Frobenius):
        raise ProblemError(
            f"{who} takes only the paper's prior η‖L‖²; this problem has "
            f"{type(prior).__name__}. Use CertifiedSolver."
        )
    return prior
