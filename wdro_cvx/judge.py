"""The judge: is this Laplacian optimal? Answered from the problem alone.

Its arithmetic is its own: a lower bound by weak duality (wdro_cvx/dual_bound.py) from costs that
are never overstated (wdro_cvx/edge_costs.py), for a moment whose membership in the ambiguity set is
seen rather than believed; a value that is never understated. So ``bound ≤ optimum ≤ value`` is
meant as a statement about the data as they are stored (docs/certificates.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx.ambiguity.base import WorstCase
from wdro_cvx.dual_bound import DualBound, dual_bound
from wdro_cvx.edge_costs import nuclear_size, safe_costs
from wdro_cvx.edges import EdgeBrackets, edge_brackets
from wdro_cvx.errors import ProblemError
from wdro_cvx.feasible import infeasibility, repaired
from wdro_cvx.laplacian import Residuals, weights_from_laplacian
from wdro_cvx.moment import DenseMoment, Moment, check_finite
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Certificate, Solution, relative_gap
from wdro_cvx.validation import Array, finite_array, square_matrix

# The worst case that a set returns must attain the risk that it returns; a disagreement beyond this
# and beyond rounding is a defect of the set.
ORACLE_TOLERANCE = 1e-8

_EPS = float(np.finfo(float).eps)
_TINY = float(np.finfo(float).tiny)
_PULLS = 8  # attempts to bring a second moment that is barely outside its set back into it
# If the slack for rounding costs more than this, relative to the value, it is worth a slower and
# sharper computation of the costs.
_WORTHWHILE = 1e-10


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
    distance : float
        How far the nearest feasible Laplacian may be from the optimal one, in the Frobenius norm.
    edges : EdgeBrackets
        Between which weights every edge of the optimal graph lies.
    notes : tuple of str
        What the judge refused, and why.
    """

    value: float
    bound: float
    residuals: Residuals
    oracle_error: float
    constant: float
    distance: float
    edges: EdgeBrackets
    notes: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """The relative gap between ``value`` and ``bound``."""
        return relative_gap(self.value, self.bound, self.constant)

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
    laplacian: ArrayLike | Solution,
    certificate: Certificate | None = None,
) -> Verdict:
    """Recompute feasibility, value and a lower bound for a Laplacian.

    Parameters
    ----------
    problem : GraphProblem
    laplacian : array (d, d) or Solution
        Any matrix; an infeasible one is reported as such and repaired for value and bound. Of a
        solution its Laplacian and its certificate are taken.
    certificate : Certificate, optional
        A second moment and multipliers offered by a solver. They are verified, never trusted, and
        can only raise the bound. Needed where the worst case is not unique (hard case, p = 1).
    """
    if isinstance(laplacian, Solution):
        certificate = laplacian.certificate if certificate is None else certificate
        laplacian = laplacian.laplacian
    matrix = square_matrix("laplacian", laplacian, problem.d, ProblemError)
    _check_certificate(problem, certificate)
    unit = problem.unit
    verdict = _judge(
        problem.normalised,
        matrix,
        None if certificate is None else certificate.scaled(1.0 / unit),
    )
    value, bound, constant = (
        figure * unit**2 for figure in (verdict.value, verdict.bound, verdict.constant)
    )
    return Verdict(
        value, bound, verdict.residuals, verdict.oracle_error, constant,
        verdict.distance, verdict.edges, verdict.notes,
    )  # fmt: skip


