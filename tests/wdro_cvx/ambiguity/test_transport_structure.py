"""The form that transport sets share, against their own oracles and against CVXPY."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, random_laplacian, random_nominal, seeds

from wdro_cvx import (
    GaussianBall,
    KLBall,
    MahalanobisBall,
    MomentBall,
    MomentUncertainty,
    Nominal,
    Singleton,
    WassersteinBall,
    check_ambiguity,
)
from wdro_cvx.ambiguity import Transport


def sets(radius, d, rng):
    scales = tuple(10 ** rng.uniform(-2, 2, d))
    return [
        GaussianBall(radius),
        WassersteinBall(radius),
        MahalanobisBall(radius, scales=scales),
        MomentUncertainty(radius, mean_radius=0.7, covariance_radius=3.0),
    ]


@given(seeds, dimensions, st.sampled_from([1, 2, 30]), st.sampled_from([0.0, 1e-4, 0.1, 3.0, 1e3]))
def test_the_form_has_the_risk_of_the_set(seed, d, n, radius):
    """Two searches for γ, one by the secular equation: equal to what double precision leaves."""
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, n)
    laplacian = random_laplacian(rng, d)
    for ambiguity in sets(radius, d, rng):
        form = ambiguity.structure(nominal)
        assert form.risk(laplacian) == pytest.approx(
            ambiguity.worst_case(nominal, laplacian).risk, rel=1e-9
        )
        empty = np.zeros((d, d))
        assert form.risk(empty) == 0.0


@pytest.mark.parametrize("radius", [0.3, 5.0])
def test_the_form_is_the_lmi(radius):
    """γ and Z of the LMI, found by Clarabel."""
    rng = np.random.default_rng(0)
    nominal, laplacian = random_nominal(rng, 5, 2), random_laplacian(rng, 5)
    for ambiguity in sets(radius, 5, rng):
        form = ambiguity.structure(nominal)
        r = len(form.factor)
        gamma, corner = cp.Variable(), cp.Variable((r, r), symmetric=True)
        side = laplacian @ form.factor.T
        block = cp.bmat([[gamma * np.diag(form.metric) - laplacian, side], [side.T, corner]])
        premium = gamma * form.radius**2 + cp.trace(corner)
        found = cp.Problem(cp.Minimize(premium), [block >> 0]).solve(solver=cp.CLARABEL)
        found += float(np.vdot(form.factor.T @ form.factor, laplacian))
        found += 0.0 if form.rest is None else float(np.vdot(form.rest, laplacian))
        found += form.reach * float(np.linalg.norm(laplacian))
        assert form.risk(laplacian) == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize("ambiguity", [Singleton(), MomentBall(0.5), KLBall(0.1)])
def test_other_sets_have_none(ambiguity):
    nominal = Nominal.from_samples(np.random.default_rng(0).standard_normal((5, 4)))
    assert not isinstance(ambiguity.structure(nominal), Transport)


def test_a_form_of_another_radius_is_caught():
    class Understated(WassersteinBall):
        def structure(self, nominal):
            return WassersteinBall(0.9 * self.radius).structure(nominal)

    assert check_ambiguity(Understated(1.0)).failures == ("structure",)
