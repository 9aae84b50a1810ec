"""The judge: is this Laplacian optimal? Answered from the problem alone.

No solver stops by this code. Its lower bound is weak duality twice over: for **any** second moment
``M`` in the ambiguity set and **any** multipliers ``(ν, τ)``,

    -2η‖w‖² - ‖ν‖²/4η + τT/2 - τ²/16β  ≤  optimum,    w_ij = (τ - [𝒯*M]_ij - ν_i - ν_j)₊ / 4η

with ``T`` the trace and the β-term only where the trace is penalised. So the bound holds however
poor the Laplacian, and it is exact at the optimum. Bounds on the weights clip ``w`` instead, and
the first term is the minimum of ``2ηw² - (τ - …)w`` over each edge's interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx.errors import ProblemError
from wdro_cvx.feasible import infeasibility, repaired
from wdro_cvx.laplacian import Residuals, adjoint, edge_index
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Certificate, relative_gap
from wdro_cvx.validation import Array, finite_array, square_matrix

# The worst case that a set returns must attain the risk that it returns. Both are sums of d² terms
# in double precision; a disagreement beyond this is a defect of the set, not rounding.
ORACLE_TOLERANCE = 1e-8

_EPS = float(np.finfo(float).eps)
_TINY = float(np.finfo(float).tiny)
_BISECTIONS = 100
_PULLS = 8  # attempts to bring a second moment that is barely outside its set back into it


@dataclass(frozen=True)
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
    notes : tuple of str
        What the judge refused, and why.
    """

    value: float
    bound: float
    residuals: Residuals
    oracle_error: float
    notes: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """The relative gap between ``value`` and ``bound``."""
        return relative_gap(self.value, self.bound)

    def solved(self, tol: float) -> bool:
        """Say whether the Laplacian is feasible and optimal, both to ``tol``."""
        return (
            self.residuals.largest <= tol
            and abs(self.gap) <= tol
            and self.oracle_error <= ORACLE_TOLERANCE
        )


def judge(
    problem: GraphProblem, laplacian: ArrayLike, certificate: Certificate | None = None
) -> Verdict:
    """Recompute feasibility, value and a lower bound for a Laplacian.

    Parameters
    ----------
    problem : GraphProblem
    laplacian : array (d, d)
        Any matrix; an infeasible one is reported as such and repaired for value and bound.
    certificate : Certificate, optional
        A second moment and multipliers offered by a solver. They are verified, never trusted, and
        can only raise the bound. Needed where the worst case is not unique (hard case, p = 1).
    """
    matrix = square_matrix("laplacian", laplacian, problem.d, ProblemError)
    found = infeasibility(problem, matrix)
    feasible = repaired(problem, matrix)

    worst = problem.ambiguity.worst_case(problem.nominal, feasible)
    attained = float(np.vdot(worst.second_moment, feasible))
    regularisation = problem.regularisation(feasible)
    value = max(worst.risk, attained) + regularisation
    # A sum of d² products is rounded in proportion to its terms, which may dwarf the sum.
    rounding = 64 * _EPS * float(np.linalg.norm(worst.second_moment) * np.linalg.norm(feasible))
    oracle_error = max(abs(worst.risk - attained) - rounding, 0.0) / max(abs(value), _TINY)

    notes: list[str] = []
    moments = [("the worst case", worst.second_moment)]
    multipliers = [2.0 * problem.eta * np.diagonal(feasible)]
    if certificate is not None:
        offered = square_matrix(
            "certificate.second_moment", certificate.second_moment, problem.d, ProblemError
        )
        moments.append(("the certificate", (offered + offered.T) / 2))
        if certificate.degree_multipliers is not None:
            nu = finite_array(
                "certificate.degree_multipliers", certificate.degree_multipliers, 1, ProblemError
            )
            if nu.shape != (problem.d,):
                raise ProblemError(
                    f"certificate.degree_multipliers must have shape {(problem.d,)}; "
                    f"it has {nu.shape}."
                )
            multipliers.append(nu)
    bound = -np.inf
    for source, moment in moments:
        inside, share = _pull_inside(problem, moment)
        if share < 0.5:
            notes.append(f"{source} lies outside the ambiguity set; its bound was not used")
        costs = adjoint(inside)
        bound = max(bound, *(_dual_value(problem, costs, nu) for nu in multipliers))
    return Verdict(value, bound, found, oracle_error, tuple(notes))


def _pull_inside(problem: GraphProblem, moment: Array) -> tuple[Array, float]:
    """Move a second moment towards the nominal one until it is in the set; return the share kept.

    Rounding leaves most of them barely outside. The nominal moment itself, share 0, is always in.
    """
    centre = problem.nominal.second_moment
    radius = problem.ambiguity.radius
    if np.array_equal(moment, centre):
        return centre, 1.0
    share = 1.0
    for _ in range(_PULLS):
        candidate = centre + share * (moment - centre) if share < 1.0 else moment
        distance = problem.ambiguity.distance(problem.nominal, candidate)
        if distance <= radius:
            return candidate, share
        # Squared transport distances are convex in M, so the square of the ratio is enough for
        # them; the last factor keeps rounding from asking for the same step again.
        share *= (radius / distance) ** 2 * (1.0 - 1e-14)
    return centre, share


def _dual_value(problem: GraphProblem, costs: Array, nu: Array) -> float:
    """Return the dual objective at ν and the best τ."""
    heads, tails = edge_index(problem.d)
    eta, half_trace = problem.eta, problem.target_trace / 2
    curvature = 0.0 if problem.trace_penalty is None else 1.0 / (16.0 * problem.trace_penalty)
    if problem.bounds is not None:
        return _bounded_dual_value(problem, costs + nu[heads] + nu[tails], nu, curvature)
    prices = np.sort(costs + nu[heads] + nu[tails])
    # With the k cheapest edges in use the best τ is this; the right k is the largest at which the
    # dearest of them is still below it.
    counts = np.arange(1, prices.size + 1)
    levels = (4 * eta * half_trace + np.cumsum(prices)) / (counts + 8 * eta * curvature)
    used = np.flatnonzero(prices < levels)
    if used.size:
        tau = float(levels[used[-1]])
    elif curvature > 0.0:
        tau = half_trace / (2 * curvature)
    else:
        tau = float(levels[0])
    weights = np.maximum(tau - prices, 0.0) / (4 * eta)
    return float(
        -2 * eta * (weights @ weights)
        - (nu @ nu) / (4 * eta)
        + tau * half_trace
        - curvature * tau**2
    )


def _bounded_dual_value(problem: GraphProblem, prices: Array, nu: Array, curvature: float) -> float:
    """Return the dual objective at ν and nearly the best τ, where weights are bounded.

    Any τ gives a valid bound; bisection on the slope, which falls with τ, finds the best.
    """
    bounds, eta, half_trace = problem.bounds, problem.eta, problem.target_trace / 2
    assert bounds is not None

    def weights(tau: float) -> Array:
        return np.asarray(np.clip((tau - prices) / (4 * eta), bounds.lower, bounds.upper))

    def slope(tau: float) -> float:
        return half_trace - 2 * curvature * tau - float(weights(tau).sum())

    reach = 4 * eta * problem.target_trace + float(np.ptp(prices)) + 1.0
    low, high = float(prices.min()) - reach, float(prices.max()) + reach
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    tau = (low + high) / 2
    chosen = weights(tau)
    edges = float(np.sum((2 * eta * chosen + prices - tau) * chosen))
    return edges - float(nu @ nu) / (4 * eta) + tau * half_trace - curvature * tau**2
