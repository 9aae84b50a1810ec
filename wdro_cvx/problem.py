"""The problem that every formulation and solver is given: data, ambiguity set, regularisation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.bounds import EdgeBounds
from wdro_cvx.errors import ProblemError
from wdro_cvx.nominal import Nominal
from wdro_cvx.validation import real_number, square_matrix


@dataclass(frozen=True, eq=False)
class GraphProblem:
    """Learn a graph: ``min_L R(L) + η‖L‖_F²`` over Laplacians with ``Tr L = trace``.

    Parameters
    ----------
    nominal : Nominal
    ambiguity : AmbiguitySet
        Defines the worst-case risk ``R``.
    eta : float > 0
        The weight of ``‖L‖_F²``; larger values spread the weight over more edges.
    trace : float > 0, optional
        The trace of L, which sets the scale of the graph; the number of vertices by default.
    trace_penalty : float > 0, optional
        The paper's β. If given, ``Tr L = trace`` is replaced by the penalty
        ``β(Tr L - trace)²``: another problem, with another optimum (docs/paper.md E7).
    bounds : EdgeBounds, optional
        What is known of the edges: absent, present, bounded.
    """

    nominal: Nominal
    ambiguity: AmbiguitySet
    eta: float
    trace: float | None = None
    trace_penalty: float | None = None
    bounds: EdgeBounds | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.nominal, Nominal):
            raise ProblemError(
                f"nominal must be a Nominal; it is {type(self.nominal).__name__}. "
                "Use Nominal.from_samples(X)."
            )
        if not isinstance(self.ambiguity, AmbiguitySet):
            raise ProblemError(
                f"ambiguity must be an AmbiguitySet such as WassersteinBall(radius=0.5); "
                f"it is {self.ambiguity!r}."
            )
        remedy = "Without it the problem has no unique solution."
        eta = real_number("eta", self.eta, 0.0, strict=True, sized=True, remedy=remedy)
        trace = self.nominal.d if self.trace is None else self.trace
        object.__setattr__(self, "eta", eta)
        object.__setattr__(self, "trace", real_number("trace", trace, 0.0, strict=True, sized=True))
        if self.trace_penalty is not None:
            remedy = "Leave it out for the exact constraint."
            penalty = real_number(
                "trace_penalty", self.trace_penalty, 0.0, strict=True, sized=True, remedy=remedy
            )
            object.__setattr__(self, "trace_penalty", penalty)
        if self.bounds is not None:
            self._check_bounds(self.bounds)

    def __repr__(self) -> str:
        """Return the figures, and sizes instead of arrays."""
        parts = [repr(self.nominal), repr(self.ambiguity), f"eta={self.eta:g}"]
        if self.target_trace != self.d:
            parts.append(f"trace={self.target_trace:g}")
        if self.trace_penalty is not None:
            parts.append(f"trace_penalty={self.trace_penalty:g}")
        if self.bounds is not None:
            parts.append(repr(self.bounds))
        return f"GraphProblem({', '.join(parts)})"

    def _check_bounds(self, bounds: EdgeBounds) -> None:
        if bounds.d != self.d:
            raise ProblemError(f"bounds are for {bounds.d} vertices; the data have {self.d}.")
        if self.trace_penalty is None:
            bounds.check_total(self.target_trace / 2)

    @property
    def d(self) -> int:
        """The number of vertices."""
        return self.nominal.d

    @cached_property
    def unit(self) -> float:
        """A power of two near the size of the data, of the radius or of √η, the largest of them.

        In this unit nothing is very large or small, and being a power of two it rounds nothing.
        """
        sizes = [float(np.linalg.norm(self.nominal.factor)) / np.sqrt(self.d), np.sqrt(self.eta)]
        degree = self.ambiguity.radius_degree
        if degree > 0:
            sizes.append(self.ambiguity.radius ** (1.0 / degree))
        return float(np.exp2(np.round(np.log2(max(sizes)))))

    @cached_property
    def normalised(self) -> GraphProblem:
        """The same problem for data in its :attr:`unit`."""
        return self.scaled(1.0 / self.unit)

    @property
    def constant(self) -> float:
        """The part of the value that every graph of this problem pays."""
        if self.trace_penalty is not None:
            return 0.0
        return self.ambiguity.constant_risk(self.d, self.target_trace)

    @property
    def target_trace(self) -> float:
        """The trace that is fixed or aimed at (``trace`` with its default filled in)."""
        assert self.trace is not None
        return self.trace

    def value(self, laplacian: ArrayLike) -> float:
        """Return the objective at a Laplacian, the trace penalty included where there is one."""
        matrix = square_matrix("laplacian", laplacian, self.d, ProblemError)
        risk = self.ambiguity.worst_case(self.nominal, matrix).risk
        return risk + self.regularisation(matrix)

    def regularisation(self, laplacian: np.ndarray) -> float:
        """Return ``η‖L‖_F²``, plus the trace penalty where there is one."""
        value = self.eta * float(np.vdot(laplacian, laplacian))
        if self.trace_penalty is not None:
            value += self.trace_penalty * (float(np.trace(laplacian)) - self.target_trace) ** 2
        return value

    def scaled(self, factor: float) -> GraphProblem:
        """Return the same problem for data in another unit, ``factor·x``.

        It has the same Laplacians for solutions and ``factor²`` times the value.
        """
        penalty = self.trace_penalty
        return replace(
            self,
            nominal=self.nominal.scaled(factor),
            ambiguity=self.ambiguity.scaled(factor),
            eta=self.eta * factor**2,
            trace_penalty=None if penalty is None else penalty * factor**2,
        )
