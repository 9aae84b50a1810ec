import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import all_sets, dimensions, random_laplacian, random_nominal, seeds

from wdro_cvx import (
    EdgeBounds,
    GraphProblem,
    KLBall,
    LogDegree,
    MahalanobisBall,
    MomentBall,
    MomentUncertainty,
    Nominal,
    PairBall,
    ProblemError,
    Singleton,
    Solution,
    Status,
    WassersteinBall,
    judge,
)
from wdro_cvx.solution import relative_gap

NOMINAL = random_nominal(np.random.default_rng(0), 3, 4)


@given(seeds, dimensions, st.integers(0, 7), st.sampled_from([1e-3, 30.0]), st.booleans())
def test_units_do_not_matter(seed, d, kind, factor, penalised):
    rng = np.random.default_rng(seed)
    penalty = 3.0 if penalised else None
    problem = GraphProblem(random_nominal(rng, d, 4), all_sets(0.5)[kind], 0.2, None, penalty)
    laplacian = random_laplacian(rng, d, trace=0.7 * d)
    expected = factor**2 * problem.value(laplacian)
    assert problem.scaled(factor).value(laplacian) == pytest.approx(expected, rel=1e-9)


def test_value_adds_up():
    problem = GraphProblem(NOMINAL, Singleton(), 0.2, trace=2.0, trace_penalty=5.0)
    laplacian = random_laplacian(np.random.default_rng(1), 3, trace=2.5)
    smoothness = np.mean(np.einsum("ni,ij,nj->n", NOMINAL.samples, laplacian, NOMINAL.samples))
    expected = smoothness + 0.2 * np.sum(laplacian**2) + 5.0 * 0.5**2
    assert problem.value(laplacian) == pytest.approx(expected)


def test_trace_defaults_to_the_number_of_vertices():
    assert GraphProblem(NOMINAL, Singleton(), 0.2).trace == 3


def test_a_part_is_replaced_and_the_others_stay():
    problem = GraphProblem(NOMINAL, MomentBall(0.5, p=1.0), 0.2, 2.0, 5.0)
    bounds = EdgeBounds.from_edges(3, absent=[(0, 1)])
    other = problem.replace(radius=0.3, eta=0.4, bounds=bounds)
    assert other.ambiguity == MomentBall(0.3, p=1.0)
    assert (other.eta, other.trace, other.trace_penalty, other.bounds) == (0.4, 2.0, 5.0, bounds)
    assert other.nominal is problem.nominal
    assert other.replace(trace_penalty=None, bounds=None).trace_penalty is None
    logs = problem.replace(prior=LogDegree(1.0, 0.1, bounds))
    assert (logs.eta, logs.trace, logs.trace_penalty, logs.bounds) == (None, None, None, bounds)
    assert logs.replace(ambiguity=Singleton()).prior is logs.prior
    for part in ({"eta": 0.1}, {"trace": 3.0}, {"trace_penalty": 1.0}, {"bounds": bounds}):
        with pytest.raises(ProblemError, match="are two priors; give one of them"):
            logs.replace(**part)


@pytest.mark.parametrize(
    ("ambiguity", "reach", "degree"),
    [
        (WassersteinBall(0.5), 0.5, 0.0),
        (MahalanobisBall(0.5, (1.0, 4.0, 2.0)), 2.0, 0.0),
        (MomentUncertainty(0.5, 1.0, 8.0), 2.0, 0.0),
        (MomentUncertainty(0.5, 6.0, 8.0), 3.0, 0.0),
        (MomentBall(0.25), 0.5, 0.0),
        (MomentBall(0.25, alpha=3.0), 0.5, -4.0),
        (PairBall(0.25), 0.5, 0.0),
        (KLBall(0.5), 0.0, 2.0),
        (Singleton(), 0.0, 0.0),
    ],
)
def test_the_units_of_a_set_follow_from_its_structure(ambiguity, reach, degree):
    """The length is that of the widest move; the multiplier is a slope of the risk."""
    problem = GraphProblem(NOMINAL, ambiguity, 0.2)
    assert problem.reach == pytest.approx(reach, rel=1e-15)
    assert problem.multiplier_degree == degree
    laplacian = random_laplacian(np.random.default_rng(1), 3)
    here, there = (
        each.ambiguity.worst_case(each.nominal, laplacian).multiplier
        for each in (problem, problem.scaled(2.0))
    )
    assert there == pytest.approx(2.0**degree * here, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eta": 0.0}, "eta must be.*> 0"),
        ({"eta": -1.0}, "eta"),
        ({"eta": np.nan}, "eta"),
        ({"eta": "0.1"}, "eta must be a number"),
        ({"trace": 0.0}, "trace"),
        ({"trace_penalty": 0.0}, "trace_penalty"),
        ({"trace_penalty": np.inf}, "trace_penalty.*exact"),
        ({"ambiguity": 0.5}, "ambiguity must be an AmbiguitySet"),
        ({"nominal": np.eye(3)}, "Nominal.from_samples"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    good = {"nominal": NOMINAL, "ambiguity": WassersteinBall(0.5), "eta": 0.1}
    with pytest.raises(ProblemError, match=message):
        GraphProblem(**good | arguments)


def test_value_wants_a_matrix_of_the_right_size():
    with pytest.raises(ProblemError, match="laplacian"):
        GraphProblem(NOMINAL, Singleton(), 0.1).value(np.eye(2))


def test_gap_is_relative_and_infinite_without_a_bound():
    assert relative_gap(2.0, 1.0) == 0.5
    assert relative_gap(0.0, 0.0) == 0.0
    assert Solution(np.eye(2), 1.0, Status.SOLVED).gap == np.inf
    assert Solution(np.eye(2), 1.0, Status.SOLVED, bound=0.9).gap == pytest.approx(0.1)


def test_a_constant_hides_no_gap_even_where_rounding_takes_the_bound_below_it():
    assert relative_gap(110.0, 105.0, constant=100.0) == 0.5
    assert relative_gap(110.0, 99.0, constant=100.0) == pytest.approx(1.1)
    assert relative_gap(110.0, 99.0, constant=200.0) == relative_gap(110.0, 99.0)
    assert relative_gap(-1.0, -2.0) == 0.5


def test_a_huge_constant_makes_no_graph_optimal():
    """With p = ∞ every graph pays 2εTr; rounding in it is far more than the graphs differ by."""
    star = np.zeros((4, 4))
    star[0, 1:] = star[1:, 0] = -2 / 3
    np.fill_diagonal(star, -star.sum(axis=1))
    signals = np.random.default_rng(0).standard_normal((9, 4))
    for radius in (1e12, 1e13, 1e15):
        problem = GraphProblem(Nominal.from_samples(signals), MomentBall(radius, p=np.inf), 0.3)
        assert not judge(problem, star).solved(1e-6)