def _judge(problem: GraphProblem, matrix: Array, certificate: Certificate | None) -> Verdict:
    found = infeasibility(problem, matrix)
    feasible = repaired(problem, matrix)
    worst = problem.ambiguity.worst_case(problem.nominal, feasible)
    value, oracle_error = _value(problem, feasible, worst)

    notes: list[str] = []
    moments = [("the worst case", worst.moment)]
    multipliers = [2.0 * problem.eta * np.diagonal(feasible)]
    if certificate is not None:
        moments.append(("the certificate", certificate.moment))
        if certificate.degree_multipliers is not None:
            multipliers.append(certificate.degree_multipliers)
    best: DualBound | None = None
    for source, moment in moments:
        inside, share = _pulled_inside(problem, moment)
        if share < 0.5:
            notes.append(f"{source} lies outside the ambiguity set; its bound was not used")
        for bound in _bounds(problem, feasible, inside, multipliers, abs(value)):
            if best is None or bound.value > best.value:
                best = bound
    assert best is not None
    excess = max(value - best.value, 0.0)
    return Verdict(
        value,
        best.value,
        found,
        oracle_error,
        problem.constant,
        float(np.sqrt(excess / problem.eta)),
        edge_brackets(problem, feasible, best.prices, excess),
        tuple(notes),
    )


def _value(problem: GraphProblem, feasible: Array, worst: WorstCase) -> tuple[float, float]:
    """Return the objective, rounded upwards, and how far the set contradicts itself."""
    regularisation = problem.regularisation(feasible)
    # A risk is the maximum of ⟨M, L⟩, so that a perturbation of L by E, which is what rounding
    # amounts to, moves it by at most ‖E‖₂ times the sum of M's singular values.
    top = 2 * float(np.diagonal(feasible).max())
    rounding = (problem.d + 16) * _EPS * top * nuclear_size(worst.moment)
    attained = float(np.vdot(worst.second_moment, feasible))
    value = max(worst.risk, attained) + regularisation
    miss = max(abs(worst.risk - attained) - 2 * rounding, 0.0)
    return value + rounding + 64 * _EPS * abs(value), miss / max(abs(value), _TINY)


def _bounds(
    problem: GraphProblem, feasible: Array, moment: Moment, multipliers: list[Array], size: float
) -> list[DualBound]:
    """Return the bounds of one moment, with sharper costs where the slack for rounding shows."""
    costs, slack = safe_costs(problem.nominal, moment)
    if moment.rows is not None:
        lost = float(slack @ weights_from_laplacian(feasible))
        if lost > _WORTHWHILE * max(size - problem.constant, _TINY):
            costs, _ = safe_costs(problem.nominal, moment, exactly=True)
    return [dual_bound(problem, costs, nu) for nu in multipliers]


def _pulled_inside(problem: GraphProblem, moment: Moment) -> tuple[Moment, float]:
    """Move a second moment towards the nominal one until it is in the set; return the share kept.

    Rounding leaves most of them barely outside. The nominal moment itself, share 0, is always in.
    """
    ambiguity, nominal = problem.ambiguity, problem.nominal
    centre, radius = ambiguity.centre(nominal), ambiguity.radius
    if isinstance(moment, DenseMoment):
        if np.array_equal(moment.matrix, nominal.second_moment):
            return centre, 1.0
        moment = ambiguity.explain(nominal, moment.matrix)
    share = 1.0
    for _ in range(_PULLS):
        candidate = moment.pulled(centre, share) if share < 1.0 else moment
        distance = ambiguity.proved_distance(nominal, candidate)
        if distance <= radius:
            return candidate, share
        if not np.isfinite(distance) or type(moment) is not type(centre):
            break
        # Squared transport distances are convex in M, so the square of the ratio is enough for
        # them; the last factor keeps rounding from asking for the same step again.
        share *= (radius / distance) ** 2 * (1.0 - 1e-14)
    return centre, 0.0


def _check_certificate(problem: GraphProblem, certificate: Certificate | None) -> None:
    """Raise ProblemError unless the pieces of a certificate have the problem's size."""
    if certificate is None:
        return
    if certificate.moment.d != problem.d:
        d = certificate.moment.d
        raise ProblemError(
            f"certificate.second_moment must have shape {(problem.d, problem.d)}; it has {(d, d)}."
        )
    check_finite("certificate.second_moment", certificate.moment)
    if certificate.degree_multipliers is not None:
        nu = finite_array(
            "certificate.degree_multipliers", certificate.degree_multipliers, 1, ProblemError
        )
        if nu.shape != (problem.d,):
            raise ProblemError(
                f"certificate.degree_multipliers must have shape {(problem.d,)}; it has {nu.shape}."
            )
