"""Sets that are new to the certified solver: it needs only their worst case."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import cvxpy as cp
import numpy as np
import pytest
from certified import CONIC, assert_brackets, assert_honest
from instances import paper_problem, random_nominal

from formulations import SampleAverage
from solvers.generic import CertifiedSolver
from wdro_cvx import (
    AmbiguitySet,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    Singleton,
    Status,
    WorstCase,
    judge,
)


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


def test_degenerate_data_work():
    for samples in (np.zeros((3, 4)), np.array([[1.0, 2.0, 3.0, 4.0]]), np.ones((1, 2))):
        for ambiguity in (GaussianBall(0.5), MomentBall(0.5), SpectralBall(0.5)):
            problem = GraphProblem(Nominal.from_samples(samples), ambiguity, 0.1)
            solution = CertifiedSolver().solve(problem)
            assert solution.status is Status.SOLVED
            assert_honest(problem, solution)
