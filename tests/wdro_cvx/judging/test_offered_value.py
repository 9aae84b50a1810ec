"""The judge's risk from offered moves is never understated, and sharp for the worst moves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wdro_cvx import GaussianBall, GraphProblem, Nominal, judge
from wdro_cvx.graphs.laplacian import laplacian_from_weights
from wdro_cvx.judging import dense
from wdro_cvx.judging import offered_value as offered
from wdro_cvx.solution import Certificate


def _case(seed, d, radius):
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=d * (d - 1) // 2) ** 2
    nominal = Nominal.from_samples(rng.standard_normal((d + 2, d)))
    laplacian = laplacian_from_weights(weights * d / 2 / weights.sum())
    worst = GaussianBall(radius).worst_case(nominal, laplacian)
    return rng, nominal, laplacian, worst


@given(
    st.integers(0, 10**6), st.integers(2, 12), st.floats(1e-3, 3.0), st.sampled_from([0, 1e-6, 1])
)
def test_it_is_never_understated_whatever_the_moves(seed, d, radius, wild):
    rng, nominal, laplacian, worst = _case(seed, d, radius)
    moves = worst.moment.moved - nominal.factor
    moves = moves * (1.0 + wild * rng.normal()) + wild * radius * rng.standard_normal(moves.shape)
    offered_loss = offered._LOSS
    offered._LOSS = offered._ROUNDED = np.inf  # loose bounds are returned too
    try:
        found = offered.risk_bound(nominal, laplacian, nominal.factor + moves, radius)
    finally:
        offered._LOSS, offered._ROUNDED = offered_loss, 1e-10
    # The reference itself is exact up to a few roundings.
    assert found is None or found >= worst.risk * (1.0 - 1e-14)


def test_the_worst_moves_prove_the_exact_risk():
    _, nominal, laplacian, worst = _case(0, 30, 0.3)
    found = offered.risk_bound(nominal, laplacian, worst.moment.moved, 0.3)
    assert found == pytest.approx(worst.risk, rel=1e-10)


def test_other_moves_prove_nothing():
    _, nominal, laplacian, worst = _case(0, 30, 0.3)
    half = (worst.moment.moved + nominal.factor) / 2
    assert offered.risk_bound(nominal, laplacian, half[::-1], 0.3) is None
    assert offered.risk_bound(nominal, laplacian, nominal.factor, 0.3) is None


def test_the_judge_needs_no_eigenvalues_for_a_good_certificate(monkeypatch):
    _, nominal, laplacian, worst = _case(1, 20, 0.3)
    problem = GraphProblem(nominal, GaussianBall(0.3), eta=0.3)
    proof = Certificate(worst.moment, 0.6 * np.diagonal(laplacian))
    known = judge(problem, laplacian, proof)
    monkeypatch.setattr(dense, "OFFERED_FROM", 2)
    found = judge(problem, laplacian, proof)
    assert known.value <= found.value <= known.value * (1.0 + 1e-10)
    assert found.bound == pytest.approx(known.bound, rel=1e-12)
