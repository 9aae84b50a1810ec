"""The judge decides from the problem alone whether a Laplacian is optimal.

It uses no code of the solvers; both call the set's ``worst_case``. The lower bound comes from weak
duality (judging/dual_bound.py) with costs that are never too large (judging/edge_costs.py), for a
moment that is verified to be in the ambiguity set. The value is never too small. So ``bound ≤
optimum ≤ value`` holds for the data as they are stored (docs/certificates.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import scipy
from numpy.typing import ArrayLike

from wdro_cvx.ambiguity.singleton import Singleton
from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.laplacian import Residuals
from wdro_cvx.judging.court import (
    SETTLED,
    USABLE,
    Bound,
    Candidate,
    Court,
    M,
    multipliers_in_range,
    own_multipliers,
    slopes_in_range,
)
from wdro_cvx.judging.edges import EdgeBrackets
from wdro_cvx.moments.composite import checked_copy
from wdro_cvx.moments.points import ReweighedMoment, TransportedMoment
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Certificate, Solution, relative_gap
from wdro_cvx.validation import Array, square_matrix

# A set's worst case must attain its risk. A larger disagreement, beyond rounding, is a defect of
# the set.
ORACLE_TOLERANCE = 1e-8
#: The number of vertices from which edge lists are faster to solve and to judge.
LARGE_FROM = 300

# The largest share of nonzeros of a sparse graph, and their largest mean number in a row.
_DENSITY, _ROW = 0.1, 40


@dataclass(frozen=True, eq=False)
class Verdict:
    """The findings of :func:`judge` about a Laplacian: feasibility, value, bound and edges.

    Attributes
    ----------
    value : float
        The objective at the nearest feasible Laplacian; never below the optimum.
    bound : float
        A lower bound; never above the optimum.
    residuals : Residuals
        The infeasibility of the given Laplacian.
    oracle_error : float
        By how much the set's risk and its worst-case second moment disagree beyond rounding,
        relative to the value.
    constant : float
        The part of the value that is the same for every graph; the gap is relative to the rest.
    floor : float
        The least denominator of the gap.
    distance : float
        A bound of the Frobenius distance from the given Laplacian to the optimal one.
    build_edges : callable
        Computes ``edges`` on first use.
    notes : tuple of str
        What the judge rejected, and why.
    build_certificate : callable or None
        Computes ``certificate`` on first use.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import GraphProblem, Nominal, Singleton, judge
    >>> problem = GraphProblem(Nominal.from_samples(np.eye(3)), Singleton(), eta=0.1)
    >>> path = np.array([[0.75, -0.75, 0.0], [-0.75, 1.5, -0.75], [0.0, -0.75, 0.75]])
    >>> verdict = judge(problem, path)
    >>> verdict.solved(1e-6), verdict.bound < verdict.value, round(verdict.value, 4)
    (False, True, 1.5625)
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
    build_certificate: Callable[[], Certificate] | None = None

    @cached_property
    def certificate(self) -> Certificate | None:
        """The moment and the multipliers, including the trace's, that gave the bound."""
        return None if self.build_certificate is None else self.build_certificate()

    @cached_property
    def edges(self) -> EdgeBrackets:
        """Brackets of the weight of every edge of the optimal graph."""
        return self.build_edges()

    @property
    def gap(self) -> float:
        """The relative gap between ``value`` and ``bound``."""
        return relative_gap(self.value, self.bound, self.constant, self.floor)

    def solved(self, tol: float) -> bool:
        """Say whether the Laplacian is feasible and optimal, both to ``tol``.

        A bound above the value means that the set is inconsistent, so it does not count as solved.
        """
        return is_solved(self.gap, self.residuals.largest, self.oracle_error, tol)

    def __repr__(self) -> str:
        """Return the figures."""
        notes = "".join(f"; {note}" for note in self.notes)
        return (
            f"Verdict({self.bound:.10g} ≤ optimum ≤ {self.value:.10g}, gap {self.gap:.1e}, "
            f"infeasible by {self.residuals.largest:.1e}, {self.edges}{notes})"
        )


def is_solved(gap: float, residual: float, oracle_error: float, tol: float) -> bool:
    """Say whether an answer counts as solved; every part of the toolkit uses this definition.

    Parameters
    ----------
    gap : float
        The gap between the judged value and the best known bound.
    residual, oracle_error : float
        The largest residual and the error of the set's worst case, as in :class:`Verdict`.
    tol : float

    Examples
    --------
    >>> is_solved(gap=1e-7, residual=0.0, oracle_error=0.0, tol=1e-6)
    True
    >>> is_solved(gap=-1e-3, residual=0.0, oracle_error=0.0, tol=1e-6)
    False
    """
    return residual <= tol and 0.0 <= gap <= tol and oracle_error <= ORACLE_TOLERANCE


