"""Every registered set: what it promises, and that its problems are solved and proved."""

from dataclasses import replace

import numpy as np
import pytest
from conformance import SETS, named_set
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import random_nominal, seeds

from solvers import solve
from wdro_cvx import Certificate, GraphProblem, Status, check_ambiguity, judge
from wdro_cvx.moments.points import DenseMoment
from wdro_cvx.testing.problems import PRIORS, D, some_nominal, some_problem

#: Radius and number of samples: smooth at the optimum, and with kinks there.
KINDS = {"smooth": (0.1, 5 * D), "hard": (3.0, 3)}


@pytest.mark.parametrize("name", [name for name in SETS if name != "Singleton"])
@examples(15)
@given(
    seeds, st.integers(2, 9), st.sampled_from([1, 3, 20]), st.sampled_from([1e-3, 0.1, 1.0, 10.0])
)
def test_it_keeps_its_promises(name, seed, d, n, radius):
    """One sample to many, small radii to large ones."""
    nominal = random_nominal(np.random.default_rng(seed), d, n)
    report = check_ambiguity(named_set(name, radius, d), nominal, instances=1, seed=seed)
    assert report.passed, str(report)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", SETS)
def test_its_problems_are_solved_and_no_certificate_proves_too_much(name, prior, kind):
    radius, samples = KINDS[kind]
    problem = some_problem(named_set(name, radius), prior, samples=samples)
    answer = solve(problem, 1e-7)
    verdict = judge(problem, answer)
    assert answer.status is Status.SOLVED
    assert verdict.solved(1e-7)
    assert verdict.notes == ()
    # The objective by its definition; the judge rounds outwards, and by this much at the most.
    assert verdict.value == pytest.approx(problem.value(answer.laplacian), rel=1e-9, abs=1e-9)

    # A certificate of the bare matrix is explained by the set: it proves as much, and not more.
    scale = max(abs(verdict.value), abs(verdict.bound), problem.floor)
    pieces = answer.certificate
    bare = replace(pieces, moment=DenseMoment(pieces.second_moment))
    dense = judge(problem, answer.laplacian, bare)
    assert -1e-12 * scale <= dense.value - dense.bound
    if problem.ambiguity.membership(problem.nominal).explains:
        assert dense.value - dense.bound <= 2e-6 * scale

    # Moments outside the set, however they are told, prove nothing above the optimum.
    centre = problem.nominal.second_moment
    for excess in (1e-3, 1.0):
        outside = centre + (1.0 + excess) * (pieces.second_moment - centre) + excess * np.eye(D)
        forged = Certificate(outside, pieces.degree_multipliers, pieces.trace_multiplier)
        assert judge(problem, answer.laplacian, forged).bound <= verdict.value


@pytest.mark.parametrize("name", SETS)
def test_a_problem_in_another_unit_is_the_same(name):
    problem = some_problem(named_set(name, 0.5), "a trace other than d")
    here, there = solve(problem, 1e-8), solve(problem.scaled(1e3), 1e-8)
    assert there.value == pytest.approx(1e6 * here.value, rel=1e-7)
    # η‖ΔL‖² is at most the two gaps.
    assert np.allclose(there.laplacian, here.laplacian, atol=np.sqrt(2e-8 * here.value / 0.2))


@pytest.mark.parametrize("name", SETS)
def test_four_times_the_trace_with_a_fourth_of_eta_is_the_same(name):
    """``L → 4L`` is exact in floating point, so that not even the number of steps may differ."""
    nominal, ball = some_nominal(), named_set(name, 0.5)
    here = solve(GraphProblem(nominal, ball, 0.2, trace=2.0 * D))
    there = solve(GraphProblem(nominal, ball, 0.05, trace=8.0 * D))
    if ball.structure(nominal) is None and not type(ball).__module__.startswith("wdro_cvx."):
        # At a kink such a set of somebody else is handed to a backend, which rounds otherwise.
        assert there.value == pytest.approx(4.0 * here.value, rel=2e-6)  # the gaps of both
        return
    assert there.iterations == here.iterations
    assert there.value == pytest.approx(4.0 * here.value, rel=1e-12)
    assert np.allclose(there.laplacian, 4.0 * here.laplacian, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("prior", PRIORS)
def test_starts_and_repairs_are_feasible(prior):
    """Nothing that a solver starts from may be off the trace or outside the bounds."""
    rng = np.random.default_rng(0)
    stated = PRIORS[prior]()
    crooked = rng.standard_normal((D, D))
    for laplacian in (stated.start(D), stated.repaired(crooked), stated.repaired(np.zeros((D, D)))):
        assert stated.infeasibility(laplacian).largest <= 1e-14
    target = stated.trace.target or D
    if stated.bounds is None:
        assert np.trace(stated.start(D)) == pytest.approx(target, rel=1e-14)
