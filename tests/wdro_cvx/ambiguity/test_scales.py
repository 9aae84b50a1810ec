"""Risks are proportional to the Laplacian, also where squares of its entries leave the range."""

import numpy as np
import pytest
from instances import random_laplacian, random_nominal

from wdro_cvx import KLBall, MomentBall, WassersteinBall, registered_ambiguities

D = 5
SETS = [kind.example(radius=0.3, d=D) for kind in registered_ambiguities().values()]
SETS += [MomentBall(0.3, p=p) for p in (1.0, 1.3, 7.0, np.inf)]
SETS += [WassersteinBall(0.3) + KLBall(0.2), WassersteinBall(0.3).in_coordinates(np.eye(D) + 0.1)]


@pytest.mark.parametrize("ball", SETS, ids=repr)
@pytest.mark.parametrize("exponent", [-900, -540, -500, 300, 480])
def test_no_risk_is_lost_at_an_extreme_scale(ball, exponent):
    rng = np.random.default_rng(1)
    nominal, laplacian = random_nominal(rng, D, 7), random_laplacian(rng, D)
    ordinary = ball.worst_case(nominal, laplacian).risk
    found = ball.worst_case(nominal, laplacian * 2.0**exponent)
    assert found.risk / 2.0**exponent == pytest.approx(ordinary, rel=1e-9)
    attained = float(np.sum(found.second_moment * laplacian))
    assert attained == pytest.approx(ordinary, rel=1e-9)
