"""The worst cases of a stack are those of its problems."""

import numpy as np
import pytest
from instances import random_laplacian, random_nominal

from wdro_cvx import (
    ChiSquareBall,
    GaussianBall,
    KLBall,
    MomentBall,
    Nominal,
    Singleton,
    WassersteinBall,
)

SETS = {
    "average": lambda radius: Singleton(),
    "gaussian": GaussianBall,
    "wasserstein": WassersteinBall,
    "moment": MomentBall,
    "moment, p = 4": lambda radius: MomentBall(radius, p=4.0),
    "moment, p = 1": lambda radius: MomentBall(radius, p=1.0),
    "kl": KLBall,
    "chi-square": ChiSquareBall,
}


def assert_same(together, alone, laplacian):
    # The same formulas; only the order of sums differs.
    assert together.risk == pytest.approx(alone.risk, rel=1e-12)
    assert together.multiplier == pytest.approx(alone.multiplier, rel=1e-7)
    assert together.rounding == pytest.approx(alone.rounding, rel=0.1, abs=1e-14 * alone.risk)
    attained = float(np.vdot(together.second_moment, laplacian))
    assert attained == pytest.approx(alone.risk, rel=1e-10)
    np.testing.assert_allclose(together.moment.second_moment, together.second_moment, atol=1e-9)


@pytest.mark.parametrize("kind", SETS)
def test_worst_cases_of_a_stack(kind):
    """Radii from small to so large that the hard case or the limit of a tilt is reached."""
    rng = np.random.default_rng(0)
    for d, n in ((5, 20), (7, 3)):
        radii = [1e-3, 0.1, 1.0, 4.0, 30.0]
        sets = [SETS[kind](radius) for radius in radii]
        nominals = [random_nominal(rng, d, n) for _ in radii]
        if n > d:  # a hard case: no signal has a part along the top eigenvector
            nominals[2] = Nominal.from_samples(np.zeros((n, d)))
        laplacians = np.stack([random_laplacian(rng, d) for _ in radii])
        found = sets[0].worst_cases(sets, nominals, laplacians)
        for ball, nominal, laplacian, worst in zip(sets, nominals, laplacians, found, strict=True):
            assert_same(worst, ball.worst_case(nominal, laplacian), laplacian)


@pytest.mark.parametrize("kind", SETS)
def test_problems_off_the_usual_path_do_not_change_their_neighbours(kind):
    """Radius zero, other numbers of signals, an empty graph, and signals without any variation."""
    rng = np.random.default_rng(2)
    d = 4
    nominals = [random_nominal(rng, d, n) for n in (9, 9, 5, 9)]
    nominals.append(Nominal.from_samples(np.ones((9, d)) + 1e-9 * rng.standard_normal((9, d))))
    sets = [SETS[kind](radius) for radius in (0.3, 0.0, 0.3, 0.3, 0.3)]
    laplacians = np.stack([random_laplacian(rng, d) for _ in sets])
    laplacians[3] = 0.0
    found = sets[0].worst_cases(sets, nominals, laplacians)
    for ball, nominal, laplacian, worst in zip(sets, nominals, laplacians, found, strict=True):
        alone = ball.worst_case(nominal, laplacian)
        assert worst.risk == pytest.approx(alone.risk, rel=1e-9, abs=1e-300)
