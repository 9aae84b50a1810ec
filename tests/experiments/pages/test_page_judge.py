"""The page's judge against the project's: two languages, two ways, the same two numbers."""

import json

import numpy as np
import pytest
from browser import Watched
from graph_pages import AGREE, data, paged

from experiments.page import path
from experiments.page.graph import graph_data
from solvers import solve
from wdro_cvx import (
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    Singleton,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.laplacian import laplacian_from_weights

SETS = [
    GaussianBall(0.4), WassersteinBall(3.0), GaussianBall(0.0), Singleton(), MomentBall(0.7, p=2.0),
    MomentBall(0.7, p=1.0), MomentBall(0.7, p=1.5), MomentBall(0.7, p=4.0),
    MomentBall(0.7, p=np.inf),
]  # fmt: skip


@pytest.fixture(scope="module")
def bench(browser, learned):
    """A page whose judge can be given any problem."""
    watched = Watched(browser, learned[1])

    def judged(page, change=""):
        # As its worker would: nothing but the page's own code touches the numbers.
        return watched.page.evaluate(
            "([text, change]) => { const data = $data.decode(JSON.parse(text));"
            "return data.points.map((_, k) => { const task = $data.task(data, k);"
            "if (change === 'forged' && task.moment) {"
            "if (task.moment.shift) task.moment.shift = task.moment.shift.map((v) => 9 * v);"
            "else { task.moment.moved = task.moment.moved.map((v) => 1.5 * v);"
            "task.moment.spread = task.moment.spread.map((v) => 40 * v); } }"
            "if (change === 'hint') task.multiplier *= 0.3;"
            "if (change === 'spoiled') task.graph.weights = task.graph.weights.map("
            "(v, n) => n % 2 ? v : 3 * v);"
            "return $judge.judge(task); }); }",
            [json.dumps(graph_data(page)), change],
        )

    yield judged
    watched.check()
    watched.context.close()


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
    for point, found in zip(points, bench(paged(points)), strict=True):
        assert found["value"] == pytest.approx(point.verdict.value, rel=AGREE)
        near = {"rel": AGREE, "abs": AGREE * found["value"]}  # bounds may be close to zero
        assert found["bound"] == pytest.approx(point.verdict.bound, **near)
        assert found["gap"] == pytest.approx(point.verdict.gap, rel=1e3 * AGREE)


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_the_two_judges_agree_on_solutions_to_1e_9(bench, ambiguity, offset):
    # n < d and large radii: the hard case, where a moment has to be carried along.
    stated = GraphProblem(Nominal.from_samples(data(20, 6, 1, offset)), ambiguity, eta=0.3)
    point = path._judged(0, 0, stated, solve(stated, 1e-7))
    [found] = bench(paged([point]))
    assert point.verdict.solved(1e-6)
    assert found["gap"] == pytest.approx(point.verdict.gap, abs=AGREE)
    assert found["repair"] < 1e-12


@pytest.mark.parametrize("ambiguity", [WassersteinBall(3.0), MomentBall(0.7, p=1.0)], ids=repr)
def test_forged_evidence_and_wrong_hints_prove_nothing_false(bench, ambiguity):
    stated = GraphProblem(Nominal.from_samples(data(20, 6, 1)), ambiguity, eta=0.3)
    point = path._judged(0, 0, stated, solve(stated, 1e-7))
    assert point.moment is not None
    optimum = point.verdict.value
    for change in ("forged", "hint"):
        [found] = bench(paged([point]), change)
        assert found["bound"] <= optimum * (1 + 1e-12)
        assert found["value"] >= point.verdict.bound * (1 - 1e-12)
    [spoiled] = bench(paged([point]), "spoiled")
    assert spoiled["gap"] > 1e-3
