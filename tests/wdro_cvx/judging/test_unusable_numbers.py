"""Numbers that a set or a graph should not have: negative, NaN or of another type."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from wdro_cvx import (
    AmbiguitySet,
    Certificate,
    Frobenius,
    GraphProblem,
    LogDegree,
    LogDet,
    Nominal,
    ProblemError,
    WassersteinBall,
    WorstCase,
    judge,
)
from wdro_cvx.graphs.laplacian import Residuals, complete_graph
from wdro_cvx.moments.points import DenseMoment

NOMINAL = Nominal.from_samples(np.random.default_rng(0).standard_normal((6, 4)))


@dataclass(frozen=True)
class Inflated(AmbiguitySet):
    """Scales the nominal moment by at most 1 + radius, and returns the distance it is given."""

    told: Any = 0.0
    rounding: Any = 0.0

    def worst_case(self, nominal, laplacian):
        """Return the larger multiple."""
        moment = (1 + self.radius) * nominal.second_moment
        return WorstCase(float(np.vdot(moment, laplacian)), moment, 0.0, rounding=self.rounding)

    def distance(self, nominal, second_moment):
        """Return a number that does not depend on the moment."""
        return self.told


@pytest.mark.parametrize("told", [-1.0, -np.inf, np.nan])
def test_a_distance_that_is_no_distance_proves_no_membership(told):
    problem = GraphProblem(NOMINAL, Inflated(0.3, told), eta=0.1)
    graph = complete_graph(4, 4.0)
    far = Certificate(DenseMoment(100.0 * NOMINAL.second_moment), np.zeros(4))
    verdict = judge(problem, graph, far)
    assert verdict.bound <= verdict.value
    assert any("outside" in note for note in verdict.notes)


@pytest.mark.parametrize("told", [None, "0", 0j, np.zeros(2), True])
def test_a_distance_of_another_type_is_an_error(told):
    problem = GraphProblem(NOMINAL, Inflated(0.3, told), eta=0.1)
    far = Certificate(DenseMoment(100.0 * NOMINAL.second_moment), np.zeros(4))
    with pytest.raises(ProblemError, match="distance must be a number"):
        judge(problem, complete_graph(4, 4.0), far)


def test_a_negative_rounding_error_is_an_error():
    """It would lower the value of a graph."""
    problem = GraphProblem(NOMINAL, Inflated(0.3, rounding=-1e-9), eta=0.1)
    with pytest.raises(ProblemError, match="rounding must be ≥ 0"):
        judge(problem, complete_graph(4, 4.0))


class Unsure(LogDet):
    """A term whose minorant has a NaN among its costs."""

    def minorant(self, slope):
        """Return the costs of a determinant with one of them lost."""
        costs, price = super().minorant(slope)
        return np.where(np.arange(costs.size) == 0, np.nan, costs), price


def test_a_cost_that_is_not_a_number_proves_nothing():
    """An edge without a cost is not an edge without weight."""
    parts = NOMINAL, WassersteinBall(0.3)
    problem = GraphProblem(*parts, prior=Frobenius(0.1, None), terms=(Unsure(1.0),))
    assert judge(problem, complete_graph(4, 4.0)).bound == -np.inf


def test_a_violation_that_is_not_a_number_is_below_no_tolerance():
    for place in range(6):
        parts = [0.0] * 6
        parts[place] = np.nan
        assert not Residuals(*parts).largest <= 1.0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("prior", [Frobenius(0.1, 4.0, 2.0), LogDegree(1.0, 0.1)], ids=repr)
@pytest.mark.parametrize("size", [1e300, 4e307, 1.7e308])
def test_an_edge_list_close_to_overflow_has_no_value_and_no_bound_above_one(prior, size):
    problem = GraphProblem(NOMINAL, WassersteinBall(0.3), prior=prior)
    graph = size * (np.eye(4) - 0.25)
    graph[0, 1] /= 2
    verdict = judge(problem, sparse.csr_array(graph))
    assert verdict.value == np.inf
    assert verdict.bound < judge(problem, complete_graph(4, 4.0)).value
    assert not verdict.solved(1e-3)
