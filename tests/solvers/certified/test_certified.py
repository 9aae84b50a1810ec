from dataclasses import dataclass, field, replace
from functools import cache
from typing import ClassVar

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import dimensions, paper_problem, random_nominal, seeds

from formulations import GeneralRegularized, RobustPremium, SampleAverage
from solvers import registered
from solvers.certified import CertifiedSolver
from wdro_cvx import (
    AmbiguitySet,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
    Status,
    WassersteinBall,
    WorstCase,
    judge,
)

MOMENT_BALLS = [MomentBall(0.5, p=p) for p in (1.5, 2.0, 3.0)]
SETS = [Singleton(), GaussianBall(0.5), WassersteinBall(0.5), *MOMENT_BALLS]
HARD = GraphProblem(random_nominal(np.random.default_rng(0), 8, 3, mean=0), GaussianBall(20.0), 0.1)
# What Clarabel's default tolerances leave, relative.
CONIC = 1e-7


@cache
def conic_value(problem):
    """The optimum by Clarabel, which shares no code with the solver."""
    ambiguity = problem.ambiguity
    if ambiguity.radius == 0.0:
        return SampleAverage(replace(problem, ambiguity=Singleton())).solve().value
    moment = isinstance(ambiguity, MomentBall)
    return (GeneralRegularized if moment else RobustPremium)(problem).solve().value


def assert_honest(problem, solution, tol=1e-6):
    """What the solution says of itself is what the judge finds."""
    verdict = judge(problem, solution.laplacian, solution.certificate)
    assert verdict.notes == ()
    assert solution.value == pytest.approx(verdict.value, rel=1e-12)
    # The judge also tries bounds of its own, so his may be the better one, never the worse one.
    assert verdict.bound >= solution.bound - 1e-11 * abs(solution.bound)
    assert verdict.gap <= solution.gap + 1e-11
    assert (solution.status is Status.SOLVED) == (solution.gap <= tol)
    if solution.status is Status.SOLVED:
        assert verdict.solved(tol)
    return verdict


def assert_brackets(solution, optimum, slack=CONIC):
    assert solution.bound <= optimum + slack * abs(optimum)
    assert solution.value >= optimum - slack * abs(optimum)


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
def test_value_is_the_conic_one(ambiguity):
    problem = paper_problem(12, 20, ambiguity, seed=1)
    solution = CertifiedSolver().solve(problem)
    assert solution.status is Status.SOLVED
    assert solution.iterations <= 40  # the risk is smooth here
    optimum = conic_value(problem)
    assert solution.value == pytest.approx(optimum, rel=1e-6 + CONIC)
    assert_brackets(solution, optimum)
    verdict = assert_honest(problem, solution)
    assert verdict.gap == pytest.approx(solution.gap, abs=1e-11)


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
def test_one_sample_suffices(ambiguity):
    """With N = 1 most directions have no mass: the Gelbrich balls may be in the hard case."""
    problem = paper_problem(10, 1, ambiguity, seed=2)
    solution = CertifiedSolver().solve(problem)
    assert solution.status is Status.SOLVED
    assert_honest(problem, solution)
    assert solution.value == pytest.approx(conic_value(problem), rel=1e-6 + CONIC)


@settings(max_examples=40)
@given(
    seeds,
    dimensions,
    st.sampled_from([1, 3, 30]),
    st.sampled_from([0.05, 0.5, 5.0]),
    st.sampled_from([0.01, 0.3, 3.0]),
    st.sampled_from([None, 0.01, 1.0]),
)
def test_solved_is_what_the_judge_says(seed, d, n, radius, eta, penalty):
    """For few iterations and many, large radii and small, solved or not."""
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, n)
    ambiguity = [GaussianBall(radius), WassersteinBall(radius), MomentBall(radius, p=1.5)][seed % 3]
    problem = GraphProblem(nominal, ambiguity, eta, trace_penalty=penalty)
    for limit in (1, 4, 300):
        assert_honest(problem, CertifiedSolver(max_iterations=limit).solve(problem))


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
def test_tight_tolerances_where_the_risk_is_smooth(ambiguity):
    problem = paper_problem(20, 100, ambiguity)
    solution = CertifiedSolver(tol=1e-9).solve(problem)
    assert solution.status is Status.SOLVED
    assert abs(solution.gap) <= 1e-9
    assert solution.iterations <= 60
    assert_honest(problem, solution, 1e-9)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize("ambiguity", [*SETS, GaussianBall(1.0), GaussianBall(20.0)], ids=repr)
