"""The judge: is this Laplacian optimal? Answered from the problem alone.

Its arithmetic is its own: a lower bound by weak duality (wdro_cvx/dual_bound.py) from costs that
are never overstated (wdro_cvx/edge_costs.py), for a moment whose membership in the ambiguity set is
seen rather than believed; a value that is never understated. So ``bound ≤ optimum ≤ value`` is
meant as a statement about the data as they are stored (docs/certificates.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from wdro_cvx.ambiguity.base import WorstCase
from wdro_cvx.ambiguity.smoothness import accumulation
from wdro_cvx.dual_bound import DualBound, dual_bound
from wdro_cvx.edge_costs import nuclear_size, safe_costs
from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.edges import EdgeBrackets, edge_brackets
from wdro_cvx.graphs.laplacian import Residuals, graph_size, inner, weights_from_laplacian
from wdro_cvx.large.judge import judge_large
from wdro_cvx.moment import DenseMoment, Moment, TransportedMoment, checked_copy
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Certificate, Solution, relative_gap
from wdro_cvx.validation import Array, square_matrix

# The worst case that a set returns must attain the risk that it returns; a disagreement beyond this
# and beyond rounding is a defect of the set.
ORACLE_TOLERANCE = 1e-8

_EPS = float(np.finfo(float).eps)
_TINY = float(np.finfo(float).tiny)
_RANGE = 1e60  # of what certificates may hold, in a unit in which the problem is of size 1
_ISOLATED = 1e-12  # a degree below this share of the mean
_PULLS = 8  # attempts to bring a second moment that is barely outside its set back into it
# If the slack for rounding costs more than this, relative to the value, it is worth a slower and
# sharper computation of the costs.
_WORTHWHILE = 1e-10
# A gap that is no wider is left as it is: other multipliers would cost time, and gain nothing.
_ENOUGH = 1e-11


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the judge found.

    Attributes
    ----------
    value : float
        The objective at the nearest feasible Laplacian: never below the optimum.
    bound : float
        Never above the optimum.
    residuals : Residuals
        The feasibility of the Laplacian as it was given.
    oracle_error : float
        By how much the set's risk and its worst-case second moment disagree beyond rounding,
        relative to the value.
    constant : float
        The part of the value that every graph pays; the gap is relative to the rest.
    floor : float
        What the gap is relative to where the value is close to zero.
    distance : float
        How far the Laplacian, as it was given, may be from the optimal one in the Frobenius norm.
    build_edges : callable
        Makes ``edges`` when they are first asked for.
    notes : tuple of str
        What the judge refused, and why.
    """

    value: float
    bound: float
    residuals: Residuals
    oracle_error: float
    constant: float
    floor: float
    distance: float
    build_edges: Callable[[], EdgeBrackets]
    notes: tuple[str, ...] = ()

    @cached_property
    def edges(self) -> EdgeBrackets:
        """Between which weights every edge of the optimal graph lies."""
        return self.build_edges()

    @property
    def gap(self) -> float:
        """The relative gap between ``value`` and ``bound``."""
        return relative_gap(self.value, self.bound, self.constant, self.floor)

    def solved(self, tol: float) -> bool:
        """Say whether the Laplacian is feasible and optimal, both to ``tol``.

        A bound above the value would prove that the set contradicts itself, not that it is solved.
        """
        return (
            self.residuals.largest <= tol
            and 0.0 <= self.gap <= tol
            and self.oracle_error <= ORACLE_TOLERANCE
        )

    def __repr__(self) -> str:
        """Return the figures."""
        notes = "".join(f"; {note}" for note in self.notes)
        return (
            f"Verdict({self.bound:.10g} ≤ optimum ≤ {self.value:.10g}, gap {self.gap:.1e}, "
            f"infeasible by {self.residuals.largest:.1e}, {self.edges}{notes})"
        )


