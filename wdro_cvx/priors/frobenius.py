"""The paper's prior: ``η‖L‖_F²``, with the trace fixed or penalised."""

from __future__ import annotations

import math

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.bounds import EdgeBounds
from wdro_cvx.priors.base import DegreePrior
from wdro_cvx.priors.trace import TraceRule
from wdro_cvx.validation import real_number


class Frobenius(DegreePrior):
    """``η‖L‖_F²`` over Laplacians of trace ``trace``.

    Parameters
    ----------
    eta : float > 0
        Larger values spread the weight over more edges.
    trace : float > 0
        The trace, which sets the scale of the graph; :class:`GraphProblem` takes the number of
        vertices where none is given.
    trace_penalty : float > 0, optional
        The paper's β. If given, ``Tr L = trace`` is replaced by the penalty
        ``β(Tr L - trace)²``: another problem, with another optimum (docs/paper.md E7).
    bounds : EdgeBounds, optional
        What is known of the edges: absent, present, bounded.
    """

    def __init__(
        self,
        eta: float,
        trace: float,
        trace_penalty: float | None = None,
        bounds: EdgeBounds | None = None,
    ) -> None:
        remedy = "Without it the problem has no unique solution."
        eta = real_number("eta", eta, 0.0, strict=True, sized=True, remedy=remedy)
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
        """The weight of the squared miss of the trace; None where the trace is fixed."""
        return None if self.trace.fixed else self.trace.stiffness

    def scaled(self, factor: float) -> Frobenius:
        """Return the prior that goes with objectives multiplied by factor."""
        penalty = None if self.trace.fixed else self.trace.stiffness * factor
        return Frobenius(self.eta * factor, self.trace.target, penalty, self.bounds)

    def __repr__(self) -> str:
        """Return the figures."""
        return f"Frobenius(eta={self.eta:g}, trace={self.trace.target:g})"


def frobenius_of(prior: DegreePrior, who: str) -> Frobenius:
    """Return the prior if it is the paper's, or say that ``who`` knows no other."""
    if not isinstance(prior, Frobenius):
        raise ProblemError(
            f"{who} takes only the paper's prior η‖L‖²; this problem has "
            f"{type(prior).__name__}. Use CertifiedSolver."
        )
    return prior