def test_units_of_the_data(ambiguity, factor):
    """Another unit multiplies the value by a square and changes neither graph nor effort."""
    problem = paper_problem(10, 5, ambiguity, eta=0.02, seed=3)
    other = problem.scaled(factor)
    solution = CertifiedSolver().solve(problem)
    rescaled = CertifiedSolver().solve(other)
    assert rescaled.status is solution.status is Status.SOLVED
    assert rescaled.value / factor**2 == pytest.approx(solution.value, rel=2e-6)
    assert rescaled.iterations <= 1.5 * solution.iterations
    assert_honest(other, rescaled)


@pytest.mark.parametrize("n", [1, 20])
@pytest.mark.parametrize(
    "ambiguity", [GaussianBall(0.0), WassersteinBall(0.0), MomentBall(0.0, p=1.0), Singleton()]
)
def test_radius_zero_is_the_sample_average(ambiguity, n):
    problem = paper_problem(10, n, ambiguity)
    solution = CertifiedSolver(tol=1e-12).solve(problem)
    assert solution.status is Status.SOLVED
    assert solution.iterations == 1
    assert solution.value == pytest.approx(conic_value(problem), rel=CONIC)
    assert_honest(problem, solution, 1e-12)


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8])
@pytest.mark.parametrize(
    "problem", [paper_problem(15, 20, GaussianBall(0.5)), HARD], ids=["smooth", "hard"]
)
def test_a_limit_leaves_an_honest_gap(problem, limit):
    # The smooth instance takes 7 iterations to 1e-9, the hard one 12.
    tol = 1e-9
    solution = CertifiedSolver(tol, max_iterations=limit).solve(problem)
    if problem is HARD or limit <= 3:
        assert solution.status is Status.ITERATION_LIMIT
        assert solution.gap > tol
    assert solution.iterations <= limit
    if problem is HARD or solution.status is Status.ITERATION_LIMIT:
        assert solution.iterations == limit
    assert_brackets(solution, conic_value(problem), 1e-6 if problem is HARD else CONIC)
    assert_honest(problem, solution, tol)


@pytest.mark.parametrize(
    "problem",
    [paper_problem(15, 20, GaussianBall(0.5)), paper_problem(15, 20, MomentBall(0.5)), HARD],
    ids=["gaussian", "moment", "hard"],
)
def test_the_callback_sees_the_gap_close(problem):
    seen = []
    solution = CertifiedSolver(1e-8, callback=seen.append).solve(problem)
    iterations = [row.iteration for row in seen]
    assert len(seen) >= 3
    assert np.all(np.diff(iterations) > 0)
    assert np.all(np.diff([row.gap for row in seen]) <= 0)
    assert np.all(np.diff([row.seconds for row in seen]) >= 0)
    assert all(row.bound <= solution.value for row in seen)
    last = seen[-1]
    assert last.iteration == solution.iterations
    # The solution's figures are the judge's, rounded outwards.
    assert last.value == pytest.approx(solution.value, rel=1e-11)
    assert last.bound == pytest.approx(solution.bound, rel=1e-11)
    assert [row["value"] for row in solution.history] == [row.value for row in seen]


def test_progress_goes_to_standard_error(capsys):
    problem = paper_problem(12, 20, GaussianBall(0.5))
    seen = []
    quiet = CertifiedSolver().solve(problem)
    assert capsys.readouterr() == ("", "")
    shown = CertifiedSolver(progress=True, callback=seen.append).solve(problem)
    written = capsys.readouterr()
    assert written.out == ""
    assert "gap" in written.err
    assert f"{shown.iterations} iterations" in written.err
    assert len(seen) == shown.iterations
    np.testing.assert_array_equal(shown.laplacian, quiet.laplacian)


@pytest.mark.parametrize("progress", [False, True])
@pytest.mark.parametrize("stop", [1, 3, 7])
def test_an_interrupt_returns_the_best_so_far(stop, progress, capsys):
    def interrupt(row):
        if row.iteration >= stop:
            raise KeyboardInterrupt

    solution = CertifiedSolver(callback=interrupt, progress=progress).solve(HARD)
    assert solution.status is Status.INTERRUPTED
    assert solution.iterations == stop
    assert 1e-6 < solution.gap < 1.0
    assert_brackets(solution, conic_value(HARD), 1e-6)
    assert_honest(HARD, solution, tol=0.0)


