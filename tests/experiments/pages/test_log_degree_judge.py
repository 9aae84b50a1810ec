"""The page's judge under the log-degree prior, against the project's and against exact optima."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from effort import tries
from graph_pages import AGREE, SETS, at, data, forged, of_point, paged, put, shown

from solvers import solve
from solvers.learned import grid as path
from solvers.learned.page.data import graph_data
from wdro_cvx import (
    GraphProblem,
    LogDegree,
    MomentBall,
    Nominal,
    Singleton,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.laplacian import laplacian_from_weights

EPS = Decimal(np.finfo(float).eps)


def _problem(samples, ambiguity, alpha=0.7, beta=0.2):
    return GraphProblem(Nominal.from_samples(samples), ambiguity, prior=LogDegree(alpha, beta))


def _offered(stated, weights):
    """Return a point of the path for any graph, judged without further evidence."""
    laplacian = laplacian_from_weights(weights)
    worst = stated.ambiguity.worst_case(stated.nominal, laplacian)
    return path.PathPoint(0, 0, stated, laplacian, judge(stated, laplacian), worst.multiplier)


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
@pytest.mark.parametrize(("d", "n"), [(2, 3), (7, 3), (25, 60)])
def test_the_two_judges_agree_on_any_graph(bench, ambiguity, d, n):
    stated = _problem(data(d, n, d), ambiguity)
    rng = np.random.default_rng(n)
    points = []
    for share, scale in ((1.0, 1.0), (0.3, 30.0), (0.3, 1e-3)):
        weights = scale * rng.exponential(size=d * (d - 1) // 2) ** 3
        weights[rng.random(weights.size) > share] = 0.0
        weights[: d - 1] += 0.01 * scale  # edges to the first vertex isolate nobody
        points.append(_offered(stated, weights))
    for point, found in zip(points, bench(graph_data(paged(points))), strict=True):
        near = {"rel": AGREE, "abs": AGREE * stated.floor}  # both may be close to zero
        assert found["value"] == pytest.approx(point.verdict.value, **near)
        assert found["bound"] == pytest.approx(point.verdict.bound, **near)
        assert found["gap"] == pytest.approx(point.verdict.gap, rel=1e3 * AGREE)
        assert found["repair"] == 0.0


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_the_two_judges_agree_on_solutions_to_1e_9(bench, ambiguity, offset):
    # n < d and large radii: the hard case, where a moment has to be carried along.
    stated = _problem(data(20, 6, 1, offset), ambiguity)
    point = path._judged(0, 0, stated, solve(stated, 1e-7))
    [found] = bench(graph_data(paged([point])))
    assert point.verdict.solved(1e-6)
    assert found["gap"] == pytest.approx(point.verdict.gap, abs=AGREE)


def test_gaps_are_relative_to_alpha_d_where_the_value_is_zero(bench):
    # Of equal signals: scaling L by s takes αd·log s from the value, so some alpha makes it zero.
    d, alpha = 6, 1.0
    pairs = d * (d - 1) // 2
    weight = np.exp(0.5) / (d - 1)  # with β below, value = αd/2 - αd·log(deg) = 0
    beta = alpha * d / (4 * pairs * weight**2)
    stated = _problem(np.zeros((1, d)), Singleton(), alpha, beta)
    [found] = bench(graph_data(paged([_offered(stated, np.full(pairs, weight))])))
    assert abs(found["value"]) < 1e-12
    assert 0 < found["gap"] < 1e-12


# --- Rounding ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
def test_on_two_vertices_the_exact_optimum_is_strictly_between_the_two_numbers(bench, ambiguity):
    for seed in range(tries(25)):
        rng = np.random.default_rng(seed)
        alpha, beta = np.exp(rng.normal(size=2))
        samples = rng.normal(size=(7, 2)) * np.exp(rng.normal(size=2)) + rng.normal() * 1e3
        stated = _problem(samples, ambiguity, alpha, beta)
        with localcontext(prec=60):
            weight, optimum = _exact_optimum_of_two(stated)
            [found] = bench(graph_data(paged([_offered(stated, np.array([float(weight)]))])))
            assert Decimal(found["bound"]) < optimum < Decimal(found["value"])
        assert 0 < found["gap"] < 1e-11


def _exact_optimum_of_two(stated):
    """Return the best weight w and ``cost·w + 2βw² - 2α log w``."""
    alpha, beta = Decimal(stated.prior.alpha), Decimal(stated.prior.beta)
    radius, ball = Decimal(stated.ambiguity.radius), stated.ambiguity
    cost = sum((Decimal(a) - Decimal(b)) ** 2 for a, b in stated.nominal.factor.tolist())
    if isinstance(ball, MomentBall):
        cost += radius * Decimal(4) ** (1 if np.isinf(ball.p) else 1 - 1 / Decimal(ball.p))
    else:
        cost = (cost.sqrt() + Decimal(2).sqrt() * radius) ** 2
    weight = 4 * alpha / (cost + (cost**2 + 32 * alpha * beta).sqrt())
    return weight, cost * weight + 2 * beta * weight**2 - 2 * alpha * weight.ln()


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
@pytest.mark.parametrize("d", [30, 101])
def test_of_equal_signals_both_numbers_allow_for_the_rounding_of_logarithms(bench, d, scale):
    # Sums of many equal terms are rounded the same way again and again.
    alpha, pairs = 0.37, d * (d - 1) // 2
    beta = 0.83 / scale**2
    stated = _problem(np.zeros((1, d)), Singleton(), alpha, beta)
    weight = np.sqrt(alpha * d / (4 * beta * pairs))
    [found] = bench(graph_data(paged([_offered(stated, np.full(pairs, weight))])))
    with localcontext(prec=60):
        a, b = Decimal(alpha), Decimal(beta)
        best = (a * d / (4 * b * pairs)).sqrt()
        log = ((d - 1) * best).ln()
        optimum = a * d / 2 - a * d * log
        # Errors may cancel; what is allowed for them must be there all the same.
        error = a * d * (1 + abs(log)) * d * EPS / 2
        assert Decimal(found["bound"]) < optimum - error
        assert optimum + error < Decimal(found["value"])
    assert 0 < found["gap"] < 1e-10


# --- Forgeries -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def solved():
    stated = _problem(data(20, 6, 1), WassersteinBall(3.0))
    point = path._judged(0, 0, stated, solve(stated, 1e-7))
    assert point.moment is not None
    return point


def _scaled_prior(alpha, beta):
    """Return a change of the prior with the eta that belongs to it."""

    def change(given):
        point = given["points"][0]
        point["alpha"] *= alpha
        point["beta"] *= beta
        given["etas"] = [given["etas"][0] * np.sqrt(alpha * beta)]

    return change


def _without_vertex(given):
    """Take away all edges of a vertex; what is left is in order."""
    point = given["points"][0]
    kept = (point["heads"] != 3) & (point["tails"] != 3)
    for name in ("heads", "tails", "weights", "undecided"):
        point[name] = point[name][kept]


REFUSED = {
    "a trace": (at("problem", "trace", to=20.0), "trace must be null"),
    "trace left out": (lambda given: given["problem"].pop("trace"), "trace must be null"),
    "another prior": (at("problem", "prior", to="frobenius"), "trace must be"),
    "prior unknown": (at("problem", "prior", to="log"), "prior must be"),
    "prior as a list": (at("problem", "prior", to=["log-degree"]), "prior must be"),
    "alpha negative": (of_point("alpha", to=-0.7), "alpha"),
    "alpha zero": (of_point("alpha", to=0), "alpha"),
    "alpha null": (of_point("alpha", to=None), "alpha"),
    "alpha text": (of_point("alpha", to="0.7"), "alpha"),
    "alpha infinite": (of_point("alpha", to=np.inf), "alpha"),
    "alpha left out": (lambda given: given["points"][0].pop("alpha"), "alpha"),
    "beta negative": (of_point("beta", to=-0.2), "beta"),
    "beta vanishing": (of_point("beta", to=1e-170), "beta"),
    "beta left out": (lambda given: given["points"][0].pop("beta"), "beta"),
    "eta of another problem": (at("etas", to=[0.4]), "root of alpha"),
    "alpha without its eta": (of_point("alpha", to=0.71), "root of alpha"),
    "eta null": (at("etas", to=[None]), "eta"),
    "nu NaN": (of_point("nu", to=put(2, np.nan)), "finite"),
    "weights too small": (of_point("weights", to=lambda old: 1e-70 * old), "sum of the weights"),
    "weights too large": (of_point("weights", to=lambda old: 1e70 * old), "sum of the weights"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_data_that_are_not_in_order_are_refused(bench, solved, name):
    change, words = REFUSED[name]
    [found] = bench(forged(paged([solved]), change))
    assert words in found["refused"]


FALSE = {
    **{f"nu times {f:g}": of_point("nu", to=lambda old, f=f: old * f)
       for f in (1.01, 0.5, -1.0, 0.0, 1e-300, 1e90)},
    "one nu zero": of_point("nu", to=put(0, 0.0)),
    "one nu positive": of_point("nu", to=put(0, 1e-9)),
    "one nu enormous": of_point("nu", to=put(0, 1e90)),
    "moved": of_point("moment", "moved", to=lambda old: 1.5 * old),
    "spread": of_point("moment", "spread", to=lambda old: 40 * old),
    "multiplier": of_point("multiplier", to=lambda old: 0.3 * old),
    "no multiplier": of_point("multiplier", to=0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE)
def test_forged_evidence_and_wrong_hints_prove_nothing_false(bench, solved, name):
    [found] = bench(forged(paged([solved]), FALSE[name]))
    assert np.isfinite([found["bound"], found["value"]]).all()
    assert found["bound"] <= solved.verdict.value
    assert found["value"] >= solved.verdict.bound


@pytest.mark.parametrize("where", [slice(None), 0])
@pytest.mark.parametrize("number", [0.0, 1e-9, 1.0])
def test_multipliers_that_are_not_negative_prove_nothing(bench, where, number):
    # With large degrees, a vertex whose conjugate were left out would raise the bound above the
    # value; the conjugate is infinite there.
    d = 6
    pairs = d * (d - 1) // 2
    stated = _problem(np.zeros((1, d)), Singleton(), 0.5, 1e-20)
    weight = np.sqrt(0.5 * d / (4e-20 * pairs))
    point = _offered(stated, np.full(pairs, weight))
    nu = stated.prior.slope(np.full(d, (d - 1) * weight))
    nu[where] = number
    found = bench(forged(paged([point]), of_point("nu", to=nu)))[0]
    assert found["bound"] < found["value"] < 0


OTHERS = {
    "radius": at("radii", to=lambda old: [1.1 * old[0]]),
    "alpha": _scaled_prior(1.1, 1.0),
    "beta": _scaled_prior(1.0, 1.1),
    "alpha and beta": _scaled_prior(1.1, 1 / 1.1),
    "rows": at("problem", "rows", to=lambda old: 1.1 * old),
    "all weights": of_point("weights", to=lambda old: 1.1 * old),
    "weights": of_point("weights", to=lambda old: np.where(np.arange(old.size) % 2, old, 3 * old)),
    "even weights": of_point("weights", to=lambda old: np.full(old.size, old.mean())),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_graph_of_another_problem_is_not_proved(bench, solved, name):
    [found] = bench(forged(paged([solved]), OTHERS[name]))
    assert found["gap"] > 1e-5


def test_an_isolated_vertex_has_infinite_cost_and_the_bound_stays(bench, solved):
    [found] = bench(forged(paged([solved]), _without_vertex))
    assert found["value"] == found["gap"] == np.inf
    assert found["bound"] == pytest.approx(solved.verdict.bound, rel=AGREE)


# --- What is shown -------------------------------------------------------------------------------


def test_a_page_names_the_problem_that_it_judged(browser, solved, tmp_path):
    found = shown(browser, forged(paged([solved]), at("facts", to={"alpha": "17"})), tmp_path)
    assert "Verified here" in found["verified"]
    told = "the ball of transport, radius 3, log-degree prior with alpha 0.7, beta 0.2."
    assert told in found["judged"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_without_vertex, "Not proved here: gap"),
        (at("etas", to=[0.4]), "Refused: eta must be the root"),
    ],
)
def test_a_page_that_proves_nothing_says_so(browser, solved, tmp_path, change, words):
    found = shown(browser, forged(paged([solved]), change), tmp_path)
    assert words in found["verified"]
    assert "Verified" not in found["verified"]
