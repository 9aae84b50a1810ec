"""The smooth phase: what a step must do to be taken."""

import numpy as np
from instances import random_nominal

from solvers.bracket.incumbent import Incumbent
from solvers.bracket.requests import alone
from solvers.control.spectral import MEMORY
from solvers.generic.proximal import _shifted, proximal_descent
from solvers.qp import solve_laplacian_qp
from wdro_cvx import GraphProblem, LogDegree, MomentBall


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
