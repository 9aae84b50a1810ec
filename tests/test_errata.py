"""One demonstration per erratum of docs/paper.md: what is printed fails, what we use holds."""

import numpy as np
import pytest
from scipy import optimize

from formulations import (
    GaussianClosedForm,
    GaussianSDP,
    GeneralRegularized,
    GeneralSDP,
    RobustPremium,
)
from solvers import ProjectedGradient, bisect_multiplier
from solvers.block_descent import fixed_gamma
from wdro_cvx import (
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    Singleton,
    WassersteinBall,
    judge,
)
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.laplacian import adjoint, laplacian_from_weights
from wdro_cvx.metrics import mcc
from wdro_cvx.nominal import symmetric_root

ETA = 0.1


def random_samples(rng, n, d):
    """Correlated signals with a mean, so that neither Σ nor μ is special."""
    mixing = np.eye(d) + 0.4 * rng.standard_normal((d, d))
    return rng.standard_normal((n, d)) @ mixing + 0.5 * rng.standard_normal(d)


def random_weights(rng, d):
    """Uneven positive weights with Tr L = d; even ones nearly commute with everything."""
    weights = rng.uniform(0.2, 1.0, d * (d - 1) // 2) ** 3
    return weights * (d / (2 * weights.sum()))


def numerical_gradient(function, point, step=1e-5):
    """Central differences."""
    shifts = step * np.eye(point.size)
    return np.array([function(point + h) - function(point - h) for h in shifts]) / (2 * step)


def relative_error(found, expected):
    return np.linalg.norm(np.subtract(found, expected)) / np.linalg.norm(expected)


def optimum(formulation, nominal, ball):
    return formulation(GraphProblem(nominal, ball, ETA)).solve().value


# --- E1 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_e1_theorem_3_and_proposition_3_have_different_optima(seed):
    """For p = α = 2 the paper derives both from one problem; the optima are not the same."""
    nominal = Nominal.from_samples(random_samples(np.random.default_rng(seed), 12, 6))
    regularised = optimum(GeneralRegularized, nominal, MomentBall(0.5, p=2, alpha=2))
    transported = optimum(GeneralSDP, nominal, WassersteinBall(0.5))
    assert abs(regularised - transported) > 0.05 * transported


def test_e1_no_conversion_of_the_radius_reconciles_them():
    """Theorem 3 charges two relabelled graphs alike, whatever ε; Proposition 3 does not."""
    rng = np.random.default_rng(0)
    nominal = Nominal.from_samples(random_samples(rng, 30, 6))
    laplacian = laplacian_from_weights(random_weights(rng, 6))
    order = rng.permutation(6)
    relabelled = laplacian[np.ix_(order, order)]

    def premiums(ball):
        return [
            ball.worst_case(nominal, graph).risk - np.vdot(nominal.second_moment, graph)
            for graph in (laplacian, relabelled)
        ]

    for radius in (0.1, 0.5, 2.0):
        first, second = premiums(MomentBall(radius))
        assert first == pytest.approx(second, rel=1e-9)
        first, second = premiums(WassersteinBall(radius))
        assert abs(first - second) > 0.005 * first


@pytest.mark.parametrize("radius", [0.02, 0.5])
def test_e1_each_form_is_right_for_its_own_ball(radius):
    """The worst moment of Theorem 3 is ε away as a matrix but not in transport distance."""
    rng = np.random.default_rng(1)
    nominal = Nominal.from_samples(random_samples(rng, 30, 6))
    laplacian = laplacian_from_weights(random_weights(rng, 6))
    matrices, signals = MomentBall(radius), WassersteinBall(radius)
    for own, other in ((matrices, signals), (signals, matrices)):
        worst = own.worst_case(nominal, laplacian)
        assert np.vdot(worst.second_moment, laplacian) == pytest.approx(worst.risk, rel=1e-9)
        assert own.proved_distance(nominal, worst.moment) == pytest.approx(radius, rel=1e-6)
        assert abs(other.distance(nominal, worst.second_moment) / radius - 1) > 0.1


# --- E2 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_e2_gaussian_and_general_scenario_have_one_value(seed):
    """Theorem 1, both SDPs and the premium form agree: two scenarios, one problem."""
    nominal = Nominal.from_samples(random_samples(np.random.default_rng(seed), 12, 6))
    general = optimum(GeneralSDP, nominal, WassersteinBall(0.5))
    for formulation in (GaussianClosedForm, GaussianSDP, RobustPremium):
        gaussian = optimum(formulation, nominal, GaussianBall(0.5))
        assert gaussian == pytest.approx(general, rel=1e-6)


def test_e2_only_the_second_moment_counts():
    """Mixing the samples changes their mean and covariance, keeps Θ and keeps every value."""
    rng = np.random.default_rng(3)
    samples = random_samples(rng, 12, 6)
    mixing, _ = np.linalg.qr(rng.standard_normal((12, 12)))
    before, after = Nominal.from_samples(samples), Nominal.from_samples(mixing @ samples)
    assert relative_error(after.mean, before.mean) > 0.5
    for formulation, ball in ((GaussianSDP, GaussianBall(0.5)), (GeneralSDP, WassersteinBall(0.5))):
        values = [optimum(formulation, nominal, ball) for nominal in (before, after)]
        assert values[0] == pytest.approx(values[1], rel=1e-6)


# --- E3 ------------------------------------------------------------------------------------------


def fixed_gamma_case(nominal, rng):
    """A point, the objective r(v) of Algorithm 2 there, and its gradient printed and corrected."""
    d, beta = nominal.d, 2.0
    problem = GraphProblem(nominal, GaussianBall(0.5), ETA, trace_penalty=beta)
    weights = 1.1 * random_weights(rng, d)
    gamma = 1.2 * np.linalg.eigvalsh(laplacian_from_weights(weights))[-1]
    theta = nominal.second_moment

    def objective(point):
        laplacian = laplacian_from_weights(point)
        inverse = np.linalg.inv(gamma * np.eye(d) - laplacian)
        penalty = beta * (np.trace(laplacian) - d) ** 2
        return gamma**2 * np.vdot(theta, inverse) + ETA * np.sum(laplacian**2) + penalty

    laplacian = laplacian_from_weights(weights)
    inverse = np.linalg.inv(gamma * np.eye(d) - laplacian)
    rest = 2 * ETA * laplacian + 2 * beta * (np.trace(laplacian) - d) * np.eye(d)
    printed = adjoint(gamma**2 * inverse @ inverse @ theta + rest)
    _, moment = fixed_gamma(problem, laplacian, gamma)
    corrected = adjoint(moment + rest)
    return weights, objective, printed, corrected


@pytest.mark.parametrize("seed", range(3))
def test_e3_inverses_do_not_merge(seed):
    """Finite differences refute γ²𝒯*((γI - L)⁻²Θ) and confirm the product with Θ in between."""
    rng = np.random.default_rng(seed)
    nominal = Nominal.from_samples(random_samples(rng, 12, 6))
    weights, objective, printed, corrected = fixed_gamma_case(nominal, rng)
    truth = numerical_gradient(objective, weights)
    assert relative_error(printed, truth) > 0.03
    assert relative_error(corrected, truth) < 1e-7


def test_e3_printed_gradient_holds_when_l_and_theta_commute():
    """With Θ a function of L the two formulas are one, so the slip is the commutation."""
    laplacian = laplacian_from_weights(1.1 * random_weights(np.random.default_rng(4), 6))
    nominal = Nominal.from_moments(np.zeros(6), np.linalg.inv(laplacian + np.eye(6)))
    # The same seed makes the same weights, hence the same L.
    weights, objective, printed, corrected = fixed_gamma_case(nominal, np.random.default_rng(4))
    truth = numerical_gradient(objective, weights)
    assert relative_error(printed, truth) < 1e-7
    assert relative_error(corrected, printed) < 1e-12


# --- E4 ------------------------------------------------------------------------------------------


def norm_gradients(q):
    """The gradient of ‖vec 𝒯v‖_q: by differences, as printed, and as MomentBall has it."""
    rng = np.random.default_rng(5)
    nominal = Nominal.from_samples(random_samples(rng, 12, 6))
    weights = random_weights(rng, 6)
    laplacian = laplacian_from_weights(weights)

    def norm(point):
        return np.linalg.norm(laplacian_from_weights(point).ravel(), q)

    with np.errstate(invalid="ignore"):
        printed = adjoint(norm(weights) ** (1 - q) * laplacian ** (q - 1))
    worst = MomentBall(1.0, p=q / (q - 1)).worst_case(nominal, laplacian)
    corrected = adjoint(worst.second_moment - nominal.second_moment)
    return numerical_gradient(norm, weights), printed, corrected


@pytest.mark.parametrize("q", [3, 5])
def test_e4_norm_gradient_needs_the_sign(q):
    """With q - 1 even the printed power loses the minus of every off-diagonal entry."""
    truth, printed, corrected = norm_gradients(q)
    assert relative_error(printed, truth) > 0.01
    assert relative_error(corrected, truth) < 1e-7


@pytest.mark.parametrize("q", [4 / 3, 1.5, 2.5])
def test_e4_printed_power_is_undefined_for_fractional_exponents(q):
    """A fractional power of a negative weight is not a real number."""
    truth, printed, corrected = norm_gradients(q)
    assert np.isnan(printed).all()
    assert relative_error(corrected, truth) < 1e-7


@pytest.mark.parametrize("q", [2, 4])
def test_e4_printed_power_holds_for_odd_exponents(q):
    """Where q - 1 is odd the power keeps the sign by itself, p = 2 among them."""
    truth, printed, corrected = norm_gradients(q)
    assert relative_error(printed, truth) < 1e-7
    assert relative_error(corrected, truth) < 1e-7


# --- E5 ------------------------------------------------------------------------------------------


def coefficients(learned, truth):
    """MCC of two edge lists: as printed, and with the usual denominator."""
    tp, tn = np.sum(learned & truth), np.sum(~learned & ~truth)
    fp, fn = np.sum(learned & ~truth), np.sum(~learned & truth)
    top = float(tp * tn - fp * fn)
    printed = top / np.sqrt(float((tp + fp) * (tp + fn) * (tn + tp) * (tn + tn)))
    usual = top / np.sqrt(float((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))
    return printed, usual


def score(learned, truth):
    return mcc(laplacian_from_weights(1.0 * learned), laplacian_from_weights(1.0 * truth))


def test_e5_perfect_graph_scores_one():
    """A graph that has every edge right gets less than √½ from the printed denominator."""
    truth = np.random.default_rng(6).random(45) < 0.4
    printed, usual = coefficients(truth, truth)
    assert printed < np.sqrt(0.5)
    assert score(truth, truth) == pytest.approx(usual) == 1.0


def test_e5_coefficient_stays_within_one():
    """The printed denominator leaves [-1, 1] for a graph that has almost every edge wrong."""
    truth = np.arange(45) % 2 == 0
    learned = ~truth
    learned[:4] = truth[:4]
    printed, usual = coefficients(learned, truth)
    assert printed < -2
    assert score(learned, truth) == pytest.approx(usual)
    assert -1 < usual < -0.5
    assert score(~truth, truth) == pytest.approx(-1)


# --- E6 ------------------------------------------------------------------------------------------


def printed_bisection(slope, top, a, b, error=1e-9):
    """Algorithm 1 as printed; None once a round leaves the bracket as it was."""
    low, high = top + b, a * top
    while high - low > error:
        before, middle = (low, high), (low + high) / 2
        if slope(low) * slope(middle) < 0:
            high = middle
        if slope(high) * slope(middle) < 0:
            low = middle
        if (low, high) == before:
            return None
    return (low + high) / 2


def multiplier_slope(moment, laplacian, radius):
    """The derivative g_γ of Theorem 1's objective, as printed."""

    def slope(gamma):
        eye = np.eye(laplacian.shape[0])
        stretch = eye - gamma * np.linalg.inv(gamma * eye - laplacian)
        return radius**2 - np.trace(stretch @ stretch @ moment)

    return slope


@pytest.mark.parametrize(
    ("radius", "in_bracket"), [(0.5, True), (0.01, False), (0.001, False), (30.0, False)]
)
def test_e6_printed_bracket_can_miss_the_root(radius, in_bracket):
    """With a = 10, b = 0.1 small and large radii have their root outside the printed bracket."""
    rng = np.random.default_rng(7)
    moment = Nominal.from_samples(random_samples(rng, 30, 6)).second_moment
    laplacian = laplacian_from_weights(random_weights(rng, 6))
    top = np.linalg.eigvalsh(laplacian)[-1]
    slope = multiplier_slope(moment, laplacian, radius)

    gamma = bisect_multiplier(moment, laplacian, radius)
    assert gamma > top
    assert slope(gamma * (1 - 1e-5)) < 0 < slope(gamma * (1 + 1e-5))
    assert (top + 0.1 < gamma < 10 * top) == in_bracket
    printed = printed_bisection(slope, top, a=10, b=0.1)
    if in_bracket:
        assert printed == pytest.approx(gamma, rel=1e-8)
    else:
        assert printed is None


@pytest.mark.parametrize("silent", [False, True], ids=["flattened", "silent"])
def test_e6_hard_case_has_no_root(silent):
    """Without mass on the top eigenvector a large radius has γ = λmax, where g_γ has no zero."""
    rng = np.random.default_rng(8)
    laplacian = laplacian_from_weights(random_weights(rng, 6))
    samples = random_samples(rng, 30, 6)
    if silent:  # no signal at the vertices of the heavier component: a mass of exactly zero
        laplacian[:3, 3:] = laplacian[3:, :3] = 0.0
        laplacian[:3, :3] = laplacian_from_weights(2 * random_weights(rng, 3))
        laplacian[3:, 3:] = laplacian_from_weights(random_weights(rng, 3))
        samples[:, :3] = 0.0
    values, vectors = np.linalg.eigh(laplacian)
    top = values[-1]
    if not silent:
        samples -= np.outer(samples @ vectors[:, -1], vectors[:, -1])
    nominal = Nominal.from_samples(samples)
    masses = np.diag(vectors.T @ nominal.second_moment @ vectors)[:-1]
    spent = np.sum(masses * (values[:-1] / (top - values[:-1])) ** 2)
    radius = 1.5 * np.sqrt(spent)

    slope = multiplier_slope(nominal.second_moment, laplacian, radius)
    assert all(slope(top * (1 + shift)) > 0.1 for shift in np.logspace(-5, 3, 50))
    assert printed_bisection(slope, top, a=1000, b=1e-5) is None
    # Where rounding leaves a mass of about 1e-17 on that eigenvector, half the digits are λmax's.
    gamma = bisect_multiplier(nominal.second_moment, laplacian, radius)
    assert gamma == pytest.approx(top, rel=1e-12 if silent else 1e-6)

    ball = WassersteinBall(radius)
    worst = ball.worst_case(nominal, laplacian)
    near, _ = fixed_gamma(GraphProblem(nominal, ball, ETA), laplacian, top * (1 + 1e-6))
    assert worst.multiplier == pytest.approx(top, rel=1e-12)
    assert worst.risk == pytest.approx(near, rel=1e-4)
    assert np.vdot(worst.second_moment, laplacian) == pytest.approx(worst.risk, rel=1e-9)
    assert ball.distance(nominal, worst.second_moment) == pytest.approx(radius, rel=1e-6)


# --- E7 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ball", [Singleton(), GaussianBall(0.5), MomentBall(0.5)], ids=["nominal", "gaussian", "moment"]
)
def test_e7_penalised_trace_falls_short_like_one_over_beta(ball):
    """The optimum of the penalised problem has Tr L < d, short by (R + 2η‖L‖²)/2βd."""
    nominal = Nominal.from_samples(random_samples(np.random.default_rng(9), 30, 7))
    solver = ProjectedGradient(tol=1e-9)
    exact = solver.solve(GraphProblem(nominal, ball, ETA))
    assert np.trace(exact.laplacian) == pytest.approx(7, rel=1e-12)
    risk = ball.worst_case(nominal, exact.laplacian).risk
    expected = (risk + 2 * ETA * np.sum(exact.laplacian**2)) / (2 * 7)

    for beta, accuracy in ((10.0, 1e-1), (100.0, 1e-2), (1000.0, 1e-3)):
        penalised = solver.solve(GraphProblem(nominal, ball, ETA, trace_penalty=beta))
        miss = 7 - np.trace(penalised.laplacian)
        assert miss > 0
        assert beta * miss == pytest.approx(expected, rel=accuracy)
        assert penalised.value < exact.value - 0.9 * expected**2 / beta


def test_e7_like_is_to_be_compared_with_like():
    """Algorithm 4's value is that of the penalised program and not of the constrained one."""
    nominal = Nominal.from_samples(random_samples(np.random.default_rng(10), 30, 7))
    penalised = GraphProblem(nominal, MomentBall(0.5), ETA, trace_penalty=10.0)
    found = ProjectedGradient(tol=1e-9).solve(penalised).value
    assert found == pytest.approx(GeneralRegularized(penalised).solve().value, rel=1e-7)
    assert found < 0.999 * optimum(GeneralRegularized, nominal, MomentBall(0.5))


# --- E8 ------------------------------------------------------------------------------------------


def test_e8_index_of_the_adjoint_counts_with_d():
    """With 2d the index k numbers the edges as 𝒯 does; with 2p it is no numbering at all."""
    d, p = 6, 2
    rng = np.random.default_rng(11)
    matrix, weights = rng.standard_normal((d, d)), random_weights(rng, d)
    pairs = [(i, j) for i in range(1, d + 1) for j in range(1, i)]

    def index(i, j, size):
        return i - j + (j - 1) * (2 * size - j) // 2

    numbering = list(range(1, len(pairs) + 1))
    assert sorted(index(i, j, d) for i, j in pairs) == numbering
    assert sorted(index(i, j, p) for i, j in pairs) != numbering
    laplacian = laplacian_from_weights(weights)
    for i, j in pairs:
        k, a, b = index(i, j, d) - 1, i - 1, j - 1  # the paper counts from one
        expected = matrix[a, a] - matrix[a, b] - matrix[b, a] + matrix[b, b]
        assert adjoint(matrix)[k] == pytest.approx(expected, abs=1e-12)
        assert laplacian[a, b] == laplacian[b, a] == -weights[k]


def test_e8_mean_term_is_a_quadratic_form():
    """The supremum over μ in the proof of Theorem 1 is a number, μᵀ(γI - L)⁻¹μ inside it."""
    rng = np.random.default_rng(12)
    mean = rng.standard_normal(6)
    laplacian = laplacian_from_weights(random_weights(rng, 6))
    gamma, radius = 1.5 * np.linalg.eigvalsh(laplacian)[-1], 0.5
    inverse = np.linalg.inv(gamma * np.eye(6) - laplacian)

    def loss(mu):
        return gamma * np.sum((mu - mean) ** 2) - mu @ laplacian @ mu

    supremum = -optimize.minimize(loss, mean, tol=1e-12).fun
    printed = inverse * (mean @ mean)
    assert printed.shape == (6, 6)
    assert abs(-gamma * mean @ mean + gamma**2 * np.trace(printed) - supremum) > 0.5 * supremum
    corrected = -gamma * mean @ mean + gamma**2 * mean @ inverse @ mean
    assert corrected == pytest.approx(supremum, rel=1e-7)
    nominal = Nominal.from_moments(mean, np.zeros((6, 6)))
    problem = GraphProblem(nominal, GaussianBall(radius), ETA)
    risk, _ = fixed_gamma(problem, laplacian, gamma)
    assert risk == pytest.approx(gamma * radius**2 + supremum, rel=1e-7)


def test_e8_cholesky_tests_a_multiplier_but_has_no_eigenvalues():
    """A Cholesky factor exists for γ > λmax alone; its diagonal does not tell λmax."""
    rng = np.random.default_rng(13)
    laplacian = laplacian_from_weights(random_weights(rng, 6))
    top = np.linalg.eigvalsh(laplacian)[-1]
    pivots = np.diag(np.linalg.cholesky(laplacian + np.eye(6))) ** 2 - 1
    assert np.abs(pivots - top).min() > 0.05 * top
    nominal = Nominal.from_samples(random_samples(rng, 12, 6))
    problem = GraphProblem(nominal, GaussianBall(0.5), ETA)
    assert np.isfinite(fixed_gamma(problem, laplacian, top * (1 + 1e-9))[0])
    assert np.isinf(fixed_gamma(problem, laplacian, top * (1 - 1e-9))[0])


# --- E9 ------------------------------------------------------------------------------------------


def test_e9_substitution_of_the_proof_needs_an_invertible_covariance():
    """With N < d the substitution's pseudo-inverse misses the supremum that Σ* attains."""
    rng = np.random.default_rng(14)
    covariance = Nominal.from_samples(random_samples(rng, 4, 6)).covariance
    nominal = Nominal.from_moments(np.zeros(6), covariance)
    laplacian = laplacian_from_weights(random_weights(rng, 6))
    gamma = 1.5 * np.linalg.eigvalsh(laplacian)[-1]
    inverse = np.linalg.inv(gamma * np.eye(6) - laplacian)
    root = symmetric_root(nominal.covariance)
    assert np.linalg.matrix_rank(root, tol=1e-8) == 3

    def inner(covariance):
        overlap = symmetric_root(root @ covariance @ root)
        return np.vdot(covariance, laplacian - gamma * np.eye(6)) + 2 * gamma * np.trace(overlap)

    claimed = gamma**2 * np.vdot(inverse, nominal.covariance)
    undone = np.linalg.pinv(root, rtol=1e-8) @ (gamma * root @ inverse @ root)
    assert inner(undone @ undone.T) < 0.99 * claimed
    problem = GraphProblem(nominal, GaussianBall(0.5), ETA)
    _, worst = fixed_gamma(problem, laplacian, gamma)
    assert inner(worst) == pytest.approx(claimed, rel=1e-7)


def test_e9_theorem_1_holds_for_fewer_samples_than_vertices():
    """Theorem 1 equals Proposition 2 for singular Σ, and is the limit of Σ + δI from above."""
    nominal = Nominal.from_samples(random_samples(np.random.default_rng(15), 4, 6))
    ball = GaussianBall(0.3)
    closed = optimum(GaussianClosedForm, nominal, ball)
    assert optimum(GaussianSDP, nominal, ball) == pytest.approx(closed, rel=1e-6)

    excess = []
    for delta in (1e-2, 1e-4, 1e-6):
        ridged = Nominal.from_moments(nominal.mean, nominal.covariance + delta * np.eye(6))
        excess.append(optimum(GaussianClosedForm, ridged, ball) / closed - 1)
    assert excess[0] > 3 * excess[1] > 9 * excess[2] > 0
    assert excess[2] < 1e-3


# --- E10 -----------------------------------------------------------------------------------------


def test_e10_interior_point_is_a_weak_opponent():
    """At d = 25 SCS solves the premium form in a fraction of Clarabel's time for Proposition 2."""
    rng = np.random.default_rng(1)
    signals = smooth_signals(rbf_graph(25, rng), 100, rng, noise=0.1)
    problem = GraphProblem(Nominal.from_samples(signals), GaussianBall(0.5), eta=0.3)
    first_order = RobustPremium(problem).solve("SCS", tol=1e-7)
    interior = GaussianSDP(problem).solve("CLARABEL", tol=1e-6)
    for solution in (first_order, interior):
        assert judge(problem, solution.laplacian, solution.certificate).solved(1e-5)
    assert 2 * first_order.total_s < interior.total_s


# --- Ours ----------------------------------------------------------------------------------------


def test_small_radius_costs_the_printed_forms_their_digits():
    """At radius 1e-3 two terms of size γ·Tr Θ cancel in the paper's forms, not in the premium."""
    samples = np.random.default_rng(0).standard_normal((20, 8))
    nominal = Nominal.from_samples(samples)

    def error(formulation, ball):
        problem = GraphProblem(nominal, ball, ETA)
        solution = formulation(problem).solve("CLARABEL")
        judged = judge(problem, solution.laplacian, solution.certificate)
        assert judged.gap < 1e-5  # the graph is right; the reported value need not be
        return abs(solution.value / judged.value - 1)

    printed = [
        (GaussianClosedForm, GaussianBall),
        (GaussianSDP, GaussianBall),
        (GeneralSDP, WassersteinBall),
    ]
    for form, ball in [*printed, (RobustPremium, GaussianBall)]:
        assert error(form, ball(0.5)) < 1e-8
    assert error(RobustPremium, GaussianBall(1e-3)) < 1e-8
    for form, ball in printed:
        assert error(form, ball(1e-3)) > 1e-8
    assert max(error(form, ball(1e-3)) for form, ball in printed) > 1e-6
