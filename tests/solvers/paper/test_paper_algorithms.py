import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, paper_problem, random_laplacian, random_nominal, seeds

from formulations import GeneralRegularized, RobustPremium, SampleAverage
from solvers import BlockDescent, ProjectedGradient, Solver, bisect_multiplier, register, registered
from solvers.bracket.limits import Clock
from solvers.generic import CertifiedSolver
from solvers.paper.block_descent import fixed_gamma
from solvers.paper.spectral import spectral_descent
from solvers.paper.step import proximal_step
from wdro_cvx import (
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
    Status,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.laplacian import (
    adjoint,
    laplacian_from_weights,
    residuals,
    weights_from_laplacian,
)

PENALTIES = [None, 1.0, 100.0]


@given(seeds, dimensions, st.sampled_from([1e-3, 0.1, 1.0, 20.0]), st.sampled_from([1, 30]))
def test_bisection_finds_the_root_of_the_secular_equation(seed, d, radius, n):
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, d, n), random_laplacian(rng, d)
    expected = GaussianBall(radius).worst_case(nominal, laplacian).multiplier
    found = bisect_multiplier(nominal.second_moment, laplacian, radius)
    assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(3), np.eye(3), 0.0), "radius"),
        ((np.eye(2), np.eye(3), 1.0), "second_moment"),
        ((np.eye(3), np.zeros((3, 3)), 1.0), "no positive eigenvalue"),
        ((np.eye(3), np.eye(3), 1.0, 0.0), "tol"),
    ],
)
def test_bad_bisections_are_named(arguments, message):
    with pytest.raises(ProblemError, match=message):
        bisect_multiplier(*arguments)


@given(seeds, dimensions, st.sampled_from([0.05, 0.5, 5.0]))
def test_fixed_gamma_gradient_by_finite_differences(seed, d, radius):
    rng = np.random.default_rng(seed)
    problem = GraphProblem(random_nominal(rng, d, 5), GaussianBall(radius), 0.1)
    weights = rng.exponential(size=d * (d - 1) // 2)
    laplacian = laplacian_from_weights(weights)
    gamma = 1.3 * np.linalg.eigvalsh(laplacian)[-1]
    gradient = adjoint(fixed_gamma(problem, laplacian, gamma)[1])
    direction = rng.standard_normal(weights.size)
    step = 1e-6
    ahead, behind = (
        fixed_gamma(problem, laplacian_from_weights(weights + s * direction), gamma)[0]
        for s in (step, -step)
    )
    scale = np.linalg.norm(gradient) * np.linalg.norm(direction)
    assert gradient @ direction == pytest.approx((ahead - behind) / (2 * step), abs=1e-6 * scale)


def test_fixed_gamma_is_infinite_outside_its_domain():
    problem = GraphProblem(random_nominal(np.random.default_rng(0), 4, 5), GaussianBall(1.0), 0.1)
    laplacian = random_laplacian(np.random.default_rng(0), 4)
    top = np.linalg.eigvalsh(laplacian)[-1]
    assert fixed_gamma(problem, laplacian, 0.99 * top)[0] == np.inf


@given(seeds, dimensions, st.sampled_from([None, 0.1, 10.0]), st.sampled_from([1e-3, 1.0, 1e3]))
def test_proximal_step_is_optimal(seed, d, penalty, step):
    """No feasible direction decreases the step's own objective."""
    rng = np.random.default_rng(seed)
    problem = GraphProblem(random_nominal(rng, d, 3), Singleton(), 0.1, trace_penalty=penalty)
    m = d * (d - 1) // 2
    point = 3 * rng.standard_normal(m)
    chosen = proximal_step(problem)(point, step)

    def objective(weights):
        return np.sum((weights - point) ** 2) / (2 * step) + problem.prior.trace.penalty(
            2 * weights.sum()
        )

    assert chosen.min() >= 0
    for _ in range(20):
        other = np.maximum(chosen + 0.1 * rng.standard_normal(m), 0)
        if penalty is None:
            other[0] += 1e-9
            other *= d / (2 * other.sum())
        assert objective(chosen) <= objective(other) * (1 + 1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize(("d", "n"), [(6, 3), (12, 30), (20, 50)])
def test_block_descent_reaches_the_conic_value(d, n, penalty):
    problem = paper_problem(d, n, GaussianBall(0.5), trace_penalty=penalty, seed=d)
    reference = RobustPremium(problem).solve()
    for solver in (BlockDescent(), ProjectedGradient()):
        solution = solver.solve(problem)
        assert solution.status is Status.SOLVED
        assert solution.value == pytest.approx(reference.value, rel=1e-6)
        assert judge(problem, solution.laplacian).solved(1e-6)
        assert solution.bound <= reference.value * (1 + 1e-8) <= solution.value * (1 + 2e-8)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("p", [1.0, 4 / 3, 1.5, 2.0, 3.0, 4.0, np.inf])
def test_projected_gradient_reaches_the_conic_value(p, penalty):
    problem = paper_problem(15, 20, MomentBall(0.5, p=p), trace_penalty=penalty, seed=1)
    reference = GeneralRegularized(problem).solve()
    solution = ProjectedGradient().solve(problem)
    assert solution.status is Status.SOLVED
    assert solution.value == pytest.approx(reference.value, rel=1e-6)
    assert judge(problem, solution.laplacian, solution.certificate).solved(1e-6)
    assert solution.bound <= reference.value * (1 + 1e-8)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_units_of_the_data(scale):
    problem = paper_problem(10, 20, GaussianBall(0.5)).scaled(scale)
    reference = RobustPremium(problem).solve().value
    for solver in (BlockDescent(), ProjectedGradient()):
        solution = solver.solve(problem)
        assert solution.status is Status.SOLVED
        assert solution.value == pytest.approx(reference, rel=1e-6)


def test_radius_zero_is_the_sample_average():
    reference = SampleAverage(paper_problem(10, 20, Singleton())).solve().value
    for solver, ambiguity in [
        (BlockDescent(), WassersteinBall(0.0)),
        (ProjectedGradient(), GaussianBall(0.0)),
        (ProjectedGradient(), MomentBall(0.0, p=1.0)),
        (ProjectedGradient(), Singleton()),
    ]:
        solution = solver.solve(paper_problem(10, 20, ambiguity))
        assert solution.value == pytest.approx(reference, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [BlockDescent(1e-6, 20, 1000), ProjectedGradient()])
@pytest.mark.parametrize("seed", range(6))
def test_the_hard_case_is_never_called_solved_when_it_is_not(solver, seed):
    """Few samples and a large radius: the risk is not smooth at the optimum."""
    nominal = random_nominal(np.random.default_rng(seed), 8, 3, mean=0.0)
    problem = GraphProblem(nominal, GaussianBall(20.0), 0.1)
    solution = solver.solve(problem)
    optimum = RobustPremium(problem).solve().value
    assert solution.bound <= optimum * (1 + 1e-8)
    assert solution.value >= optimum * (1 - 1e-8)
    if solution.status is Status.SOLVED:
        assert solution.value <= optimum * (1 + 1e-6)


@pytest.mark.parametrize(
    ("d", "n", "radius", "eta"),
    [
        (8, 1, 1.0, 0.061085887486897604),
        pytest.param(5, 2, 10.0, 0.01961865091017712, marks=pytest.mark.slow),
    ],
)
def test_gradients_near_the_pole_do_not_break_block_descent(d, n, radius, eta):
    """γ close to λmax: gradients of 1e17, and projections whose rounding exceeds the step."""
    rng = np.random.default_rng(3)
    mixing = np.eye(d) + 0.4 * rng.standard_normal((d, d))
    samples = rng.standard_normal((n, d)) @ mixing + 0.5 * rng.standard_normal(d)
    problem = GraphProblem(Nominal.from_samples(samples), GaussianBall(radius), eta)
    solution = BlockDescent(max_iterations=200).solve(problem)
    assert residuals(solution.laplacian, d).largest <= 1e-9
    assert solution.status is not Status.SOLVED
    assert solution.bound <= CertifiedSolver().solve(problem).value <= solution.value


def test_limits_are_reported():
    problem = paper_problem(20, 30, GaussianBall(0.5))
    solution = ProjectedGradient(max_iterations=2).solve(problem)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.iterations == 2
    assert solution.bound < solution.value
    solution = BlockDescent(max_iterations=1).solve(problem)
    assert solution.status is Status.ITERATION_LIMIT


def test_history_descends_to_the_value():
    problem = paper_problem(12, 30, MomentBall(0.5))
    solution = ProjectedGradient().solve(problem)
    assert len(solution.history) == solution.iterations
    assert solution.history[-1]["value"] == pytest.approx(solution.value)
    assert min(row["value"] for row in solution.history) >= solution.value * (1 - 1e-6)


def test_weights_stay_feasible():
    problem = paper_problem(12, 30, MomentBall(0.5, p=3.0))
    weights = weights_from_laplacian(ProjectedGradient().solve(problem).laplacian)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(6.0, rel=1e-12)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ProjectedGradient(tol=0.0), "tol"),
        (lambda: ProjectedGradient(max_iterations=0), "max_iterations"),
        (lambda: BlockDescent(max_inner_iterations=1.5), "max_inner_iterations"),
        (lambda: BlockDescent().solve(paper_problem(4, 5, MomentBall(1.0))), "CertifiedSolver"),
    ],
)
def test_bad_use_is_named(build, message):
    with pytest.raises(ProblemError, match=message):
        build()


