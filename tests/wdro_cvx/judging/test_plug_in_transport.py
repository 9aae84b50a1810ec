"""A set of a user's own with a transport structure, and points that are plain matrices."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from solvers import SparseSolver
from wdro_cvx import AmbiguitySet, GraphProblem, Nominal, WassersteinBall, judge
from wdro_cvx.generators import neighbour_graph, smooth_table


@dataclass(frozen=True)
class OwnBall(AmbiguitySet):
    """A Wasserstein ball that does not say how its points show their membership."""

    def worst_case(self, nominal, laplacian):
        return WassersteinBall(self.radius).worst_case(nominal, laplacian)

    def distance(self, nominal, second_moment):
        return WassersteinBall(self.radius).distance(nominal, second_moment)

    def structure(self, nominal):
        return WassersteinBall(self.radius).structure(nominal)


def test_a_transport_is_not_used_where_points_are_matrices():
    rng = np.random.default_rng(0)
    nominal = Nominal.from_samples(smooth_table(neighbour_graph(300, rng), 20, rng))
    known, own = (GraphProblem(nominal, ball(1.0), 0.3) for ball in (WassersteinBall, OwnBall))
    answer = SparseSolver().solve(known)
    graph = sparse.csr_array(answer.laplacian)
    expected = judge(known, graph, answer.certificate)
    verdict = judge(own, graph, answer.certificate)
    assert any("not used" in note for note in verdict.notes)
    assert verdict.value >= expected.bound
    assert verdict.bound <= expected.value
    assert verdict.gap <= 1e-6
