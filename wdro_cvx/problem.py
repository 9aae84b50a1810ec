"""The problem that every formulation and solver is given: data, ambiguity set, prior."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.ambiguity.builtin import check_meaning
from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.bounds import EdgeBounds
from wdro_cvx.graphs.laplacian import weights_from_laplacian
from wdro_cvx.graphs.listed_bounds import ListedBounds
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.priors import DegreePrior, Frobenius, LogDegree
from wdro_cvx.validation import Array, square_matrix

_FARTHEST = 1e50  # of the sizes of a problem's numbers; fourth powers of it are numbers still


@dataclass(frozen=True, eq=False)
class GraphProblem:
    """Learn a graph: ``min_L R(L) + prior(L)`` over the Laplacians that the prior allows.

    The paper's prior, ``η‖L‖_F²`` with ``Tr L = trace``, is stated by keywords; any other is given
    as ``prior``.

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
    prior : DegreePrior, optional
        What a graph costs by itself, such as ``LogDegree(alpha, beta)``, instead of the four above.
    """

    nominal: Nominal
    ambiguity: AmbiguitySet
    eta: float = None  # type: ignore[assignment] # None under a prior that has no eta
    trace: float | None = None
    trace_penalty: float | None = None
    bounds: EdgeBounds | None = None
    prior: DegreePrior = None  # type: ignore[assignment] # that of the keywords if not given

    def __post_init__(self) -> None:
        # Of these the exact types: a subclass may mean something else than the judge reads in it.
        if type(self.nominal) is not Nominal:
            raise ProblemError(
                f"nominal must be a Nominal; it is {type(self.nominal).__name__}. "
                "Use Nominal.from_samples(X)."
            )
        if not isinstance(self.ambiguity, AmbiguitySet):
            raise ProblemError(
                f"ambiguity must be an AmbiguitySet such as WassersteinBall(radius=0.5); "
                f"it is {self.ambiguity!r}."
            )
        check_meaning(self.ambiguity)
        _check_bounds(self.bounds)
        prior = self._stated() if self.eta is not None or self.prior is None else self.prior
        if type(prior) not in (DegreePrior, Frobenius, LogDegree):
            raise ProblemError(
                f"prior must be a prior such as LogDegree(alpha=1.0, beta=0.1); it is {prior!r}, "
                f"of type {type(prior).__name__}. Subclasses of priors are not known to the judge."
            )
        _check_bounds(prior.bounds)
        if prior.bounds is not None and prior.bounds.d != self.d:
            raise ProblemError(f"bounds are for {prior.bounds.d} vertices; the data have {self.d}.")
        object.__setattr__(self, "prior", prior)
        if isinstance(prior, Frobenius):
            # As fields too, so that dataclasses.replace can change one of them.
            penalty = None if prior.trace.fixed else prior.trace.stiffness
            fields = (prior.eta, prior.trace.target, penalty)
            for name, value in zip(("eta", "trace", "trace_penalty"), fields, strict=True):
                object.__setattr__(self, name, value)
        object.__setattr__(self, "bounds", prior.bounds)

    def _stated(self) -> Frobenius:
        """Return the prior that the keywords state."""
        if self.eta is None:
            raise ProblemError("eta is missing: give eta, or a prior such as LogDegree(1.0, 0.1).")
        if self.prior is not None and not isinstance(self.prior, Frobenius):
            raise ProblemError(
                f"eta={self.eta!r} and prior={self.prior!r} are two priors; give one of them."
            )
        if self.bounds is not None and self.bounds.d != self.d:
            raise ProblemError(f"bounds are for {self.bounds.d} vertices; the data have {self.d}.")
        trace = float(self.d) if self.trace is None else self.trace
        return Frobenius(self.eta, trace, self.trace_penalty, self.bounds)

    def __repr__(self) -> str:
        """Return the figures, and sizes instead of arrays."""
        parts = [repr(self.nominal), repr(self.ambiguity), repr(self.prior)]
        if self.prior.bounds is not None:
            parts.append(repr(self.prior.bounds))
        return f"GraphProblem({', '.join(parts)})"

    @property
    def d(self) -> int:
        """The number of vertices."""
        return self.nominal.d

    @cached_property
    def unit(self) -> float:
        """A power of two near the size of the data, of the radius or of the prior, the largest.

        In this unit nothing is very large or small, and being a power of two it rounds nothing.
        """
        sizes = [
            float(np.linalg.norm(self.nominal.lengths)) / np.sqrt(self.d),
            float(np.sqrt(max(self.prior.beta, self.prior.kappa))),
        ]
        sizes.append(self.ambiguity.length)
        return float(np.exp2(np.round(np.log2(max(sizes)))))

    @cached_property
    def normalised(self) -> GraphProblem:
        """The same problem for data in its :attr:`unit`; :meth:`check_ratios` comes first."""
        self.check_ratios()
        return self.scaled(1.0 / self.unit)

    def check_ratios(self) -> None:
        """Raise ProblemError where numbers are too far apart for products of them to be numbers."""
        scale, prior = self.unit**-2, self.prior
        _check_ratio("radius", self.ambiguity.length / self.unit, "the data")
        if not prior.trace.free:
            _check_ratio("trace", prior.trace.target / self.d, "the number of vertices")
        numbers = {"eta": prior.kappa, "beta": prior.beta, "alpha": prior.alpha}
        if not prior.trace.fixed:
            numbers["trace_penalty"] = prior.trace.stiffness
        for name, number in numbers.items():
            _check_ratio(name, number * scale, "the square of the data")

    @property
    def target_trace(self) -> float:
        """The trace that is fixed or aimed at; mean degree 1 where it is free."""
        return self.prior.trace.target or float(self.d)

    @property
    def constant(self) -> float:
        """The part of the value that every graph of this problem pays."""
        trace = self.prior.trace
        return self.ambiguity.constant_risk(self.d, trace.target) if trace.fixed else 0.0

    @property
    def floor(self) -> float:
        """What gaps are relative to where the value is close to zero: ``αd``, or nothing."""
        return self.prior.alpha * self.d

    def value(self, laplacian: ArrayLike) -> float:
        """Return the objective at a Laplacian, the trace penalty included where there is one."""
        matrix = square_matrix("laplacian", laplacian, self.d, ProblemError)
        risk = self.ambiguity.worst_case(self.nominal, matrix).risk
        return risk + self.regularisation(matrix)

    def regularisation(self, laplacian: Array) -> float:
        """Return what the graph costs by itself."""
        return self.prior.value(weights_from_laplacian(laplacian), np.diagonal(laplacian))

    def scaled(self, factor: float) -> GraphProblem:
        """Return the same problem for data in another unit, ``factor·x``.

        It has the same Laplacians for solutions and ``factor²`` times the value.
        """
        return GraphProblem(
            self.nominal.scaled(factor),
            self.ambiguity.scaled(factor),
            prior=self.prior.scaled(factor**2),
        )


def _check_bounds(bounds: EdgeBounds | None) -> None:
    if bounds is not None and type(bounds) not in (EdgeBounds, ListedBounds):
        raise ProblemError(
            f"bounds must be an EdgeBounds; it is {type(bounds).__name__}. "
            "Use EdgeBounds.from_edges(d, absent=[(0, 1)])."
        )


def _check_ratio(name: str, ratio: float, against: str) -> None:
    if ratio != 0.0 and not 1.0 / _FARTHEST <= ratio <= _FARTHEST:
        raise ProblemError(
            f"{name} is {ratio:.3g} times the size of {against}, and they must be within a factor "
            f"of {_FARTHEST:g} of each other; choose another {name}."
        )