def test_a_step_that_loses_a_little_is_not_taken():
    """Sufficient decrease asks for a gain in proportion to the step's length, not for a loss.

    The first step is 1/4ηd; against this curvature it overshoots by so little that a wrong sign
    would let it pass.
    """
    problem = paper_problem(4, 9, Singleton())
    step = 1.0 / (4 * problem.eta * 4)
    curvature = (2.0 + 5e-5) / step
    centre = np.full(6, 4 / 12)
    start = centre + 0.1 * np.array([1.0, -1.0, 1.0, -1.0, 0.0, 0.0])

    def oracle(weights):
        away = weights - centre
        return 1.0 + curvature / 2 * float(away @ away), curvature * away

    found = spectral_descent(problem, oracle, start, 1e-9, 100, Clock())
    assert found.history[0]["value"] < oracle(start)[0]
    assert found.value == pytest.approx(1.0, rel=1e-8)


def test_registration():
    assert {"BlockDescent", "ProjectedGradient"} <= set(registered())
    with pytest.raises(ProblemError, match=r"Nothing.*claims must be the tuple.*it is None"):
        register(type("Nothing", (), {}))
    with pytest.raises(ProblemError, match=r"Stranger.*must subclass Solver"):
        register(type("Stranger", (), {"claims": (GaussianBall,)}))
    with pytest.raises(ProblemError, match=r"Idle.*implement solve"):
        register(type("Idle", (Solver,), {"claims": (GaussianBall,)}))


def test_degenerate_data_work():
    for samples in (np.zeros((3, 4)), np.tile([1.0, 2.0, 3.0, 4.0], (5, 1)), np.ones((1, 2))):
        problem = GraphProblem(Nominal.from_samples(samples), MomentBall(0.5), 0.1)
        solution = ProjectedGradient().solve(problem)
        assert judge(problem, solution.laplacian).solved(1e-6)
