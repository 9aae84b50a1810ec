"""Terms in problems: what is refused, what follows a change of unit, and safe logarithms."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import random_nominal, seeds

from formulations import SampleAverage
from solvers import solve
from wdro_cvx import (
    EdgeBounds,
    Frobenius,
    GraphProblem,
    KLBall,
    KnownGraph,
    LogDet,
    Nominal,
    ProblemError,
    Residuals,
    Singleton,
    Stationarity,
    Term,
    WassersteinBall,
    check_term,
    judge,
    registered_terms,
)
from wdro_cvx.graphs.laplacian import (
    complete_graph,
    laplacian_from_weights,
    weights_from_laplacian,
)
from wdro_cvx.terms.safe import log_det_below
from wdro_cvx.verify import log_det_below as exact_log_det_below
from wdro_cvx.verify import table_of

RNG = np.random.default_rng(0)
NOMINAL = Nominal.from_samples(RNG.standard_normal((20, 5)))
FREE = Frobenius(0.0, None)


def test_terms_are_a_part_of_the_problem():
    terms = (LogDet(0.5), KnownGraph(2.0, complete_graph(5, 5.0)))
    problem = GraphProblem(NOMINAL, WassersteinBall(0.1), eta=0.1, terms=iter(terms))
    assert problem.terms == terms
    assert "LogDet(alpha=0.5), KnownGraph(alpha=2, 5 vertices)" in repr(problem)
    assert problem.replace(eta=0.3, radius=0.2).terms == terms
    assert problem.replace(terms=()).terms == ()
    again = pickle.loads(pickle.dumps(problem))
    graph = complete_graph(5, 5.0)
    assert again.value(graph) == problem.value(graph)
    plain = problem.replace(terms=())
    added = sum(term.value(graph) for term in terms)
    assert problem.value(graph) == pytest.approx(plain.value(graph) + added, rel=1e-14)
    assert problem.scaled(3.0).value(graph) == pytest.approx(9 * problem.value(graph), rel=1e-12)


def test_a_free_trace_survives_a_change_of_eta():
    problem = GraphProblem(NOMINAL, Singleton(), prior=FREE, terms=(LogDet(1.0),))
    changed = problem.replace(eta=0.2)
    assert changed.trace is None
    assert changed.prior.trace.free
    assert changed.eta == 0.2


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"terms": LogDet(1.0), "eta": 0.1}, "tuple of terms"),
        ({"terms": (1.0,), "eta": 0.1}, "one is 1.0"),
        ({"prior": FREE}, "eta must be > 0"),
        ({"prior": Frobenius(0.1, None)}, "the empty graph is optimal"),
        ({"prior": Frobenius(0.1, None), "terms": (Stationarity(1.0, np.eye(5)),)}, "empty graph"),
        ({"eta": 0.1, "terms": (Stationarity(1.0, np.eye(4)),)}, "the data have 5"),
        ({"eta": 0.1, "terms": (Residuals(1.0, np.eye(4)),)}, "the data have 5"),
        ({"eta": 0.1, "terms": (KnownGraph(1.0, complete_graph(4, 4.0)),)}, "the data have 5"),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts, words):
    with pytest.raises(ProblemError, match=words):
        GraphProblem(NOMINAL, Singleton(), **parts)


def test_residuals_are_those_of_signals():
    signals, graph = NOMINAL.samples, complete_graph(5, 5.0)
    direct = float(np.sum((signals @ graph) ** 2)) / len(signals)
    assert Residuals(0.5, NOMINAL.second_moment).value(graph) == pytest.approx(0.5 * direct)


@pytest.mark.parametrize("theta", [-np.eye(5), np.diag([1.0, 1.0, 1.0, 1.0, -1e-3])])
def test_residuals_of_no_second_moment_are_refused(theta):
    with pytest.raises(ProblemError, match="positive semidefinite"):
        Residuals(1.0, theta)


@given(seeds, st.integers(1, 4))
def test_residuals_of_few_signals_are_certified(seed, rank):
    """The second moment is singular, so the conjugate is finite on a subspace only."""
    rng = np.random.default_rng(seed)
    few = rng.standard_normal((rank, 5))
    problem = GraphProblem(NOMINAL, Singleton(), eta=0.1, terms=(Residuals(2.0, few.T @ few),))
    assert judge(problem, solve(problem, 1e-8)).solved(1e-8)


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.nan, np.inf, "1"])
def test_a_weight_that_is_none_is_refused(alpha):
    with pytest.raises(ProblemError, match="alpha"):
        LogDet(alpha)


def test_bounds_that_disconnect_the_graph_are_refused():
    bounds = EdgeBounds.from_edges(5, absent=[(0, k) for k in range(1, 5)])
    with pytest.raises(ProblemError, match="connected"):
        GraphProblem(NOMINAL, Singleton(), eta=0.1, bounds=bounds, terms=(LogDet(1.0),))


def test_equal_signals_are_refused_unless_something_limits_their_weight():
    twins = Nominal.from_samples(NOMINAL.samples[:, [0, 1, 2, 3, 0]])
    terms = (LogDet(1.0),)
    for ambiguity in (Singleton(), KLBall(0.1)):  # reweighing leaves them equal
        with pytest.raises(ProblemError, match="0 and 4 have equal signals"):
            GraphProblem(twins, ambiguity, prior=FREE, terms=terms)
    GraphProblem(twins, WassersteinBall(0.1), prior=FREE, terms=terms)
    GraphProblem(twins, Singleton(), prior=Frobenius(0.0, 5.0), terms=terms)
    GraphProblem(twins, Singleton(), prior=Frobenius(0.1, None), terms=terms)
    limited = Frobenius(0.0, None, bounds=EdgeBounds.from_edges(5, most=9.0))
    GraphProblem(twins, Singleton(), prior=limited, terms=terms)


@given(seeds, st.integers(2, 12), st.sampled_from([1.0, 1e-3, 1e-6, 1e-9, 1e-13]))
def test_a_logarithm_is_never_too_large(seed, d, thin):
    """Against exact arithmetic, for matrices close to singular ones too."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, d)) * np.geomspace(1.0, thin, d)
    matrix = root @ root.T
    matrix = (matrix + matrix.T) / 2
    below = log_det_below(matrix)
    truth = float(exact_log_det(matrix))
    assert not below > truth
    if thin >= 1e-3:
        assert below >= truth - 1e-7 * d