def judge(
    problem: GraphProblem,
    laplacian: ArrayLike | scipy.sparse.csr_array | Solution,
    certificate: Certificate | None = None,
    *,
    enough: float = 0.0,
) -> Verdict:
    """Return the feasibility, value and lower bound of a Laplacian, recomputed from the problem.

    Parameters
    ----------
    problem : GraphProblem
    laplacian : array (d, d), sparse array or Solution
        Any matrix; an infeasible one is reported and repaired for value and bound. A solution
        provides its Laplacian and certificate. Sparse Laplacians are judged without d × d arrays
        (docs/scale.md). So are large dense ones with few edges, if that proves a gap of 1e-6.
    certificate : Certificate, optional
        A second moment and multipliers from a solver. The judge verifies them, and they can only
        raise the bound. They are needed if the worst case is not unique (hard case, p = 1).
    enough : float
        A relative gap at which no better bound is tried. Solvers pass their tolerance, because the
        bound of their certificate is then usually enough.

    Returns
    -------
    Verdict

    Raises
    ------
    ProblemError
        If the Laplacian or the certificate does not fit the problem, or is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import GraphProblem, Nominal, WassersteinBall, judge
    >>> problem = GraphProblem(Nominal.from_samples(np.eye(4)), WassersteinBall(0.1), eta=0.2)
    >>> complete = (4 * np.eye(4) - np.ones((4, 4))) / 3  # optimal by symmetry
    >>> verdict = judge(problem, complete)
    >>> verdict.solved(1e-9), round(verdict.value, 4)
    (True, 2.3109)
    """
    if isinstance(laplacian, Solution):
        certificate = laplacian.certificate if certificate is None else certificate
        laplacian = laplacian.laplacian
    if scipy.sparse.issparse(laplacian):
        from wdro_cvx.judging.sparse.backend import SparseCourt  # only needed here

        edges = _sparse_matrix(problem, scipy.sparse.csr_array(laplacian))
        checked = _checked(problem, certificate, True)
        return _verdict(SparseCourt(problem, edges), problem, checked, enough)
    matrix = square_matrix("laplacian", laplacian, problem.d, ProblemError)
    certificate = _checked(problem, certificate)
    if _as_edges(problem, matrix, certificate):
        from wdro_cvx.judging.sparse.backend import SparseCourtOfMatrix

        found = _verdict(SparseCourtOfMatrix(problem, matrix), problem, certificate, enough)
        if 0.0 <= found.gap <= SETTLED:
            return found
    from wdro_cvx.judging.dense import DenseCourt  # loaded with the first judgement

    slopes = None if certificate is None else certificate.slopes
    return _verdict(DenseCourt(problem, matrix, slopes), problem, certificate, enough)


def _as_edges(problem: GraphProblem, matrix: Array, certificate: Certificate | None) -> bool:
    """Say whether judging by edge lists is faster for this matrix."""
    if problem.d < LARGE_FROM or certificate is None:
        return False
    from wdro_cvx.judging.sparse.backend import judged_at_scale, taken_at_scale

    if not judged_at_scale(problem):
        return False
    if np.count_nonzero(matrix) > min(_DENSITY * matrix.size, _ROW * problem.d):
        return False
    return taken_at_scale(problem, certificate.moment)