def judge(
    problem: GraphProblem,
    laplacian: ArrayLike | sparse.csr_array | Solution,
    certificate: Certificate | None = None,
) -> Verdict:
    """Recompute feasibility, value and a lower bound for a Laplacian.

    Parameters
    ----------
    problem : GraphProblem
    laplacian : array (d, d), sparse array or Solution
        Any matrix; an infeasible one is reported as such and repaired for value and bound. Of a
        solution its Laplacian and its certificate are taken. A sparse one is judged without a
        single array of d × d numbers (docs/scale.md).
    certificate : Certificate, optional
        A second moment and multipliers offered by a solver. They are verified, never trusted, and
        can only raise the bound. Needed where the worst case is not unique (hard case, p = 1).
    """
    if isinstance(laplacian, Solution):
        certificate = laplacian.certificate if certificate is None else certificate
        laplacian = laplacian.laplacian
    if sparse.issparse(laplacian):
        return _judge_sparse(problem, sparse.csr_array(laplacian), certificate)
    matrix = square_matrix("laplacian", laplacian, problem.d, ProblemError)
    certificate = _checked(problem, certificate)
    normalised, unit = problem.normalised, problem.unit
    verdict = _judge(
        normalised, matrix, None if certificate is None else certificate.scaled(1.0 / unit)
    )
    square = unit**2
    return replace(
        verdict,
        value=verdict.value * square,
        bound=verdict.bound * square,
        constant=verdict.constant * square,
        floor=verdict.floor * square,
    )


def _judge_sparse(
    problem: GraphProblem, matrix: sparse.csr_array, certificate: Certificate | None
) -> Verdict:
    if matrix.shape != (problem.d, problem.d):
        raise ProblemError(
            f"laplacian must have shape {(problem.d, problem.d)}; it has {matrix.shape}."
        )
    if np.iscomplexobj(matrix.data):
        raise ProblemError("laplacian must be of real numbers; it has complex ones.")
    moment = getattr(certificate, "moment", None)
    if certificate is not None and (moment is None or type(moment) is TransportedMoment):
        certificate = _checked(problem, certificate)
    found = judge_large(problem, matrix.astype(float, copy=False), certificate)
    return Verdict(
        found.value, found.bound, found.residuals, 0.0, problem.constant, problem.floor,
        found.distance, partial(getattr, found, "edges"), found.notes,
    )  # fmt: skip


def _judge(problem: GraphProblem, matrix: Array, certificate: Certificate | None) -> Verdict:
    found = problem.prior.infeasibility(matrix)
    feasible = problem.prior.repaired(matrix)
    worst = problem.ambiguity.worst_case(problem.nominal, feasible)
    value, oracle_error = _value(problem, feasible, worst)

    notes: list[str] = []
    repair, rule = float(np.linalg.norm(matrix - feasible)), problem.prior.trace
    degrees = np.diagonal(feasible)
    # Any multipliers will do; those of an isolated vertex would be infinite under logarithms.
    least = _ISOLATED * float(degrees.mean())
    if problem.prior.alpha > 0.0 and least == 0.0:  # an empty graph has no mean to take a share of
        least = 1.0
    multipliers = [problem.prior.slope(np.maximum(degrees, least))]
    # The worst case is built only if the certificate leaves something to be wished for.
    moments: list[tuple[str, Callable[[], Moment]]] = [("the worst case", lambda: worst.moment)]
    if certificate is not None:
        offered = certificate.moment
        moments.insert(0, ("the certificate", lambda: offered))
        nu = certificate.degree_multipliers
        if nu is not None and float(np.abs(nu).max()) <= _RANGE:
            multipliers.insert(0, nu)
        elif nu is not None:
            notes.append("the certificate's multipliers are out of range and were not used")
    best: DualBound | None = None
    enough = value - _ENOUGH * max(abs(value - problem.constant), problem.floor)
    for source, moment in moments:
        if best is not None and best.value >= enough:
            break
        inside, share = _pulled_inside(problem, moment())
        if share < 0.5:
            notes.append(f"{source} lies outside the ambiguity set; its bound was not used")
        for bound in _bounds(problem, feasible, inside, multipliers, abs(value)):
            if best is None or not bound.value <= best.value:
                best = bound
            if best.value >= enough:
                break
    assert best is not None
    excess = max(value - best.value, 0.0)
    return Verdict(
        value,
        best.value,
        replace(found, repair=repair / graph_size(float(np.linalg.norm(feasible)), rule.target)),
        oracle_error,
        problem.constant,
        problem.floor,
        float(np.sqrt(problem.prior.reach(problem.d) * excess)) + repair,
        partial(edge_brackets, problem, feasible, best.prices, excess),
        tuple(notes),
    )


