"""Sets in coordinates, sums and small radii: forged certificates against exact arithmetic."""

import importlib.util
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from pathlib import Path

import numpy as np
import pytest
from attacks import exact_objective, forge_pieces
from composed import FAMILIES, attack_composed, draw_composed

from solvers import solve
from wdro_cvx import (
    AmbiguitySet,
    Certificate,
    ChiSquareBall,
    CVaRBall,
    GraphProblem,
    KLBall,
    MetricBall,
    MomentBall,
    MomentUncertainty,
    Nominal,
    PairBall,
    ProblemError,
    SetInCoordinates,
    Singleton,
    TotalVariationBall,
    WassersteinBall,
    WorstCase,
    judge,
)
from wdro_cvx.ambiguity.frames import MatrixFrame
from wdro_cvx.graphs.laplacian import complete_graph
from wdro_cvx.judging.edge_costs import safe_costs
from wdro_cvx.moments.composite import MappedMoment, SumMoment
from wdro_cvx.moments.points import DenseMoment, MeanMoment, ReweighedMoment, TransportedMoment
from wdro_cvx.proof import proof_document
from wdro_cvx.verify import prove


@dataclass(frozen=True)
class Rooted(AmbiguitySet):
    """A user's set, whose distance is NaN for indefinite matrices."""

    radius_degree = 0

    def worst_case(self, nominal, laplacian):
        moment = (1 + self.radius) * nominal.second_moment
        return WorstCase(float(np.vdot(moment, laplacian)), moment, 0.0)

    def distance(self, nominal, second_moment):
        theta = nominal.second_moment
        if np.array_equal(second_moment, theta):
            return 0.0
        with np.errstate(invalid="ignore"):
            roots = np.sqrt(np.linalg.eigvalsh(second_moment + 1e-12 * np.trace(theta)))
        return float(0.0 * roots.sum() + np.linalg.norm(second_moment - theta) / np.trace(theta))