def test_other_exceptions_of_a_callback_pass():
    def fail(row):
        raise RuntimeError("from the callback")

    with pytest.raises(RuntimeError, match="from the callback"):
        CertifiedSolver(callback=fail).solve(HARD)


@pytest.mark.parametrize("penalty", [None, 1.0])
@pytest.mark.parametrize("ambiguity", SETS[1:], ids=repr)
def test_a_neighbour_is_a_good_start(ambiguity, penalty):
    problem = paper_problem(15, 40, ambiguity, trace_penalty=penalty)
    solver = CertifiedSolver(tol=1e-8)
    neighbour = solver.solve(replace(problem, ambiguity=replace(ambiguity, radius=0.51)))
    cold, warm = solver.solve(problem), solver.solve(problem, neighbour)
    again = solver.solve(problem, cold)
    assert warm.status is again.status is Status.SOLVED
    assert warm.iterations <= cold.iterations
    assert again.iterations == 1
    assert warm.value == pytest.approx(cold.value, rel=2e-8)
    assert again.value == pytest.approx(cold.value, rel=1e-14)
    assert_honest(problem, warm, 1e-8)


def test_a_start_that_is_not_feasible_is_not_the_answer():
    """The answer to the penalised problem has another trace, and a value below the optimum."""
    problem = paper_problem(12, 20, GaussianBall(0.5))
    solver = CertifiedSolver()
    penalised = solver.solve(replace(problem, trace_penalty=0.5))
    assert np.trace(penalised.laplacian) < 0.9 * 12
    solution = solver.solve(problem, penalised)
    assert solution.value == pytest.approx(conic_value(problem), rel=1e-6 + CONIC)
    assert_honest(problem, solution)


def test_a_start_that_is_nearly_feasible_is_made_so():
    """A trace short by 1e-7, as conic solvers leave it, gives a value below the optimum."""
    problem = paper_problem(12, 20, GaussianBall(0.5))
    reference = RobustPremium(problem).solve()
    start = replace(reference, laplacian=(1 - 1e-7) * reference.laplacian)
    solution = CertifiedSolver(tol=1e-8).solve(problem, start)
    assert solution.status is Status.SOLVED
    assert solution.gap >= -1e-12
    assert_honest(problem, solution, 1e-8)


@dataclass(frozen=True)
class SpectralBall(AmbiguitySet):
    """``{Θ + Δ : ‖Δ‖₂ ≤ radius}``: the worst is ``Θ + radius·I`` against every PSD matrix."""

    radius_degree: ClassVar[int] = 2

    def worst_case(self, nominal, laplacian):
        moment = nominal.second_moment + self.radius * np.eye(nominal.d)
        return WorstCase(float(np.vdot(moment, laplacian)), moment, float(np.trace(laplacian)))

    def distance(self, nominal, second_moment):
        return float(np.linalg.norm(second_moment - nominal.second_moment, 2))


@dataclass(frozen=True)
class Populations(AmbiguitySet):
    """Any mixture of populations that make up the data in equal parts: a hull of second moments.

    ``radius`` scales the hull about its centre, which is the nominal second moment.
    """

    moments: tuple[np.ndarray, ...] = field(default=(), repr=False)

    radius_degree: ClassVar[int] = 0  # the scale of the hull; the moments carry the unit

    def vertices(self, nominal):
        centre = nominal.second_moment
        return [centre + self.radius * (moment - centre) for moment in self.moments]

    def worst_case(self, nominal, laplacian):
        vertices = self.vertices(nominal)
        risks = [float(np.vdot(vertex, laplacian)) for vertex in vertices]
        worst = int(np.argmax(risks))
        return WorstCase(risks[worst], vertices[worst], 0.0)

    def distance(self, nominal, second_moment):
        """The gauge of the hull, from the shares that the populations have in the moment."""
        system = np.array([*(m.ravel() for m in self.moments)]).T
        unit = np.abs(system).max()
        system = np.vstack([system / unit, np.ones(len(self.moments))])
        right = np.append(second_moment.ravel() / unit, 1.0)
        shares = np.linalg.lstsq(system, right)[0]
        if np.abs(system @ shares - right).max() > 1e-10:
            return np.inf
        return 1.0 - len(self.moments) * float(shares.min())

    def scaled(self, factor):
        return replace(self, moments=tuple(factor**2 * moment for moment in self.moments))


