"""Checks for authors of terms: value, gradient and conjugate must agree.

The CVXPY expression is not checked here, since this package does not import CVXPY. ``wdro compare
--with`` shows a wrong one, because formulations then disagree with the hand-written solvers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wdro_cvx.errors import describe
from wdro_cvx.graphs.laplacian import laplacian_from_weights, weights_from_laplacian
from wdro_cvx.terms.base import Term
from wdro_cvx.testing.problems import D
from wdro_cvx.testing.report import CheckReport, CheckResult, run_check, subject_of
from wdro_cvx.validation import Array

_EXACT = 1e-9  # identities in double precision
_STEP = 1e-5
_SLOPE = 1e-4  # error of one-sided differences with that step
_HALVINGS = 30  # of a segment; in the last part a smooth slope changes by a billionth
_KINK = 1e-4  # far above that, far below a jump that matters
_SHARES = (0.25, 0.9, 1.1, 3.0)


@dataclass(frozen=True)
class _Case:
    """A term with Laplacians to try it on."""

    term: Term
    laplacian: Array
    other: Array

    @property
    def size(self) -> float:
        values = abs(self.term.value(self.laplacian)) + abs(self.term.value(self.other))
        slope = float(np.abs(self.term.gradient(self.laplacian)).max())
        return max(values + slope, self.term.floor(len(self.laplacian)), 1e-300)


def check_term(term: Term, d: int = D, instances: int = 5, seed: int = 0) -> CheckReport:
    """Check that a term's value, gradient and conjugate are consistent, and return a report.

    Parameters
    ----------
    term : Term
    d : int
        The number of vertices of the random graphs.
    instances : int
        The number of pairs of graphs.
    seed : int
        The seed of the random graphs.

    Returns
    -------
    CheckReport
        One line per property; print it.

    Examples
    --------
    >>> from wdro_cvx import LogDet, check_term
    >>> check_term(LogDet(0.5)).passed
    True
    """
    rng = np.random.default_rng(seed)
    cases = [_Case(term, *(_random_graph(rng, d) for _ in range(2))) for _ in range(instances)]
    results = [run_check("answers", _answers, cases[0], type(term).__name__)]
    if results[0].passed:  # else every check would say the same
        results = [_result(name, check, cases) for name, check in _CHECKS.items()]
    return CheckReport(subject_of(term), tuple(results))


def _answers(case: _Case, kind: str) -> tuple[bool, str]:
    """Check that a term has value, gradient and minorant at all."""
    d = len(case.laplacian)
    try:
        case.term.value(case.laplacian)
        case.term.minorant(case.term.gradient(case.laplacian))
    except Exception as error:  # a user's term may raise anything
        return False, (
            f"raised {describe(error)}; if the term does not fit {d} vertices, write the class "
            f"method example(alpha, d) and check {kind}.example(1.0, {d}), or pass d to check_term"
        )
    return True, "it has value, gradient and minorant"


def _result(name: str, check: Callable[[_Case], float], cases: list[_Case]) -> CheckResult:
    limit = {"gradient": _SLOPE, "smooth": _KINK}.get(name, _EXACT)

    def run() -> tuple[bool, str]:
        miss = float(np.max([check(case) for case in cases]))  # NaN if one of them is
        told = f"missed by {miss:.1e}, {limit:.0e} allowed"
        if miss <= limit:
            return True, told
        boundary = name == "conjugate touches" and miss == np.inf
        return False, f"{told}; {_OUTSIDE if boundary else _REMEDIES[name]}"

    return run_check(name, run)


def _symmetric(case: _Case) -> float:
    slope = case.term.gradient(case.laplacian)
    return float(np.abs(slope - slope.T).max()) / case.size


def _convex(case: _Case) -> float:
    middle = case.term.value((case.laplacian + case.other) / 2)
    chord = (case.term.value(case.laplacian) + case.term.value(case.other)) / 2
    return max(middle - chord, 0.0) / case.size


def _gradient(case: _Case) -> float:
    """Check that one-sided differences bracket the slope, which holds at kinks too."""
    term, here, direction = case.term, case.laplacian, case.other - case.laplacian
    slope = float(np.vdot(term.gradient(here), direction))
    value = term.value(here)
    ahead = (term.value(here + _STEP * direction) - value) / _STEP
    behind = (value - term.value(here - _STEP * direction)) / _STEP
    return max(slope - ahead, behind - slope, 0.0) / case.size


def _jump(case: _Case) -> float:
    """Check that the slope along a segment has no jump, unless the term says that it has kinks.

    The slope of a convex function grows along a segment. The half in which it grows more is halved
    again, until only a jump can be left.
    """
    term, direction = case.term, case.other - case.laplacian
    if not term.smooth:
        return 0.0

    def slope(place: float) -> float:
        return float(np.vdot(term.gradient(case.laplacian + place * direction), direction))

    low, high = 0.0, 1.0
    rise = [slope(low), slope(high)]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        found = slope(middle)
        if found - rise[0] > rise[1] - found:
            high, rise[1] = middle, found
        else:
            low, rise[0] = middle, found
    return abs(rise[1] - rise[0]) / case.size


def _touches(case: _Case) -> float:
    """Check Fenchel's equality at the gradient, without which no bound is sharp."""
    costs, price = case.term.minorant(case.term.gradient(case.laplacian))
    line = float(costs @ weights_from_laplacian(case.laplacian)) - price
    return abs(case.term.value(case.laplacian) - line) / case.size