def uneven(seed, least):
    """Return coordinates in general position, and the direction that they shrink."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(2))
    return (left * [1.0, 1.0, least]) @ right, left[:, 2]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("others", [None, KLBall(0.1)], ids=["alone", "in a sum"])
def test_rounding_in_uneven_coordinates_is_squared(seed, others):
    """The moment of y has entries of 1e16, so that mapped back they err by about one."""
    matrix, weak = uneven(seed, 1.1e-8)
    nominal = Nominal.from_samples([weak])
    ball = MomentBall(1e-6).in_coordinates(matrix)
    problem = GraphProblem(nominal, ball if others is None else ball + others, eta=0.1)
    answer = solve(problem, 1e-9, time_limit=2.0)
    truth = exact_objective(problem, answer.laplacian)
    offers = [answer.certificate, *(found for _, found in forge_pieces(problem, answer.laplacian))]
    for certificate in offers:
        assert Fraction(judge(problem, answer.laplacian, certificate).bound) <= truth
    # The changes are mapped alone, so that no digits are lost at all.
    verdict = judge(problem, answer)
    assert verdict.solved(1e-9)
    assert Fraction(verdict.value) >= truth * (1 - Fraction(1, 10**11))
    proved = prove(proof_document(problem, answer))
    assert proved.value - proved.bound <= Fraction(1, 10**9) * proved.value


def test_a_users_set_in_uneven_coordinates_is_never_overrated():
    """Its moment is a matrix of y, whose entries are rounded when they are mapped."""
    for seed in range(5):
        matrix, weak = uneven(seed, 1.1e-8)
        nominal = Nominal.from_samples([weak])
        problem = GraphProblem(nominal, Rooted(0.5).in_coordinates(matrix), eta=0.1)
        graph = complete_graph(3, 3.0)
        average = exact_objective(problem.replace(ambiguity=WassersteinBall(0.0)), graph)
        penalty = Fraction(0.1) * Fraction(float(np.square(graph).sum()))
        truth = average + (average - penalty) / 2  # one and a half times the nominal risk
        inside = problem.ambiguity.inner_nominal(nominal)
        offered = MappedMoment(DenseMoment(1.5 * inside.second_moment), matrix)
        verdict = judge(problem, graph, Certificate(offered))
        assert Fraction(verdict.bound) <= truth + Fraction(1, 10**14)
        assert Fraction(verdict.value) >= truth - Fraction(1, 10**14)


def test_a_factor_that_leaves_nothing_of_a_matrix_proves_nothing():
    """A change divided by 1e-100 overflowed in the search for pieces."""
    nominal = Nominal.from_samples(np.random.default_rng(0).standard_normal((9, 4)))
    ball = 1e-100 * MomentUncertainty(0.3, 1.0, 1.0)
    problem = GraphProblem(nominal, ball, eta=0.1)
    answer = solve(problem, 1e-9)
    assert judge(problem, answer).solved(1e-9)
    forged = DenseMoment(nominal.second_moment + np.eye(4))
    assert judge(problem, answer.laplacian, Certificate(forged)).bound <= answer.value


def test_values_in_a_metric_lose_the_condition_once():
    """An error of the signals y counts through the Laplacian, not through its largest value."""
    matrix, weak = uneven(1, 1e-6)
    nominal = Nominal.from_samples([weak, [0.1, 0.2, 0.4]])
    problem = GraphProblem(nominal, MetricBall(0.3, matrix.tolist()), eta=0.1)
    answer = solve(problem, 1e-7, time_limit=3.0)
    truth = exact_objective(problem, answer.laplacian)
    value = Fraction(judge(problem, answer).value)
    assert truth * (1 - Fraction(1, 10**11)) <= value <= truth * (1 + Fraction(1, 10**7))


@pytest.mark.parametrize("radius", [0.0, 0.5])
def test_a_part_without_a_distance_is_outside(radius):
    nominal = Nominal.from_samples(np.random.default_rng(0).standard_normal((9, 4)))
    problem = GraphProblem(nominal, KLBall(0.1) + Rooted(radius), eta=0.1)
    answer = solve(problem, 1e-8, time_limit=3.0)
    # A large constant direction costs no edge anything, and makes the matrix indefinite.
    far = nominal.second_moment + 100 * np.eye(4) - 1000 * np.ones((4, 4))
    assert np.isnan(Rooted(0.5).distance(nominal, far))
    centre = KLBall(0.1).membership(nominal).centre
    for parts in ((centre, DenseMoment(far)), (centre, DenseMoment(np.inf * far))):
        forged = SumMoment(nominal.second_moment, parts, (1.0, 1.0))
        try:
            verdict = judge(problem, answer.laplacian, Certificate(forged))
        except ProblemError:  # infinite numbers are refused
            continue
        assert verdict.bound <= answer.value
    membership = problem.ambiguity.membership(nominal)
    forged = SumMoment(nominal.second_moment, (centre, DenseMoment(far)), (1.0, 1.0))
    assert membership.distance(forged) == np.inf
    assert membership.distance(
        SumMoment(nominal.second_moment, (centre, DenseMoment(nominal.second_moment)), (1.0, 1.0))
    ) == 0.0  # fmt: skip


@pytest.mark.parametrize("radius", [1e-16, 1e-13])
def test_weights_below_the_rounding_of_ratios_are_counted(radius):
    """Twice the radius is added to the one large sample, and taken from no other."""
    samples = np.random.default_rng(0).standard_normal((1, 3)) * 1e-3
    samples = np.vstack([[1e3, -1e3, 0.5], np.repeat(samples, 9799, axis=0)])
    nominal = Nominal.from_samples(samples)
    problem = GraphProblem(nominal, TotalVariationBall(radius), eta=0.4)
    answer = solve(problem, 1e-12, time_limit=2.0)
    truth = exact_objective(problem, answer.laplacian)
    for times in (1.0, 1.5, 2.0, 2.1):
        weights = np.full(9800, 1 / 9800)
        weights[0] += times * radius
        for up in (False, True):
            if up:
                weights[1:] = np.nextafter(weights[1:], 1.0)
            moment = ReweighedMoment(nominal.samples, weights)
            forged = Certificate(moment, answer.certificate.degree_multipliers)
            assert Fraction(judge(problem, answer.laplacian, forged).bound) <= truth


def test_the_centre_has_no_distance_whatever_its_rounding():
    """1/49 times 49 is not one."""
    nominal = Nominal.from_samples(np.random.default_rng(0).standard_normal((49, 3)))
    for kind in (KLBall, TotalVariationBall):
        membership = kind(0.0).membership(nominal)
        assert membership.distance(membership.centre) == 0.0


def exactly(rows):
    return [[Fraction(float(entry)) for entry in row] for row in rows]


def product(left, right):
    return [[sum(map(mul, row, column)) for column in zip(*right, strict=True)] for row in left]


def test_costs_of_changes_in_uneven_coordinates_are_below_the_exact_ones():
    """Two vertices, so that the one cost is ``aᵀ(Θ + TΔTᵀ)a``, and the same for a mean."""
    rng = np.random.default_rng(4)
    for _ in range(30):
        left, right = (np.linalg.qr(rng.standard_normal((2, 2)))[0] for _ in range(2))
        matrix = (left * [1.0, 1e-7]) @ right
        nominal = Nominal.from_samples(rng.standard_normal((3, 2)))
        inside = nominal.transformed(MatrixFrame(matrix).inverse)
        shift = 1e14 * np.outer(right[1], right[1]) + np.diag(rng.standard_normal(2))
        change = 1e7 * right[1] + rng.standard_normal(2)
        table, turned = exactly(nominal.samples), exactly(matrix)
        signals = [row[0] - row[1] for row in table]
        average = sum(x * x for x in signals) / 3
        side = product([[Fraction(1), Fraction(-1)]], turned)
        found = TransportedMoment(inside.rows, shift=(shift + shift.T) / 2)
        column = [[entry] for entry in side[0]]
        cost = average + product(product(side, exactly(found.shift)), column)[0][0]
        assert Fraction(safe_costs(nominal, MappedMoment(found, matrix))[0][0]) <= cost
        moved = MeanMoment(inside.rows, inside.mean, change)
        step = product(side, [[Fraction(x)] for x in change.tolist()])[0][0]
        cost = average + step * (step + 2 * sum(signals) / 3)
        assert Fraction(safe_costs(nominal, MappedMoment(moved, matrix))[0][0]) <= cost


@pytest.mark.parametrize("kind", [CVaRBall, TotalVariationBall, ChiSquareBall])
def test_no_divergence_is_smaller_than_the_exact_one(kind):
    """All ratios of 1/49 round to less than one, and some exact ones are above."""
    rng = np.random.default_rng(2)
    for count in (2, 7, 49, 107):
        samples = rng.standard_normal((count, 2))
        membership = kind(0.1).membership(Nominal.from_samples(samples))
        for size in (1.1e-16, 1e-15, 1e-9, 0.5):
            weights = (1.0 + rng.integers(-3, 4, count) * size / 3) / count
            moment = ReweighedMoment(membership.centre.samples, weights)
            shares = [Fraction(weight) for weight in moment.weights]
            ratios = [count * share / sum(shares) for share in shares]
            exact = {
                CVaRBall: max(ratios) - 1,
                TotalVariationBall: sum(abs(ratio - 1) for ratio in ratios) / (2 * count),
                ChiSquareBall: sum((ratio - 1) ** 2 for ratio in ratios) / count,
            }[kind]
            found = Fraction(membership.distance(moment))
            assert exact <= found
            assert found <= exact * Fraction(1.01) + Fraction(1e-13)


def test_a_set_with_coordinates_of_its_own_is_not_wrapped():
    """A pair ball takes the form for a Laplacian, which it is not in other coordinates."""
    for base in (PairBall(0.1), WassersteinBall(0.1), KLBall(0.1) + MomentBall(0.1)):
        with pytest.raises(ProblemError, match="form of its own"):
            SetInCoordinates(0.1, base, np.diag([1.0, 2.0]))


def case_name(case):
    return f"{case.family}, {case.term}, {case.data}, {case.seed}"


CASES = draw_composed(30 * len(FAMILIES), seed=6)
QUICK = CASES[: len(FAMILIES)]


@pytest.mark.parametrize(
    "case",
    [*QUICK, *(pytest.param(c, marks=pytest.mark.slow) for c in CASES[len(QUICK) :])],
    ids=case_name,
)
def test_no_certificate_of_a_composed_set_or_term_proves_too_much(case):
    row = attack_composed(case, time_limit=0.3)
    assert not row["fooled"], row
    assert not row["understated"], row
    assert row["apart"] <= 1e-9, row


@pytest.mark.slow
def test_the_campaign_attacks_composed_sets(tmp_path, capsys):
    path = Path(__file__).with_name("campaign.py")
    spec = importlib.util.spec_from_file_location("composed_campaign", path)
    campaign = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(campaign)
    assert campaign.main(["--composed", "--cases", "1", "--output", str(tmp_path)]) == 0
    assert "1 problems" in capsys.readouterr().out
    assert "bounds above the optimum" in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize("size", [1e-90, 1e90])
@pytest.mark.parametrize("ball", [WassersteinBall(0.5), MomentUncertainty(1.0, 0.4, 0.6)])
def test_coordinates_whose_fourth_powers_leave_the_range_are_refused(ball, size):
    """The squares of the eigenvalues of TᵀLT were zero, and so was what moving the rows adds."""
    with pytest.raises(ProblemError, match="must lie between 1e-30 and 1e\\+30"):
        ball.scaled(1.0 / size).in_coordinates(size * np.eye(3))
    nominal = Nominal.from_samples(np.random.default_rng(0).standard_normal((9, 3)))
    graph = complete_graph(3, 3.0)
    unit = 1e-30 if size < 1.0 else 1e30
    same = ball.scaled(1.0 / unit).in_coordinates(unit * np.eye(3))
    values = [judge(GraphProblem(nominal, one, eta=0.1), graph).value for one in (ball, same)]
    assert values[1] == pytest.approx(values[0], rel=1e-12)


@pytest.mark.parametrize("tiny", [Singleton(), MomentUncertainty(1.0, 1e-170, 1e-170)])
def test_a_large_multiple_of_a_tiny_set_does_not_lose_its_radius(tiny):
    """The squares of a shift underflow, so its size was zero and it was in the set."""
    nominal = Nominal.from_samples(np.zeros((2, 3)))
    problem = GraphProblem(nominal, WassersteinBall(0.5) + 1e170 * tiny, eta=0.3)
    shift = 1e-167 * (np.eye(3) - 0.5)
    kept = TransportedMoment(nominal.rows, shift=shift)
    if not isinstance(tiny, Singleton):
        kept = MeanMoment(nominal.rows, nominal.mean, np.zeros(3), shift=shift)
    parts = TransportedMoment(nominal.factor), kept
    forged = Certificate(SumMoment(np.zeros((3, 3)), parts, problem.ambiguity.factors))
    verdict = judge(problem, complete_graph(3, 3.0), forged)
    assert verdict.bound <= verdict.value