def populations_problem(d, radius=1.0, penalty=None, seed=0):
    rng = np.random.default_rng(seed)
    groups = [random_nominal(rng, d, 2 * d).samples for _ in range(3)]
    moments = tuple(group.T @ group / (2 * d) for group in groups)
    nominal = Nominal.from_samples(np.vstack(groups))
    ambiguity = Populations(radius, moments)
    return GraphProblem(nominal, ambiguity, 0.3, trace_penalty=penalty)


def hull_value(problem):
    """min t + η‖L‖² subject to t ≥ ⟨V, L⟩ for every vertex V, with CVXPY."""
    d = problem.d
    L, t = cp.Variable((d, d), symmetric=True), cp.Variable()
    constraints = [L @ np.ones(d) == 0, cp.upper_tri(L) <= 0]
    constraints += [cp.trace(V @ L) <= t for V in problem.ambiguity.vertices(problem.nominal)]
    cost = t + problem.eta * cp.sum_squares(L)
    if problem.trace_penalty is None:
        constraints.append(cp.trace(L) == problem.target_trace)
    else:
        cost += problem.trace_penalty * cp.square(cp.trace(L) - problem.target_trace)
    return cp.Problem(cp.Minimize(cost), constraints).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("n", [1, 20])
@pytest.mark.parametrize("penalty", [None, 0.5, 10.0])
@pytest.mark.parametrize("radius", [0.1, 3.0])
def test_a_new_set_is_solved_by_its_worst_case_alone(radius, penalty, n):
    problem = paper_problem(10, n, SpectralBall(radius), trace_penalty=penalty)
    shifted = problem.nominal.second_moment + radius * np.eye(10)
    reference = replace(
        problem, nominal=Nominal.from_moments(np.zeros(10), shifted), ambiguity=Singleton()
    )
    solution = CertifiedSolver(tol=1e-9).solve(problem)
    assert solution.status is Status.SOLVED
    assert solution.value == pytest.approx(SampleAverage(reference).solve().value, rel=CONIC)
    assert_honest(problem, solution, 1e-9)


@pytest.mark.parametrize("penalty", [None, 1.0])
@pytest.mark.parametrize(("d", "radius", "seed"), [(5, 1.0, 0), (8, 1.0, 1), (8, 0.3, 2)])
def test_a_new_set_that_is_not_smooth_is_solved_by_the_bundle(d, radius, seed, penalty):
    problem = populations_problem(d, radius, penalty, seed)
    solution = CertifiedSolver(tol=1e-5).solve(problem)
    assert solution.status is Status.SOLVED
    assert_honest(problem, solution, 1e-5)
    optimum = hull_value(problem)
    assert_brackets(solution, optimum)
    assert solution.value == pytest.approx(optimum, rel=1e-5)
    # At the optimum populations tie, so a vertex proves nothing: the certificate is a mixture.
    assert not judge(problem, solution.laplacian).solved(1e-4)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_units_of_the_data_in_the_bundle(factor):
    problem = populations_problem(8, seed=1)
    solution = CertifiedSolver(tol=1e-5).solve(problem)
    other = problem.scaled(factor)
    rescaled = CertifiedSolver(tol=1e-5, max_iterations=1000).solve(other)
    assert rescaled.status is solution.status is Status.SOLVED
    assert rescaled.value / factor**2 == pytest.approx(solution.value, rel=2e-5)
    assert_honest(other, rescaled, 1e-5)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: CertifiedSolver(tol=0.0), "tol"),
        (lambda: CertifiedSolver(tol=-1e-6), "tol"),
        (lambda: CertifiedSolver(tol=np.nan), "tol"),
        (lambda: CertifiedSolver(max_iterations=0), "max_iterations"),
        (lambda: CertifiedSolver(max_iterations=2.5), "max_iterations"),
        (
            lambda: CertifiedSolver().solve(
                HARD, CertifiedSolver().solve(paper_problem(4, 5, SETS[1]))
            ),
            "start",
        ),
    ],
)
def test_bad_use_is_named(build, message):
    with pytest.raises(ProblemError, match=message):
        build()


def test_registration():
    assert registered()["CertifiedSolver"] is CertifiedSolver


def test_degenerate_data_work():
    for samples in (np.zeros((3, 4)), np.array([[1.0, 2.0, 3.0, 4.0]]), np.ones((1, 2))):
        for ambiguity in (GaussianBall(0.5), MomentBall(0.5), SpectralBall(0.5)):
            problem = GraphProblem(Nominal.from_samples(samples), ambiguity, 0.1)
            solution = CertifiedSolver().solve(problem)
            assert solution.status is Status.SOLVED
            assert_honest(problem, solution)
