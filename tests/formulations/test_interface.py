import cvxpy as cp
import numpy as np
import pytest
from instances import paper_problem

from formulations import (
    Formulation,
    GaussianClosedForm,
    GaussianSDP,
    GeneralRegularized,
    GeneralSDP,
    Risk,
    RobustPremium,
    SampleAverage,
    register,
    smoothness,
)
from wdro_cvx import (
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
    SolverError,
    Status,
    WassersteinBall,
    judge,
)

CASES = [
    (SampleAverage, Singleton()),
    (GaussianClosedForm, GaussianBall(0.5)),
    (GaussianSDP, GaussianBall(0.5)),
    (RobustPremium, WassersteinBall(0.5)),
    (GeneralSDP, WassersteinBall(0.5)),
    (GeneralRegularized, MomentBall(0.5, p=1.5)),
    (GeneralRegularized, MomentBall(0.5, p=1.0)),
    (GeneralRegularized, MomentBall(0.5, p=np.inf)),
]


@pytest.mark.parametrize(("formulation", "ambiguity"), CASES)
def test_a_sweep_compiles_once(formulation, ambiguity):
    model = formulation(paper_problem(5, 6, ambiguity))
    first = model.solve()
    settings = {"eta": 0.7} if isinstance(ambiguity, Singleton) else {"radius": 0.9, "eta": 0.7}
    moved = model.at(**settings).solve()
    fresh_problem = model.problem
    assert fresh_problem.eta == 0.7
    fresh = formulation(fresh_problem).solve()
    assert moved.value == pytest.approx(fresh.value, rel=1e-7)
    assert moved.value > first.value
    cache = model.cvxpy._cache
    assert cache.param_prog is not None  # the compiled program survived the change


def test_a_sweep_may_pass_through_radius_zero():
    problem = paper_problem(5, 6, GaussianBall(0.5))
    model = RobustPremium(problem)
    values = [model.at(radius=radius).solve().value for radius in (0.5, 0.0, 0.5)]
    assert values[0] == pytest.approx(values[2], rel=1e-8)
    average = SampleAverage(paper_problem(5, 6, Singleton())).solve().value
    assert values[1] == pytest.approx(average, rel=1e-8)


def test_times_and_multiplier_are_reported():
    problem = paper_problem(6, 10, GaussianBall(0.5))
    solution = GaussianSDP(problem).solve()
    assert solution.status is Status.SOLVED
    assert min(solution.build_s, solution.compile_s, solution.solve_s) > 0
    assert solution.iterations > 0
    worst = problem.ambiguity.worst_case(problem.nominal, solution.laplacian)
    assert solution.multiplier == pytest.approx(worst.multiplier, rel=1e-4)


def test_loose_accuracy_is_judged_loose():
    problem = paper_problem(10, 30, GaussianBall(0.5))
    loose = RobustPremium(problem).solve("SCS", tol=1e-2)
    tight = RobustPremium(problem).solve("SCS", tol=1e-8)
    assert judge(problem, tight.laplacian).gap < 1e-6 < judge(problem, loose.laplacian).gap


def test_iteration_limits_are_not_called_solved():
    problem = paper_problem(10, 30, GaussianBall(0.5))
    solution = RobustPremium(problem).solve("SCS", tol=1e-9, max_iters=10)
    assert solution.status is not Status.SOLVED


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: GaussianSDP(paper_problem(4, 5, WassersteinBall(1.0))), "GaussianBall.*has Wass"),
        (lambda: GeneralSDP(paper_problem(4, 5, MomentBall(1.0))), "WassersteinBall.*MomentBall"),
        (lambda: SampleAverage(paper_problem(4, 5, GaussianBall(1.0))), "Singleton"),
        (lambda: SampleAverage(paper_problem(4, 5, Singleton()), over="edges"), "over must be"),
        (
            lambda: GeneralSDP(
                GraphProblem(Nominal.from_moments([0, 0], np.eye(2)), WassersteinBall(1.0), 0.1)
            ),
            "needs samples.*from_samples",
        ),
        (lambda: SampleAverage(paper_problem(4, 5, Singleton())).at(eta=0.0), "eta"),
        (lambda: RobustPremium(paper_problem(4, 5, GaussianBall(1.0))).at(radius=-1), "radius"),
        (lambda: SampleAverage(paper_problem(4, 5, Singleton())).solve(tol=0.0), "tol"),
    ],
)
def test_bad_use_is_named(build, message):
    with pytest.raises(ProblemError, match=message):
        build()


def test_unknown_backends_list_the_installed_ones():
    with pytest.raises(SolverError, match=r"MOSEKK.*installed are.*CLARABEL"):
        SampleAverage(paper_problem(4, 5, Singleton())).solve("MOSEKK")


def test_a_backend_that_cannot_take_the_cone_says_so():
    with pytest.raises(SolverError, match="OSQP cannot solve RobustPremium"):
        RobustPremium(paper_problem(4, 5, GaussianBall(1.0))).solve("OSQP")


def test_backend_names_are_not_case_sensitive():
    solution = SampleAverage(paper_problem(4, 5, Singleton())).solve("clarabel")
    assert solution.status is Status.SOLVED


def test_a_new_variant_is_ten_lines():
    class Flat(Formulation):
        """The moment ball for p = ∞ by its constant, the smallest possible variant."""

        claims = (MomentBall,)

        def risk(self, laplacian):
            average = smoothness(self.normalised.nominal.second_moment, laplacian)
            return Risk(average + self.radius * 2 * laplacian.trace)

    problem = paper_problem(5, 9, MomentBall(0.5, p=np.inf))
    solution = Flat(problem).solve()
    assert judge(problem, solution.laplacian).solved(1e-7)
    assert solution.value == pytest.approx(GeneralRegularized(problem).solve().value, rel=1e-8)


def test_registration_asks_for_claims():
    class Nameless(Formulation):
        def risk(self, laplacian):
            return Risk(cp.Constant(0.0))

    with pytest.raises(ProblemError, match=r"Nameless.*claims"):
        register(Nameless)