def _value(problem: GraphProblem, feasible: Array, worst: WorstCase) -> tuple[float, float]:
    """Return the objective, rounded upwards, and how far the set contradicts itself."""
    regularisation = problem.regularisation(feasible)
    # A risk is the maximum of ⟨M, L⟩, so that a perturbation of L by E, which is what rounding
    # amounts to, moves it by at most ‖E‖₂ times the sum of M's singular values.
    top = 2 * float(np.diagonal(feasible).max())
    rounding = accumulation(problem.nominal) * top * nuclear_size(worst.moment)
    attained = inner(worst.second_moment, feasible)
    miss = max(abs(worst.risk - attained) - 2 * rounding - (worst.rounding or 0.0), 0.0)
    risk = max(worst.risk, attained)
    if worst.rounding is not None:  # a set that knows what its own arithmetic may have lost
        risk, rounding = worst.risk, worst.rounding
    value = risk + regularisation
    size = abs(worst.risk) + _size_of_terms(problem, feasible)
    return value + rounding + 64 * _EPS * size, miss / max(abs(value), problem.floor, _TINY)


def _size_of_terms(problem: GraphProblem, feasible: Array) -> float:
    """Return the sum of the sizes of what the prior's cost was added up from."""
    alpha, degrees = problem.prior.alpha, np.diagonal(feasible)
    regularisation = problem.regularisation(feasible)
    if alpha == 0.0 or not np.isfinite(regularisation):
        return abs(regularisation)
    logs = alpha * np.log(degrees)
    return abs(regularisation + float(logs.sum())) + float(np.abs(logs).sum()) + alpha * problem.d


def _bounds(
    problem: GraphProblem, feasible: Array, moment: Moment, multipliers: list[Array], size: float
) -> Iterator[DualBound]:
    """Yield the bounds of one moment, with sharper costs where the slack for rounding shows."""
    costs, slack = safe_costs(problem.nominal, moment)
    if moment.rows is not None:
        lost = float(slack @ weights_from_laplacian(feasible))
        if lost > _WORTHWHILE * max(size - problem.constant, _TINY):
            costs, _ = safe_costs(problem.nominal, moment, exactly=True)
    for nu in multipliers:
        yield dual_bound(problem, costs, nu)


def _pulled_inside(problem: GraphProblem, moment: Moment) -> tuple[Moment, float]:
    """Move a second moment towards the nominal one until it is in the set; return the share kept.

    Rounding leaves most of them barely outside. The nominal moment itself, share 0, is always in.
    """
    ambiguity, nominal = problem.ambiguity, problem.nominal
    centre, radius = ambiguity.centre(nominal), ambiguity.radius
    if ambiguity.single_point:  # there is no other
        return centre, 1.0
    if any(piece is not None and np.abs(piece).max() > _RANGE for piece in moment.pieces):
        return centre, 0.0  # in this unit no moment of the set is as large
    if not ambiguity.accepts(nominal, moment) or type(moment) is DenseMoment:
        matrix = moment.second_moment
        if np.array_equal(matrix, nominal.second_moment):
            return centre, 1.0
        try:
            moment = ambiguity.explain(nominal, matrix)
        except np.linalg.LinAlgError:  # a matrix of which nothing can be made
            return centre, 0.0
    share, spare = 1.0, 1e-14
    for _ in range(_PULLS):
        candidate = moment.pulled(centre, share) if share < 1.0 else moment
        distance = ambiguity.proved_distance(nominal, candidate)
        if distance <= radius:
            return candidate, share
        if not np.isfinite(distance) or type(moment) is not type(centre):
            break
        # Squared transport distances are convex in M, so the square of the ratio is enough for
        # them but for rounding, of which a divergence has the more the smaller it is.
        share *= (radius / distance) ** 2 * (1.0 - spare)
        spare *= 16.0
    return centre, 0.0


def _checked(problem: GraphProblem, certificate: Certificate | None) -> Certificate | None:
    """Return a certificate of which nothing but its numbers is left, or raise ProblemError."""
    if certificate is None:
        return None
    if not isinstance(certificate, Certificate):
        raise ProblemError(
            f"certificate must be a Certificate; it is {type(certificate).__name__}."
        )
    moment = certificate.moment
    # The only moment of a set of one point is known, and a copy would be as large as the data.
    if problem.ambiguity.single_point and moment.d == problem.d:
        moment = problem.ambiguity.centre(problem.nominal)
    else:
        moment = checked_copy("certificate.moment", moment)
    if moment.d != problem.d:
        raise ProblemError(
            f"certificate.second_moment must have shape {(problem.d, problem.d)}; "
            f"it has {(moment.d, moment.d)}."
        )
    # Made anew before it is looked at, so that what is looked at is what is used.
    copy = Certificate(moment, certificate.degree_multipliers)
    nu = copy.degree_multipliers
    if nu is not None and nu.shape != (problem.d,):
        raise ProblemError(
            f"certificate.degree_multipliers must have shape {(problem.d,)}; it has {nu.shape}."
        )
    return copy
