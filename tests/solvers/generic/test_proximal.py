"""The smooth phase: when a step is accepted."""

import numpy as np
from instances import random_nominal

from solvers.bracket.incumbent import Incumbent
from solvers.bracket.requests import alone
from solvers.control.spectral import MEMORY
from solvers.generic.proximal import _first_curvature, _shifted, proximal_descent
from solvers.qp import solve_laplacian_qp
from wdro_cvx import GaussianBall, GraphProblem, LogDegree, MomentBall
from wdro_cvx.graphs.laplacian import laplacian_from_weights


class Watched(Incumbent):
    """Notes the values of the points that steps start from."""

    def evaluation(self, laplacian):
        worst, value = yield from super().evaluation(laplacian)
        self.__dict__.setdefault("seen", {})[id(worst)] = worst, value
        return worst, value

    def bounding(self, source, start, tol):
        self.note(source)
        return (yield from super().bounding(source, start, tol))

    def bounding_at(self, worst, multipliers):
        self.note(worst)
        yield from super().bounding_at(worst, multipliers)

    def note(self, worst):
        taken = self.__dict__.setdefault("taken", {})
        taken[id(worst)] = self.seen[id(worst)][1]


def test_a_step_that_gains_nothing_is_not_taken():
    """A step may be worse than the last, but not than all of the last few.

    In the first instance a step loses less than its length is asked to gain: it shows the sign of
    that gain.
    """
    for seed in (75, 0, 1, 2, 3):
        rng = np.random.default_rng(seed)
        d, eta, radius = int(rng.integers(3, 8)), 10 ** rng.uniform(-3, 0), 10 ** rng.uniform(-2, 1)
        nominal = random_nominal(rng, d, int(rng.choice([3, 10, 30])))
        ball = MomentBall(radius, p=float(rng.choice([1.1, 1.5, 2, 3])))
        watched = Watched(GraphProblem(nominal, ball, eta))
        watched.tol = 1e-9
        alone(proximal_descent(watched, watched.problem.prior.start(d), 60))
        values = list(watched.taken.values())
        assert len(values) >= 2
        for step in range(1, len(values)):
            assert values[step] < max(values[max(0, step - MEMORY) : step])


def test_a_step_from_the_optimum_of_its_moment_starts_at_its_solution():
    """The proximal term moves the multipliers by ρ times the degrees, and nothing else."""
    nominal = random_nominal(np.random.default_rng(0), 8, 20)
    for options in ({"eta": 0.3}, {"prior": LogDegree(1.0, 0.3)}):
        incumbent = Incumbent(GraphProblem(nominal, MomentBall(0.5), **options))
        answer = incumbent.bound_by(nominal.second_moment, None)
        step = incumbent.quadratic(nominal.second_moment, 2.0, answer.laplacian)
        start = _shifted((answer.nu, answer.tau), 2.0, answer.laplacian)
        found = solve_laplacian_qp(step, start, 1e-9)
        assert found.steps == 0
        np.testing.assert_allclose(found.laplacian, answer.laplacian, atol=1e-6)


def test_the_first_curvature_is_that_of_the_risk_in_usual_directions():
    """By second differences of the risk along random Laplacians."""
    rng = np.random.default_rng(4)
    problem = GraphProblem(random_nominal(rng, 30, 60), GaussianBall(0.3), eta=0.3)
    laplacian, bends = problem.prior.start(30), []
    for _ in range(20):
        change = laplacian_from_weights(rng.standard_normal(435))
        change *= 1e-2 / np.linalg.norm(change)
        risk = [
            problem.ambiguity.worst_case(problem.nominal, laplacian + step * change).risk
            for step in (-1.0, 0.0, 1.0)
        ]
        bends.append((risk[0] - 2 * risk[1] + risk[2]) / 1e-4)
    assert 0.5 <= np.median(bends) / _first_curvature(problem, laplacian) <= 2.0
    assert _first_curvature(problem.replace(ambiguity=MomentBall(0.3)), laplacian) == 0.0
