"""The problem that formulations and solvers solve: data, ambiguity set, prior and terms."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.ambiguity.builtin import check_meaning
from wdro_cvx.ambiguity.fits import misfit
from wdro_cvx.ambiguity.smoothness import pair_costs
from wdro_cvx.ambiguity.structure import Structure, Transport
from wdro_cvx.errors import ProblemError, WdroError
from wdro_cvx.graphs.bounds import EdgeBounds
from wdro_cvx.graphs.laplacian import (
    edge_index,
    laplacian_from_weights,
    weights_from_laplacian,
)
from wdro_cvx.graphs.listed_bounds import ListedBounds
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.priors import DegreePrior, Frobenius, LogDegree
from wdro_cvx.priors.base import checked_prior
from wdro_cvx.terms.base import Term
from wdro_cvx.validation import Array, square_matrix

_LEAST_COST = 1e-12  # relative to the mean: signals this close are equal up to rounding
_FARTHEST = 1e50  # largest ratio of a problem's numbers; its fourth power does not overflow
_PROBED = 2000  # vertices up to which an error of a set is explained, at the cost of a worst case


@dataclass(frozen=True, eq=False, init=False, repr=False)
class GraphProblem:
    """The problem ``min_L R(L) + prior(L) + Σ g(L)`` over the Laplacians that the prior allows.

    ``eta`` to ``bounds`` define the paper's prior, ``η‖L‖_F²`` with ``Tr L = trace``; ``prior``
    replaces it by another one.

    Parameters
    ----------
    nominal : Nominal
    ambiguity : AmbiguitySet
        Defines the worst-case risk ``R``.
    eta : float > 0
        The weight of ``‖L‖_F²``; larger values give graphs with more edges. It may be 0 with a term
        such as :class:`LogDet`.
    trace : float > 0, optional
        The trace of L, which sets the scale of the graph; the number of vertices by default.
    trace_penalty : float > 0, optional
        The paper's β. If given, ``Tr L = trace`` is replaced by the penalty
        ``β(Tr L - trace)²``: another problem, with another optimum (docs/paper.md E7).
    bounds : EdgeBounds, optional
        What is known of the edges: absent, present, bounded.
    prior : DegreePrior, optional
        The cost of a graph apart from the data, such as ``LogDegree(alpha, beta)``. It replaces the
        four parameters above.
    terms : iterable of Term, optional
        Convex functions g of the Laplacian, such as ``LogDet(1.0)`` (docs/terms.md).

    Raises
    ------
    ProblemError
        If a part is of another type, the parts do not fit each other, or no graph is optimal.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import GraphProblem, Nominal, WassersteinBall
    >>> nominal = Nominal.from_samples(np.eye(3))
    >>> problem = GraphProblem(nominal, WassersteinBall(0.5), eta=0.1)
    >>> problem.replace(radius=0.2, eta=0.3)
    GraphProblem(Nominal(3 samples of 3 vertices), WassersteinBall(radius=0.2), \
Frobenius(eta=0.3, trace=3))
    """

    nominal: Nominal
    ambiguity: AmbiguitySet
    prior: DegreePrior
    terms: tuple[Term, ...]

    def __init__(
        self,
        nominal: Nominal,
        ambiguity: AmbiguitySet,
        eta: float | None = None,
        trace: float | None = None,
        trace_penalty: float | None = None,
        bounds: EdgeBounds | None = None,
        prior: DegreePrior | None = None,
        terms: Iterable[Term] = (),
    ) -> None:
        # The judge relies on the exact type; a subclass could change its meaning.
        if type(nominal) is not Nominal:
            raise ProblemError(
                f"nominal must be a Nominal; it is {type(nominal).__name__}. "
                "Use Nominal.from_samples(X)."
            )
        if not isinstance(ambiguity, AmbiguitySet):
            raise ProblemError(
                f"ambiguity must be an AmbiguitySet such as WassersteinBall(radius=0.5); "
                f"it is {ambiguity!r}."
            )
        check_meaning(ambiguity)
        if prior is None:
            if eta is None:
                raise ProblemError(
                    "eta is missing: give eta, or a prior such as LogDegree(1.0, 0.1)."
                )
            _check_bounds(bounds, nominal.d)
            target = float(nominal.d) if trace is None else trace
            prior = Frobenius(eta, target, trace_penalty, bounds)
        else:
            _check_alone(prior, eta=eta, trace=trace, trace_penalty=trace_penalty, bounds=bounds)
        if type(prior) not in (DegreePrior, Frobenius, LogDegree):
            raise ProblemError(
                f"prior must be a prior such as LogDegree(alpha=1.0, beta=0.1); it is {prior!r}, "
                f"of type {type(prior).__name__}. The judge does not support subclasses of priors."
            )
        _check_bounds(prior.bounds, nominal.d)
        if type(prior) is DegreePrior:
            prior = checked_prior(prior)
        terms = _checked_terms(terms, nominal.d, prior)
        parts = {"nominal": nominal, "ambiguity": ambiguity, "prior": prior, "terms": terms}
        for name, part in parts.items():
            object.__setattr__(self, name, part)
        if prior.beta == 0.0 and prior.trace.free:
            check_costs(self)

    def replace(self, **changes: Any) -> GraphProblem:
        """Return the problem with some parts changed.

        Parameters
        ----------
        **changes
            Any keyword of the constructor, or ``radius`` for the ambiguity set. Other parts stay;
            ``eta``, ``trace``, ``trace_penalty`` and ``bounds`` belong to the paper's prior.

        Raises
        ------
        ProblemError
            If a part of the paper's prior is named and the problem has another prior.
        """
        parts: dict[str, Any] = {
            "nominal": self.nominal, "ambiguity": self.ambiguity, "terms": self.terms,
        }  # fmt: skip
        if "radius" in changes:
            changes["ambiguity"] = replace(
                changes.get("ambiguity", self.ambiguity), radius=changes.pop("radius")
            )
        names = ("eta", "trace", "trace_penalty", "bounds")
        if isinstance(self.prior, Frobenius) and "prior" not in changes:
            stated = {name: changes.pop(name, getattr(self, name)) for name in names}
            if stated["trace"] is None and self.trace is not None:
                stated["trace"] = float(self.d)  # the default, as in the constructor
            _check_bounds(stated["bounds"], self.d)
            parts["prior"] = Frobenius(**stated)
        else:
            parts["prior"] = self.prior
        return GraphProblem(**{**parts, **changes})

    @property
    def eta(self) -> float | None:
        """The weight of ``‖L‖_F²`` in the paper's prior; None under another prior."""
        return self.prior.eta if isinstance(self.prior, Frobenius) else None

    @property
    def trace(self) -> float | None:
        """The trace in the paper's prior; None if it is free, and under another prior."""
        return self.prior.target if isinstance(self.prior, Frobenius) else None

    @property
    def trace_penalty(self) -> float | None:
        """The paper's β; None if the trace is fixed, and under another prior."""
        return self.prior.trace_penalty if isinstance(self.prior, Frobenius) else None

    @property
    def bounds(self) -> EdgeBounds | None:
        """The bounds of the edge weights, if the prior has any."""
        return self.prior.bounds

    @cached_property
    def structure(self) -> Structure | None:
        """The structure of the ambiguity set, for solvers that exploit it."""
        return self.ambiguity.structure(self.nominal)

    @property
    def multiplier_degree(self) -> float:
        """The power by which the multiplier scales with the data; 0 without a structure."""
        return 0.0 if self.structure is None else self.structure.multiplier_degree

    @cached_property
    def reach(self) -> float:
        """The size of the set, in the unit of the data; 0 if its radius is dimensionless."""
        if isinstance(self.structure, Transport):
            return self.structure.length
        return self.ambiguity.reach

    def __repr__(self) -> str:
        """Return the figures, and sizes instead of arrays."""
        parts = [repr(self.nominal), repr(self.ambiguity), repr(self.prior)]
        if self.prior.bounds is not None:
            parts.append(repr(self.prior.bounds))
        parts += map(repr, self.terms)
        return f"GraphProblem({', '.join(parts)})"

    @cached_property
    def d(self) -> int:
        """The number of vertices."""
        return self.nominal.d

    @cached_property
    def unit(self) -> float:
        """A power of two near the largest of the sizes of data, radius, prior and terms.

        In this unit no number is very large or small. Scaling by a power of two is exact.
        """
        sizes = [
            float(np.linalg.norm(self.nominal.lengths)) / math.sqrt(self.d),
            math.sqrt(max(self.prior.beta, self.prior.kappa)),
            self.reach,
            *(math.sqrt(term.alpha) for term in self.terms),
        ]
        return math.ldexp(1.0, round(math.log2(max(sizes))))

    @cached_property
    def normalised(self) -> GraphProblem:
        """The same problem for data in its :attr:`unit`, after :meth:`check_ratios`."""
        self.check_ratios()
        return self if self.unit == 1.0 else self.scaled(1.0 / self.unit)

    def check_ratios(self) -> None:
        """Raise ProblemError if numbers are so far apart that their products over- or underflow."""
        scale, prior = self.unit**-2, self.prior
        _check_ratio("radius", self.reach / self.unit, "the data")
        if not prior.trace.free:
            _check_ratio("trace", prior.trace.target / self.d, "the number of vertices")
        numbers = {"eta": prior.kappa, "beta": prior.beta, "alpha": prior.alpha}
        if not prior.trace.fixed:
            numbers["trace_penalty"] = prior.trace.stiffness
        numbers |= {f"alpha of {term!r}": term.alpha for term in self.terms}
        for name, number in numbers.items():
            _check_ratio(name, number * scale, "the square of the data")

    @property
    def target_trace(self) -> float:
        """The fixed or penalised trace; d (a mean degree of 1) if the trace is free."""
        return self.prior.trace.target or float(self.d)

    @cached_property
    def constant(self) -> float:
        """The part of the value that is the same for every graph of this problem."""
        trace = self.prior.trace
        return self.ambiguity.constant_risk(self.d, trace.target) if trace.fixed else 0.0

    @cached_property
    def floor(self) -> float:
        """The least denominator of gaps: ``αd`` for the prior's logarithms, plus the terms' own."""
        return self.prior.alpha * self.d + sum(term.floor(self.d) for term in self.terms)

    def value(self, laplacian: ArrayLike) -> float:
        """Return the objective at a Laplacian, including the trace penalty if there is one."""
        matrix = square_matrix("laplacian", laplacian, self.d, ProblemError)
        with self.explained():
            risk = self.ambiguity.worst_case(self.nominal, matrix).risk
        return risk + self.regularisation(matrix)

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Turn an error of NumPy or Python into a ProblemError if the set does not fit the data."""
        try:
            yield
        except WdroError:
            raise
        except (TypeError, ValueError, IndexError) as error:
            told = misfit(self.ambiguity, self.nominal) if self.d <= _PROBED else None
            if told is None:
                raise
            raise ProblemError(f"{type(self.ambiguity).__name__}: {told}.") from error

    def regularisation(self, laplacian: Array) -> float:
        """Return the value of the prior and the terms at a Laplacian."""
        cost = self.prior.value(weights_from_laplacian(laplacian), laplacian.diagonal())
        return cost + sum(term.value(laplacian) for term in self.terms)

    def scaled(self, factor: float) -> GraphProblem:
        """Return the same problem for data in another unit, ``factor·x``.

        It has the same solutions and ``factor²`` times the value.
        """
        return GraphProblem(
            self.nominal.scaled(factor),
            self.ambiguity.scaled(factor),
            prior=self.prior.scaled(factor**2),
            terms=tuple(term.scaled(factor**2) for term in self.terms),
        )


def _check_bounds(bounds: EdgeBounds | None, d: int) -> None:
    if bounds is None:
        return
    if type(bounds) not in (EdgeBounds, ListedBounds):
        raise ProblemError(
            f"bounds must be an EdgeBounds; it is {type(bounds).__name__}. "
            "Use EdgeBounds.from_edges(d, absent=[(0, 1)])."
        )
    if bounds.d != d:
        raise ProblemError(f"bounds are for {bounds.d} vertices; the data have {d}.")


def _checked_terms(terms: Iterable[Term], d: int, prior: DegreePrior) -> tuple[Term, ...]:
    """Return the terms if they are terms and fit the other parts, or raise ProblemError."""
    if isinstance(terms, Term):
        raise ProblemError(f"terms must be a tuple of terms; use terms=({terms!r},).")
    terms = tuple(terms)
    for term in terms:
        if not isinstance(term, Term):
            raise ProblemError(f"terms must be terms such as LogDet(1.0); one is {term!r}.")
        term.check_fits(d, prior)
    if prior.beta == 0.0 and not any(term.replaces_eta for term in terms):
        raise ProblemError(
            "eta must be > 0; it is 0. Without it the problem has no unique solution, unless it "
            "has a term such as LogDet."
        )
    scaled = prior.alpha > 0.0 or any(term.sets_scale for term in terms)
    if prior.trace.free and not scaled:
        raise ProblemError(
            "trace must be a number; it is None, which leaves it free, and then the empty graph is "
            "optimal. Give a trace, or a term that sets the scale of the graph, such as LogDet."
        )
    return terms


def check_costs(problem: GraphProblem) -> None:
    """Raise ProblemError if a weight can grow without limit at no cost: no graph is optimal."""
    heads, tails = edge_index(problem.d)
    costs, _ = pair_costs(problem.nominal, heads, tails)
    bounds = problem.prior.bounds
    unlimited = np.ones(costs.size, bool) if bounds is None else np.isinf(bounds.upper)
    least = _LEAST_COST * float(costs.mean())
    for edge in np.flatnonzero(unlimited & (costs <= least)):
        alone = np.zeros(costs.size)
        alone[edge] = 1.0
        risk = problem.ambiguity.worst_case(problem.nominal, laplacian_from_weights(alone)).risk
        if not risk > least:
            raise ProblemError(
                f"vertices {heads[edge]} and {tails[edge]} have equal signals, so the weight of "
                "their edge grows without limit and no graph is optimal. Remove one of them, or "
                "give eta > 0, a trace, or an ambiguity set that moves signals."
            )


def _check_alone(prior: DegreePrior, **stated: object) -> None:
    """Raise ProblemError if keywords state a second prior."""
    for name, value in stated.items():
        if value is not None:
            raise ProblemError(
                f"{name}={value!r} and prior={prior!r} are two priors; give one of them."
            )


def _check_ratio(name: str, ratio: float, against: str) -> None:
    if ratio != 0.0 and not 1.0 / _FARTHEST <= ratio <= _FARTHEST:
        raise ProblemError(
            f"{name} is {ratio:.3g} times the size of {against}, and they must be within a factor "
            f"of {_FARTHEST:g} of each other; choose another {name}."
        )