def exact_log_det(matrix):
    """Return log det by fractions, -inf unless positive definite."""
    from fractions import Fraction
    from math import log

    rows = [[Fraction(x) for x in row] for row in matrix.tolist()]
    total = 0.0
    for k in range(len(rows)):
        pivot = rows[k][k]
        if pivot <= 0:
            return -np.inf
        total += log(pivot.numerator) - log(pivot.denominator)
        for i in range(k + 1, len(rows)):
            share = rows[i][k] / pivot
            rows[i] = [x - share * y for x, y in zip(rows[i], rows[k], strict=True)]
    return total + 1e-13 * (abs(total) + len(rows))


def test_the_exact_logarithm_is_below_and_close():
    graph = laplacian_from_weights(RNG.random(15)) + 1 / 6
    rows, bits = table_of(graph.tolist(), 6)
    below = float(exact_log_det_below(rows, 1 << bits))
    assert below == pytest.approx(np.linalg.slogdet(graph)[1], rel=1e-13)


@pytest.mark.parametrize(
    "bad", [np.full((3, 3), np.nan), -np.eye(3), np.zeros((3, 3)), np.ones((3, 3))]
)
def test_what_is_not_positive_definite_has_no_logarithm(bad):
    assert log_det_below(bad) == -np.inf
    assert LogDet(1.0).conjugate(-bad) == np.inf


def test_log_det_is_finite_only_on_connected_graphs():
    parts = np.zeros((4, 4))
    parts[:2, :2] = parts[2:, 2:] = [[1.0, -1.0], [-1.0, 1.0]]
    assert LogDet(1.0).value(parts) == np.inf
    with pytest.raises(ProblemError, match="not connected"):
        LogDet(1.0).gradient(parts)


@dataclass(frozen=True, eq=False)
class EvenDegrees(Term):
    """The term ``α Σ |deg - 1|``, whose author has overlooked its kinks."""

    def value(self, laplacian):
        return self.alpha * float(np.abs(np.diagonal(laplacian) - 1.0).sum()) * (1 + 1e-12)

    def gradient(self, laplacian):
        return np.diag(self.alpha * np.sign(np.diagonal(laplacian) - 1.0))

    def conjugate(self, slope):
        own = np.diagonal(slope)
        if np.any(slope - np.diag(own)) or np.abs(own).max() > self.alpha:
            return np.inf
        return float(own.sum()) + 1e-12 * float(np.abs(own).sum())

    def expression(self, laplacian, cp):
        return self.alpha * cp.norm1(laplacian.degrees - 1.0)


