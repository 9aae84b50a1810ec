"""The page's judge against the project's: they must agree on value and bound."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from effort import tries
from graph_pages import AGREE, SETS, at, data, forged, of_point, paged, put, shown, written_data

from solvers import solve
from solvers.learned import grid as path
from solvers.learned.page.data import graph_data
from wdro_cvx import (
    GraphProblem,
    MomentBall,
    Nominal,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.laplacian import laplacian_from_weights


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
@pytest.mark.parametrize(("d", "n"), [(2, 3), (7, 3), (25, 60), (40, 12)])
def test_the_two_judges_agree_on_any_graph(bench, ambiguity, d, n):
    # Far from the optimum every term counts, and counts differently.
    stated = GraphProblem(Nominal.from_samples(data(d, n, d)), ambiguity, eta=0.2, trace=1.3 * d)
    rng = np.random.default_rng(n)
    points = []
    for share in (1.0, 0.3, 0.05):
        weights = rng.exponential(size=d * (d - 1) // 2) ** 3
        weights[rng.random(weights.size) > share] = 0.0
        if not weights.any():
            weights[0] = 1.0
        laplacian = laplacian_from_weights(weights * 1.3 * d / (2 * weights.sum()))
        worst = ambiguity.worst_case(stated.nominal, laplacian)
        verdict = judge(stated, laplacian)
        points.append(path.PathPoint(0, 0, stated, laplacian, verdict, worst.multiplier))
    for point, found in zip(points, bench(graph_data(paged(points))), strict=True):
        assert found["value"] == pytest.approx(point.verdict.value, rel=AGREE)
        near = {"rel": AGREE, "abs": AGREE * found["value"]}  # bounds may be close to zero
        assert found["bound"] == pytest.approx(point.verdict.bound, **near)
        # Of what every graph pays nothing counts here, also where the bound does not reach it.
        numbers = [n - point.verdict.constant for n in (point.verdict.value, point.verdict.bound)]
        gap = (numbers[0] - numbers[1]) / max(map(abs, numbers))
        assert found["gap"] == pytest.approx(gap, rel=1e3 * AGREE)


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_the_two_judges_agree_on_solutions_to_1e_9(bench, ambiguity, offset):
    # n < d and large radii: the hard case, where a moment has to be carried along.
    stated = GraphProblem(Nominal.from_samples(data(20, 6, 1, offset)), ambiguity, eta=0.3)
    point = path._judged(0, 0, stated, solve(stated, 1e-7))
    [found] = bench(graph_data(paged([point])))
    assert point.verdict.solved(1e-6)
    assert found["gap"] == pytest.approx(point.verdict.gap, abs=AGREE)
    assert found["repair"] < 1e-12


def test_a_shift_of_more_samples_than_vertices_is_evidence_too(bench):
    stated = GraphProblem(Nominal.from_samples(data(20, 60, 1)), MomentBall(0.7, p=1.0), eta=0.3)
    point = path._judged(0, 0, stated, solve(stated, 1e-7))
    assert point.moment is not None
    [found] = bench(graph_data(paged([point])))
    assert found["gap"] == pytest.approx(point.verdict.gap, abs=AGREE)


# --- Rounding ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
def test_on_two_vertices_the_exact_optimum_is_strictly_between_the_two_numbers(bench, ambiguity):
    # There is one graph. Whatever separates the two numbers is allowance for rounding.
    for seed in range(tries(40)):
        rng = np.random.default_rng(seed)
        trace, eta = np.exp(rng.normal(size=2))
        samples = rng.normal(size=(7, 2)) * np.exp(rng.normal(size=2)) + rng.normal() * 1e3
        stated = GraphProblem(Nominal.from_samples(samples), ambiguity, eta=eta, trace=trace)
        laplacian = laplacian_from_weights(np.array([trace / 2]))
        worst = ambiguity.worst_case(stated.nominal, laplacian)
        verdict = judge(stated, laplacian)
        point = path.PathPoint(0, 0, stated, laplacian, verdict, worst.multiplier)
        [found] = bench(graph_data(paged([point])))
        with localcontext(prec=60):
            optimum = _exact_optimum_of_two(stated)
            assert Decimal(found["bound"]) < optimum < Decimal(found["value"])
        assert 0 < found["gap"] < 1e-11


def _exact_optimum_of_two(stated):
    trace, eta = Decimal(stated.trace), Decimal(stated.eta)
    radius, ball = Decimal(stated.ambiguity.radius), stated.ambiguity
    square = sum((Decimal(a) - Decimal(b)) ** 2 for a, b in stated.nominal.factor.tolist())
    own = trace / 2 * square + eta * trace * trace
    if isinstance(ball, MomentBall):
        share = 1 if np.isinf(ball.p) else 1 - 1 / Decimal(ball.p)  # 1/q
        return own + radius * trace / 2 * Decimal(4) ** share
    return own + trace * (radius**2 + radius * (2 * square).sqrt())


@pytest.mark.parametrize("radius", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("d", [30, 101, 150])
def test_of_equal_signals_the_exact_optimum_is_strictly_between_the_two_numbers(bench, d, radius):
    # The complete graph is optimal, and the worst case spreads evenly over all directions. Sums of
    # many equal terms are rounded the same way again and again.
    eta = 0.37
    stated = GraphProblem(Nominal.from_samples(np.zeros((1, d))), WassersteinBall(radius), eta)
    weights = np.full(d * (d - 1) // 2, 1 / (d - 1))
    laplacian = laplacian_from_weights(weights)
    top = d / (d - 1)
    for hint in (top * (1 - 1e-15), top, top * (1 + 1e-15)):
        point = path.PathPoint(0, 0, stated, laplacian, judge(stated, laplacian), hint)

        def spread(given):
            rows = (np.eye(d) - 1 / d) * radius / np.sqrt(d - 1)
            shifted = {"moved": np.zeros(d), "spread": rows.ravel(), "shift": None}
            given["points"][0]["moment"] = shifted

        [found] = bench(forged(paged([point]), spread))
        with localcontext(prec=60):
            premium = d * Decimal(radius) ** 2 / (d - 1)
            optimum = Decimal(eta) * d * d / (d - 1) + premium
            # Errors may cancel; what is allowed for them must be there all the same.
            eps = Decimal(np.finfo(float).eps)
            assert Decimal(found["bound"]) < optimum * (1 - 32 * eps)
            assert optimum * (1 + 32 * eps) < Decimal(found["value"])
        assert 0 < found["gap"] < 1e-10


@pytest.mark.parametrize("d", [10, 150])
def test_the_value_of_a_star_allows_for_the_errors_of_its_factor(bench, d):
    radius, eta = 1e3, 0.37
    stated = GraphProblem(Nominal.from_samples(np.zeros((1, d))), WassersteinBall(radius), eta)
    weights = np.zeros(d * (d - 1) // 2)
    weights[: d - 1] = d / (2 * (d - 1))
    laplacian = laplacian_from_weights(weights)
    verdict = judge(stated, laplacian)
    top = d * weights[0]
    for hint in (top * (1 - 1e-15), top, top * (1 + 1e-15)):
        point = path.PathPoint(0, 0, stated, laplacian, verdict, hint)
        [found] = bench(graph_data(paged([point])))
        with localcontext(prec=60):
            weight = Decimal(d) / (2 * (d - 1))
            premium = d * weight * Decimal(radius) ** 2
            value = premium + Decimal(eta) * weight**2 * (d - 1) * (d + 2)
            error = premium * (d + 1) ** 2 * Decimal(np.finfo(float).eps) / 2
            assert value + error < Decimal(found["value"]) < value * Decimal("1.0000000001")


# --- Data that are not in order ------------------------------------------------------------------


@pytest.fixture(scope="module")
def solved():
    """Return pages of solutions whose proof is carried along: moved rows, spread rows; a shift."""
    found = {}
    for ambiguity in (WassersteinBall(3.0), MomentBall(0.7, p=1.0)):
        stated = GraphProblem(Nominal.from_samples(data(20, 6, 1)), ambiguity, eta=0.3)
        point = path._judged(0, 0, stated, solve(stated, 1e-7))
        assert point.moment is not None
        found["shift" if isinstance(ambiguity, MomentBall) else "moves"] = point
    return found


def _edges(reorder):
    """Return a change of the lists of edges by what places their new entries come from."""

    def change(given):
        point = given["points"][0]
        places = reorder(np.arange(point["heads"].size))
        for name in ("heads", "tails", "weights", "undecided"):
            point[name] = point[name][places]

    return change


def _halved_twice(given):
    # As the sum of its halves an edge costs half of its square.
    _edges(lambda places: np.concatenate([places[:1], places]))(given)
    given["points"][0]["weights"][:2] /= 2


def _turned(given):
    point = given["points"][0]
    point["heads"][3], point["tails"][3] = point["tails"][3], point["heads"][3]


def _one_sided(given):
    # What is above the diagonal would be charged twice and measured once.
    shift = given["points"][0]["moment"]["shift"].reshape(20, 20)
    given["points"][0]["moment"]["shift"] = np.triu(shift - 0.01)


REFUSED = {
    "one-sided shift": ("shift", _one_sided, "symmetric"),
    "shift a little asymmetric": (
        "shift", of_point("moment", "shift", to=put(1, 1e-300)), "symmetric"),
    "short shift": ("shift", of_point("moment", "shift", to=lambda a: a[:-20]), "400 numbers"),
    "no shift": ("shift", of_point("moment", "shift", to=None), "shift must be packed"),
    "shift and moves": ("shift", of_point("moment", "moved", to=np.zeros(120)), "shift alone"),
    "shift for another set": (
        "moves", of_point("moment", "shift", to=np.zeros(400)), "no shift"),
    "edge twice": ("moves", _halved_twice, "only once"),
    "edge twice, apart": ("moves", _edges(lambda n: np.append(n, 0)), "only once"),
    "edge turned": ("moves", _turned, "smaller one first"),
    "edges out of order": ("moves", _edges(lambda n: n[::-1]), "come after"),
    "edge out of range": ("moves", of_point("tails", to=put(-1, 20)), "smaller one first"),
    "edge of one vertex": ("moves", of_point("tails", to=put(0, 0)), "smaller one first"),
    "head missing": ("moves", of_point("heads", to=lambda a: a[:-1]), "two ends"),
    "weight missing": ("moves", of_point("weights", to=lambda a: a[:-1]), "weights must be"),
    "weight too many": ("moves", of_point("weights", to=lambda a: np.append(a, 0)), "weights"),
    "ends as bytes": ("moves", of_point("heads", to=lambda a: a.astype("u1")), "uint16"),
    "ends as text": ("moves", of_point("heads", to=lambda a: list(map(str, a))), "uint16"),
    "weights as text": ("moves", of_point("weights", to=lambda a: list(map(str, a))), "float64"),
    "weights in float32": ("moves", of_point("weights", to=lambda a: a.astype("f4")), "float64"),
    "weights as objects": ("moves", of_point("weights", to={"length": 3}), "float64"),
    "no type": (
        "moves", of_point("weights", to={"type": "constructor", "base64": "AAAA"}), "float64"),
    "weight NaN": ("moves", of_point("weights", to=put(0, np.nan)), "finite"),
    "weight infinite": ("moves", of_point("weights", to=put(0, np.inf)), "finite"),
    "weight enormous": ("moves", of_point("weights", to=put(0, 1e200)), "1e+100 in size"),
    "no weight": ("moves", of_point("weights", to=np.zeros_like), "positive weight"),
    "row missing": ("moves", at("problem", "rowCount", to=5), "100 numbers"),
    "half a row": ("moves", at("problem", "rowCount", to=5.5), "number of rows"),
    "no rows": ("moves", at("problem", "rows", to=None), "rows must be packed"),
    "rows NaN": ("moves", at("problem", "rows", to=put(7, np.nan)), "finite"),
    "moved NaN": ("moves", of_point("moment", "moved", to=put(0, np.nan)), "finite"),
    "moved short": ("moves", of_point("moment", "moved", to=lambda a: a[20:]), "120 numbers"),
    "moved in float32": (
        "moves", of_point("moment", "moved", to=lambda a: a.astype("f4")), "float64"),
    "spread of odd length": (
        "moves", of_point("moment", "spread", to=lambda a: np.append(a, 1)), "rows of 20"),
    "spread NaN": ("moves", of_point("moment", "spread", to=np.full(20, np.nan)), "finite"),
    "spread missing": ("moves", of_point("moment", "spread", to=None), "spread"),
    "moment a number": ("moves", of_point("moment", to=3), "moment must be"),
    "moment left out": ("moves", lambda given: given["points"][0].pop("moment"), "moment"),
    "nu short": ("moves", of_point("nu", to=lambda a: a[:-1]), "nu must be 20"),
    "nu NaN": ("moves", of_point("nu", to=put(2, np.nan)), "finite"),
    "nu infinite": ("moves", of_point("nu", to=put(2, -np.inf)), "finite"),
    "nu left out": ("moves", lambda given: given["points"][0].pop("nu"), "nu"),
    "eta negative": ("moves", at("etas", to=[-0.3]), "eta"),
    "eta zero": ("moves", at("etas", to=[0]), "eta"),
    "eta null": ("moves", at("etas", to=[None]), "eta"),
    "eta text": ("moves", at("etas", to=["0.3"]), "eta"),
    "eta infinite": ("moves", at("etas", to=[np.inf]), "eta"),
    "eta vanishing": ("moves", at("etas", to=[1e-170]), "eta"),  # squares would be zero
    "eta of nowhere": ("moves", of_point("eta", to=1), "eta"),
    "radius negative": ("moves", at("radii", to=[-3.0]), "radius"),
    "radius text": ("moves", at("radii", to=["3"]), "radius"),
    "radius infinite": ("shift", at("radii", to=[np.inf]), "radius"),
    "radius null": ("moves", at("radii", to=[None]), "radius"),
    "radius of nowhere": ("moves", of_point("radius", to=7), "radius"),
    "trace negative": ("moves", at("problem", "trace", to=-20.0), "trace"),
    "trace missing": ("moves", at("problem", "trace", to=None), "trace"),
    "prior unknown": ("moves", at("problem", "prior", to="constructor"), "prior must be"),
    "prior left out": ("moves", lambda given: given["problem"].pop("prior"), "prior must be"),
    "another prior": ("moves", at("problem", "prior", to="log-degree"), "trace must be null"),
    "alpha of another prior": ("moves", of_point("alpha", to=0.3), "alpha and beta must be null"),
    "beta left out": ("moves", lambda given: given["points"][0].pop("beta"), "must be null"),
    "p below one": ("shift", at("problem", "p", to=0.5), "p must be"),
    "p text": ("shift", at("problem", "p", to="1"), "p must be"),
    "p left out": ("shift", lambda given: given["problem"].pop("p"), "p must be"),
    "set unknown": ("moves", at("problem", "set", to="constructor"), "set must be"),
    "one distribution, with a radius": ("moves", at("problem", "set", to="single"), "radius"),
    "multiplier negative": ("moves", of_point("multiplier", to=-1.0), "multiplier"),
    "multiplier text": ("moves", of_point("multiplier", to="2"), "multiplier"),
    "multiplier infinite": ("moves", of_point("multiplier", to=np.inf), "multiplier"),
    "one vertex": ("moves", at("names", to=["v0"]), "number of vertices"),
    "vertices of nowhere": ("moves", at("names", to={"length": 20.5}), "number of vertices"),
    "a vertex too many": ("moves", at("names", to=lambda a: [*a, "v20"]), "126 numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_data_that_are_not_in_order_are_refused(bench, solved, name):
    kind, change, words = REFUSED[name]
    [found] = bench(forged(paged([solved[kind]]), change))
    assert words in found["refused"]


# --- Data that are in order and lie --------------------------------------------------------------

SCALED = {
    "shift": [("moment", "shift", 9.0), ("moment", "shift", 1 + 1e-6), ("moment", "shift", 1e90),
              ("nu", 1.01), ("nu", 1e90), ("nu", -1.0)],
    "moves": [("moment", "moved", 1.5), ("moment", "moved", 1e90), ("moment", "spread", 40.0),
              ("moment", "spread", 1 + 1e-6), ("moment", "spread", 1e90), ("nu", 1.01),
              ("nu", 1e90), ("multiplier", 0.3), ("multiplier", 0.0), ("multiplier", 1e300),
              ("multiplier", 1 - 1e-15)],
}  # fmt: skip


@pytest.mark.parametrize("kind", SCALED)
def test_forged_evidence_and_wrong_hints_prove_nothing_false(bench, solved, kind):
    verdict = solved[kind].verdict
    for *place, factor in SCALED[kind]:
        change = of_point(*place, to=lambda old, factor=factor: old * factor)
        [found] = bench(forged(paged([solved[kind]]), change))
        assert found["bound"] <= verdict.value
        assert found["value"] >= verdict.bound


OTHERS = {
    "radius": at("radii", to=lambda old: [1.1 * old[0]]),
    "no radius": at("radii", to=[0]),
    "eta": at("etas", to=lambda old: [1.1 * old[0]]),
    "rows": at("problem", "rows", to=lambda old: 1.1 * old),
    "weights": of_point("weights", to=lambda old: np.where(np.arange(old.size) % 2, old, 3 * old)),
    "an edge less": of_point("weights", to=put(0, 0.0)),
    "even weights": of_point("weights", to=lambda old: np.full(old.size, 10 / old.size)),
}


@pytest.mark.parametrize("change", OTHERS)
@pytest.mark.parametrize("kind", SCALED)
def test_a_graph_of_another_problem_is_not_proved(bench, solved, kind, change):
    [found] = bench(forged(paged([solved[kind]]), OTHERS[change]))
    assert found["gap"] > 1e-5


@pytest.mark.parametrize("radius", [0.7, 1e8, 1e13, 1e30, 1e60])
@pytest.mark.parametrize("star", [False, True])
def test_what_every_graph_pays_hides_no_gap(bench, radius, star):
    # With p = ∞ the gap is lost in a constant of any size, unless it is measured without.
    d = 12
    stated = GraphProblem(Nominal.from_samples(data(d, 30, 0)), MomentBall(0.7, p=np.inf), eta=0.3)
    weights = np.random.default_rng(0).exponential(size=d * (d - 1) // 2)
    if star:
        weights[d - 1 :] = 0.0
    laplacian = laplacian_from_weights(weights * d / (2 * weights.sum()))
    point = path.PathPoint(0, 0, stated, laplacian, judge(stated, laplacian), 1.0)
    [found] = bench(forged(paged([point]), at("radii", to=[radius])))
    assert found["gap"] > 0.1


# --- What is shown -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one-sided shift", "edge out of range"])
def test_a_page_says_what_it_refuses_and_shows_no_bracket(browser, solved, tmp_path, name):
    kind, change, words = REFUSED[name]
    found = shown(browser, forged(paged([solved[kind]]), change), tmp_path)
    assert found["verified"].startswith("✗ Refused: ")
    assert words in found["verified"]
    assert found["bound"] == found["value"] == "–"
    assert "solved" not in found["judged"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (at("etas", to=lambda old: [1.1 * old[0]]), "Not proved here: gap"),
        (of_point("weights", to=lambda old: 1.00001 * old), "changed by 1.0e-5"),
    ],
)
def test_a_page_that_proves_nothing_says_so(browser, solved, tmp_path, change, words):
    found = shown(browser, forged(paged([solved["moves"]]), change), tmp_path)
    assert words in found["verified"]
    assert "Verified" not in found["verified"]


def test_a_page_names_the_problem_that_it_judged(browser, solved, tmp_path):
    def change(given):
        given["facts"] = {"radius": "17"}

    found = shown(browser, forged(paged([solved["shift"]]), change), tmp_path)
    assert "Verified here" in found["verified"]
    told = "for the ball of moments (p = 1), radius 0.7, eta 0.3, trace 20."
    assert told in found["judged"]


def test_a_page_says_what_it_takes_on_trust(browser, solved, tmp_path):
    given = forged(paged([solved["moves"]]), of_point("undecided", to=np.zeros_like))
    found = shown(browser, given | {"threshold": 1e-4}, tmp_path)
    assert "Verified here" in found["verified"]
    trusted = "Which edges are provably in the optimal graph was found in Python only."
    assert found["judged"].endswith(trusted)


def test_a_page_that_cannot_be_read_says_so(browser, solved, tmp_path):
    given = forged(paged([solved["moves"]]), of_point("weights", to=lambda a: a[:3]))
    given["points"][0]["weights"]["base64"] = "AAAA"  # three bytes are no float64
    page = browser.new_page()
    page.goto(f"file://{written_data(given, tmp_path)}")
    assert "cannot be shown" in page.inner_text("#subtitle")
    assert page.inner_text("#verified") == ""
    page.close()