def _sparse_matrix(problem: GraphProblem, matrix: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    if matrix.shape != (problem.d, problem.d):
        raise ProblemError(
            f"laplacian must have shape {(problem.d, problem.d)}; it has {matrix.shape}."
        )
    if np.iscomplexobj(matrix.data):
        raise ProblemError(
            "laplacian must have real entries; it has complex ones. Pass laplacian.real."
        )
    from wdro_cvx.judging.sparse.backend import judged_at_scale

    if not judged_at_scale(problem):
        raise ProblemError(
            f"judge takes sparse Laplacians only for transport balls, moment balls with p = 1, 2 "
            f"or ∞, PairBall and divergence balls, without terms, and without bounds or with a "
            f"list of possible edges; the problem is "
            f"{problem!r}. Pass a dense array."
        )
    found = scipy.sparse.csr_array(matrix.astype(float, copy=False))
    if not found.has_canonical_format:  # duplicate entries count as their sum
        found = found.copy()
        found.sum_duplicates()
    return found


def _verdict(
    court: Court[M], problem: GraphProblem, certificate: Certificate | None, enough: float
) -> Verdict:
    """Compute value and bound in the back end's unit, and return them in the problem's unit."""
    notes: list[str] = []
    offered = None if certificate is None else court.offered(certificate.moment)
    if certificate is not None and offered is None:
        notes.append("the certificate is not a transport within the set and was not used")
    if certificate is not None and not slopes_in_range(certificate.slopes, problem.unit):
        notes.append("the certificate's slopes are out of range and were not used")
    value, oracle_error = court.value(offered)
    square = problem.unit**2
    multipliers = _multipliers(court, problem, certificate, notes)
    worth = max(abs(value - problem.constant / square), problem.floor / square)
    aim = value, max(court.enough, enough) * worth
    best = _best_bound(court, offered, multipliers, aim, notes)
    if best.value == -np.inf:
        notes.append("too many pairs have positive prices at the multipliers; there is no bound")
    excess = max(value - best.value, 0.0)
    return Verdict(
        value * square,
        best.value * square,
        court.residuals,
        oracle_error,
        problem.constant,
        problem.floor,
        _distance(court.prior.reach(problem.d), excess) + court.repair,
        partial(best.edges, excess),
        tuple(notes),
        best.certificate,
    )


def _distance(reach: float, excess: float) -> float:
    """Return ``√(reach·excess)``; infinite if the prior has no squares."""
    return float(np.sqrt(reach * excess)) if np.isfinite(reach) else float("inf")


def _multipliers(
    court: Court[M], problem: GraphProblem, certificate: Certificate | None, notes: list[str]
) -> list[Array]:
    """Return the certificate's multipliers, if they are usable, and the graph's own."""
    own = own_multipliers(court.prior, court.degrees)
    nu = None if certificate is None else certificate.degree_multipliers
    if nu is None:
        return [own]
    if not multipliers_in_range(nu, problem.unit):
        notes.append("the certificate's multipliers are out of range and were not used")
        return [own]
    if not court.takes(nu):
        notes.append("the certificate's multipliers belong to another prior and were not used")
        return [own]
    return [nu / problem.unit**2, own]


def _best_bound(
    court: Court[M],
    offered: Candidate[M] | None,
    multipliers: list[Array],
    aim: tuple[float, float],
    notes: list[str],
) -> Bound:
    """Return the best bound from the certificate's moment and, if necessary, from the worst case.

    ``aim`` is the value and the absolute gap at which to stop.
    """
    value, enough = aim
    best: Bound | None = None
    for source in ("the certificate", "the worst case"):
        # The worst case is built only if the certificate's bound is not good enough.
        candidate = offered if source == "the certificate" else court.own()
        if candidate is None:
            continue
        if candidate.share < USABLE:
            notes.append(f"{source} lies outside the ambiguity set; at most a part of it was used")
            if court.thrifty:
                continue
        for bound in court.bounds(candidate.moment, multipliers, value):
            if best is None or not bound.value <= best.value:
                best = bound
            if value - best.value <= enough or (court.thrifty and np.isfinite(best.value)):
                return best
    assert best is not None
    return best


def _checked(
    problem: GraphProblem, certificate: Certificate | None, at_scale: bool = False
) -> Certificate | None:
    """Return a copy of the certificate with its numbers only, or raise ProblemError.

    At scale, moments of kinds that are not used are not inspected, because they may be d × d.
    """
    if certificate is None:
        return None
    if not isinstance(certificate, Certificate):
        raise ProblemError(
            f"certificate must be a Certificate; it is {type(certificate).__name__}."
        )
    moment = certificate.moment
    # A singleton has one moment; no need to copy the certificate's, which is as large as the data.
    if isinstance(problem.ambiguity, Singleton) and moment.d == problem.d:
        moment = problem.ambiguity.membership(problem.nominal).centre
    elif not at_scale or type(moment) in (TransportedMoment, ReweighedMoment):
        moment = checked_copy("certificate.moment", moment)
    if moment.d != problem.d:
        raise ProblemError(
            f"certificate.second_moment must have shape {(problem.d, problem.d)}; "
            f"it has {(moment.d, moment.d)}."
        )
    # Copied before it is checked, so that the checked numbers are the used ones.
    slopes = certificate.slopes
    copy = Certificate(moment, certificate.degree_multipliers, slopes=slopes)
    if slopes is not None:
        count, shapes = len(problem.terms), {slope.shape for slope in copy.slopes or ()}
        if len(slopes) != count or shapes - {(problem.d, problem.d)}:
            raise ProblemError(
                f"certificate.slopes must be {count} matrices of shape {(problem.d, problem.d)}, "
                f"one for every term; there are {len(slopes)}."
            )
    nu = copy.degree_multipliers
    if nu is not None and nu.shape != (problem.d,):
        raise ProblemError(
            f"certificate.degree_multipliers must have shape {(problem.d,)}; it has {nu.shape}."
        )
    return copy