def test_kinks_that_a_term_does_not_own_up_to_are_found():
    report = check_term(EvenDegrees(0.5))
    assert report.failures == ("smooth",)
    assert "set smooth = False and write slope_near" in str(report)
    for kind in registered_terms().values():
        assert check_term(kind.example(3.0, 6)).passed


@dataclass(frozen=True, eq=False)
class Group(Term):
    """The term ``α‖w‖``, as the guide says, with ways to spoil it."""

    shrink: float = 1e-12
    spoil: str = ""
    smooth = False

    def value(self, laplacian):
        size = float(np.linalg.norm(weights_from_laplacian(laplacian)))
        return self.alpha * (-size if self.spoil == "convex" else size) * (1 + 1e-12)

    def gradient(self, laplacian):
        slope = laplacian - np.diag(np.diagonal(laplacian))
        slope *= self.alpha / (2 * np.linalg.norm(weights_from_laplacian(laplacian)))
        if self.spoil == "gradient":
            slope *= -1
        if self.spoil == "symmetric gradient":
            slope[0, 1] *= 2
        return slope * (1 - self.shrink)

    def conjugate(self, slope):
        size = np.linalg.norm(2 * slope[np.triu_indices(len(slope), 1)])
        if self.spoil == "conjugate never understates":
            return 0.0
        return 0.0 if size <= self.alpha and not np.diagonal(slope).any() else np.inf

    def expression(self, laplacian, cp):
        return self.alpha * cp.norm(laplacian.weights)

    def scaled(self, factor):
        return self if self.spoil == "unit of the objective" else super().scaled(factor)


def test_a_gradient_on_the_boundary_of_the_domain_is_named():
    """Rounding puts it outside, where the conjugate is infinite and nothing is proved."""
    assert check_term(Group(0.5), instances=20).passed
    report = check_term(Group(0.5, shrink=-1e-15), instances=20)
    assert "conjugate touches" in report.failures
    assert "multiply it by 1 - 1e-12 in gradient and slope_near" in str(report)


@pytest.mark.parametrize(
    ("spoil", "hint"),
    [
        ("convex", "value must be a convex function"),
        ("gradient", "the derivative of value"),
        ("symmetric gradient", "must return a symmetric matrix"),
        ("conjugate never understates", "conjugate(Y) must be at least"),
        ("unit of the objective", "scaled(factor) must multiply"),
    ],
)
def test_failed_lines_say_what_is_wrong(spoil, hint):
    failed = [
        line for line in str(check_term(Group(0.5, spoil=spoil))).splitlines() if hint in line
    ]
    assert len(failed) == 1
    assert failed[0].startswith(f"  FAILED {spoil}: missed by")


def test_a_term_that_raises_is_told_once():
    class Targets(Group):
        def value(self, laplacian):
            return float(np.sum(np.diagonal(laplacian) - np.ones(4)))

    report = check_term(Targets(0.5))
    assert report.failures == ("answers",)
    assert len(report.results) == 1
    assert "write the class method example(alpha, d)" in str(report)


def test_a_ridge_on_weights_is_written_as_the_guide_says():
    """The gradient of a function of the weights has half of each derivative, twice."""

    @dataclass(frozen=True, eq=False)
    class Ridge(Term):
        def value(self, laplacian):
            weights = weights_from_laplacian(laplacian)
            return self.alpha * float(weights @ weights) * (1 + 1e-12)

        def gradient(self, laplacian):
            return self.alpha * (laplacian - np.diag(np.diagonal(laplacian)))

        def conjugate(self, slope):
            if np.diagonal(slope).any():
                return np.inf
            return float(np.sum(slope**2)) / (2 * self.alpha) * (1 + 1e-12)

        def expression(self, laplacian, cp):
            return self.alpha * cp.sum_squares(laplacian.weights)

    assert check_term(Ridge(0.5)).passed
    nominal = random_nominal(np.random.default_rng(0), 6, 20)
    problem = GraphProblem(nominal, Singleton(), eta=0.2, terms=(Ridge(0.5),))
    answer = solve(problem)
    assert judge(problem, answer).solved(1e-6)
    assert SampleAverage(problem).solve().value == pytest.approx(answer.value, rel=1e-6)