def _understates(case: _Case) -> float:
    """Check Fenchel's inequality: no slope may promise more than the term is worth."""
    term, rng, missed = case.term, np.random.default_rng(0), 0.0
    d = len(case.laplacian)
    noise = rng.standard_normal((d, d))
    gradient = term.gradient(case.laplacian)
    slopes = [share * gradient for share in _SHARES]
    slopes += [gradient + 0.1 * case.size * (noise + noise.T), noise + noise.T, np.zeros((d, d))]
    graphs = [scale * graph for graph in (case.laplacian, case.other) for scale in (0.01, 1, 100)]
    for slope in slopes:
        costs, price = term.minorant(slope)
        if np.isnan(price) or np.isnan(costs).any():
            return np.nan
        for graph in graphs if price < np.inf else ():
            line = float(costs @ weights_from_laplacian(graph)) - price
            missed = max(missed, (line - term.value(graph)) / (case.size + abs(line)))
    return missed


def _scales(case: _Case) -> float:
    twice, here = case.term.scaled(2.0), case.laplacian
    slope = case.term.gradient(here)
    misses = (
        twice.value(here) - 2 * case.term.value(here),
        twice.minorant(2 * slope)[1] - 2 * case.term.minorant(slope)[1],
    )
    return float(np.max(np.abs(misses))) / case.size


#: Name → what is wrong if the property does not hold.
_REMEDIES = {
    "symmetric gradient": "gradient must return a symmetric matrix; for a function of the weights "
    "it is Y_ij = Y_ji = -½ ∂g/∂w_ij",
    "convex": "value must be a convex function of the Laplacian",
    "gradient": "gradient must be the derivative of value; for a function of the weights it is "
    "Y_ij = Y_ji = -½ ∂g/∂w_ij",
    "smooth": "the gradient jumps: set smooth = False and write slope_near",
    "conjugate touches": "at the gradient Y of L the conjugate must be ⟨Y, L⟩ - g(L), or the "
    "minorant's Σ costs·w - price must be g(L)",
    "conjugate never understates": "conjugate(Y) must be at least ⟨Y, L⟩ - g(L) for every L, and "
    "infinite where that has no bound; value must be rounded upwards",
    "unit of the objective": "scaled(factor) must multiply value and conjugate by factor; override "
    "it if other parameters have that unit",
}
_OUTSIDE = (
    "the conjugate is infinite at the gradient. If the gradient lies on the boundary of its "
    "domain, as that of a norm does, rounding puts it outside: multiply it by 1 - 1e-12 in "
    "gradient and slope_near"
)


#: Name → the error of a property.
_CHECKS: dict[str, Callable[[_Case], float]] = {
    "symmetric gradient": _symmetric,
    "convex": _convex,
    "gradient": _gradient,
    "smooth": _jump,
    "conjugate touches": _touches,
    "conjugate never understates": _understates,
    "unit of the objective": _scales,
}


def _random_graph(rng: np.random.Generator, d: int) -> Array:
    weights = rng.exponential(size=d * (d - 1) // 2) + 0.01
    return laplacian_from_weights(weights * (d / (2 * weights.sum())))
