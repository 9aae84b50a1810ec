"""The judge's back end for matrices: all sets and bounds, with d × d arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from wdro_cvx.ambiguity.base import WorstCase
from wdro_cvx.ambiguity.smoothness import accumulation
from wdro_cvx.graphs.laplacian import graph_size, inner, weights_from_laplacian
from wdro_cvx.judging.court import (
    SUM,
    WORTHWHILE,
    Bound,
    Candidate,
    Court,
    pulled_inside,
    safe_cost,
)
from wdro_cvx.judging.dual_bound import dual_bound
from wdro_cvx.judging.edge_costs import nuclear_size, safe_costs
from wdro_cvx.judging.edges import edge_brackets
from wdro_cvx.moments.points import Moment
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Certificate
from wdro_cvx.validation import Array

_TINY = float(np.finfo(float).tiny)


class DenseCourt(Court[Moment]):
    """The back end for matrices."""

    thrifty: ClassVar[bool] = False

    def __init__(self, problem: GraphProblem, matrix: Array) -> None:
        self.problem, self.unit = problem.normalised, problem.unit
        self.prior = self.problem.prior
        self.laplacian = self.prior.repaired(matrix)
        self.degrees = np.diagonal(self.laplacian)
        self.repair = float(np.linalg.norm(matrix - self.laplacian))
        size = graph_size(float(np.linalg.norm(self.laplacian)), self.prior.trace.target)
        self.residuals = replace(self.prior.infeasibility(matrix), repair=self.repair / size)

    @cached_property
    def _worst(self) -> WorstCase:
        return self.problem.ambiguity.worst_case(self.problem.nominal, self.laplacian)

    def offered(self, moment: Moment) -> Candidate[Moment]:
        """Return a certificate's moment, pulled into the set; all kinds are supported."""
        return pulled_inside(self.problem, moment.scaled(1.0 / self.unit))

    def value(self, offered: Candidate[Moment] | None) -> tuple[float, float]:
        """Return the objective, rounded upwards, and the inconsistency of the set's worst case."""
        worst, problem = self._worst, self.problem
        # Rounding amounts to a perturbation of L by E. A risk is the maximum of ⟨M, L⟩, so it
        # changes by at most ‖E‖₂ times the sum of M's singular values.
        top = 2 * float(self.degrees.max())
        rounding = accumulation(problem.nominal) * top * nuclear_size(worst.moment)
        attained = inner(worst.second_moment, self.laplacian)
        miss = max(abs(worst.risk - attained) - 2 * rounding - (worst.rounding or 0.0), 0.0)
        risk = max(worst.risk, attained)
        if worst.rounding is not None:  # the set bounds its own rounding error
            risk, rounding = worst.risk, worst.rounding
        cost = safe_cost(self.prior, weights_from_laplacian(self.laplacian), self.degrees, SUM)
        value = risk + rounding + SUM * abs(worst.risk) + cost
        return value, miss / max(abs(value), problem.floor, _TINY)

    def own(self) -> Candidate[Moment]:
        """Return the worst case of the repaired graph, pulled into the set."""
        return pulled_inside(self.problem, self._worst.moment)

    def bounds(self, moment: Moment, multipliers: list[Array], value: float) -> Iterator[Bound]:
        """Yield the bounds of a moment, with sharper costs if the rounding slack matters."""
        problem = self.problem
        costs, slack = safe_costs(problem.nominal, moment)
        if moment.rows is not None:
            lost = float(slack @ weights_from_laplacian(self.laplacian))
            if lost > WORTHWHILE * max(abs(value) - problem.constant, _TINY):
                costs, _ = safe_costs(problem.nominal, moment, exactly=True)
        for nu in multipliers:
            found = dual_bound(problem, costs, nu)
            yield Bound(
                found.value,
                partial(edge_brackets, problem, self.laplacian, found.prices),
                partial(Certificate(moment, nu, found.tau).scaled, self.unit),
            )
