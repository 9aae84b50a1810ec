"""Bounds that leave almost no choice: caps that add up to nearly the trace, pins, and both.

The truths are exact fractions. The weights may add up to less than the trace by a rounding error.
This error must then be added to an edge, sometimes to the most expensive one.
"""

import re
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from effort import examples
from hypothesis import assume, example, given
from hypothesis import strategies as st
from instances import random_nominal, seeds
from scipy import sparse

from solvers import solve
from wdro_cvx import (
    EdgeBounds,
    GraphProblem,
    LogDegree,
    Nominal,
    ProblemError,
    Singleton,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.graphs.exact_sums import nearby_weights, project_interval
from wdro_cvx.graphs.laplacian import edge_index, laplacian_from_weights, weights_from_laplacian
from wdro_cvx.judging.dual_bound import dual_bound, safe_levels
from wdro_cvx.judging.edges import dual_brackets
from wdro_cvx.judging.sparse.dual import Setting, large_bound
from wdro_cvx.judging.sparse.prices import shakes
from wdro_cvx.judging.sparse.repair import repaired
from wdro_cvx.judging.sparse.shift import NoShift

HALF_ROUNDING = Fraction(1, 2**53)


def exactly(values):
    return [Fraction(float(value)) for value in values]


def in_the_limit(lower, upper, rng):
    """Return a total that the bounds allow, in most cases as little or as much as they can."""
    lowest, highest = sum(exactly(lower)), None
    if np.isfinite(upper).all():
        highest = sum(exactly(upper))
    ends = [lowest] if highest is None else [lowest, highest, highest]
    total = float(ends[rng.integers(len(ends))]) if rng.random() < 0.7 else 3.0 * rng.random()
    total *= 1.0 + float(rng.integers(-2, 3)) * np.finfo(float).eps
    possible = total > 0.0 and lowest <= Fraction(total)
    return total, possible and (highest is None or Fraction(total) <= highest)


def random_box(rng, m):
    """Return bounds of one size or of many, a few of them equal."""
    size = 10.0 ** rng.uniform(-20, 2, m) if rng.random() < 0.5 else np.ones(m)
    lower = np.where(rng.random(m) < 0.4, rng.random(m) * size, 0.0)
    capped = lower + rng.random(m) * size * (rng.random(m) < 0.7)
    others = np.inf if rng.random() < 0.5 else lower + size
    return lower, np.where(rng.random(m) < 0.6, capped, others)


def assert_sums_to(weights, lower, upper, total):
    """Within the bounds, and of the exact sum but for half a rounding of one of its weights."""
    assert (weights >= lower).all()
    assert (weights <= upper).all()
    short = Fraction(total) - sum(exactly(weights))
    if short == 0:
        return
    for weight, least, most in zip(exactly(weights), exactly(lower), upper, strict=True):
        room = weight + short >= least and (most == np.inf or weight + short <= Fraction(most))
        if room and abs(short) <= HALF_ROUNDING * weight:
            return
    raise AssertionError(f"nothing explains that the sum lacks {float(short)}")


@given(seeds, st.integers(1, 12), st.floats(-5, 20), st.booleans())
@examples(300)
def test_projections_have_exactly_the_sum(seed, m, log_size, inside):
    rng = np.random.default_rng(seed)
    lower, upper = random_box(rng, m)
    total, possible = in_the_limit(lower, upper, rng)
    assume(possible)
    point = 10.0**log_size * rng.standard_normal(m)
    if inside:
        point = np.clip(np.abs(point), lower, upper)
    for found in (
        project_interval(point, lower, upper, total),
        nearby_weights(point, lower, upper, total),
    ):
        assert_sums_to(found, lower, upper, total)
        # What is feasible stays as it is, so that a judge sees the graph that a solver found.
        np.testing.assert_array_equal(project_interval(found, lower, upper, total), found)
        np.testing.assert_array_equal(nearby_weights(found, lower, upper, total), found)


@pytest.mark.parametrize("m", [10, 5000])
def test_of_many_edges_one_is_light_enough_for_an_exact_sum(m):
    rng = np.random.default_rng(0)
    lower, upper = np.zeros(m), np.full(m, np.inf)
    lower[:5] = upper[:5] = 0.1 * rng.random(5)
    point = 1.0 + rng.random(m)
    point[m - 2] = 1e-3
    found = project_interval(point, lower, upper, float(np.clip(point, lower, upper).sum()))
    assert sum(exactly(found)) == sum(exactly([np.clip(point, lower, upper).sum()]))


def test_a_repair_brings_no_new_edge_where_it_need_not():
    lower, upper = np.zeros(6), np.array([0.5, 0.5, 0.5, np.inf, np.inf, np.inf])
    weights = np.array([0.3, 0.3, 0.3, 0.0, 0.0, 0.0])
    found = nearby_weights(weights, lower, upper, 1.0)
    assert not found[3:].any()
    assert_sums_to(found, lower, upper, 1.0)
    assert nearby_weights(weights, lower, upper, 2.0)[3:].sum() >= 0.5


def test_the_crumb_goes_where_the_point_says():
    upper = np.array([0.1, 0.1, np.inf, np.inf, np.inf])
    total = 0.2 + 2.0**-54
    found = project_interval(np.array([9.0, 9.0, -3e20, -1e20, -2e20]), np.zeros(5), upper, total)
    assert found[3] > 0.0
    assert found[2] == found[4] == 0.0


@given(seeds, st.integers(3, 5), st.booleans())
@examples(200)
def test_a_set_is_refused_where_it_is_exactly_empty(seed, d, listed):
    rng = np.random.default_rng(seed)
    lower, upper = random_box(rng, d * (d - 1) // 2)
    total, possible = in_the_limit(lower, upper, rng)
    assume(total > 1e-100)
    bounds = EdgeBounds(lower, upper)
    if listed:
        assume(upper.any())
        pairs = np.column_stack(edge_index(d))
        bounds = EdgeBounds.from_list(d, pairs, lower=lower, upper=upper)
    if possible:
        bounds.check_total(total)
        return
    with pytest.raises(ProblemError, match="no graph has this trace") as caught:
        bounds.check_total(total)
    offered = re.search(r"trace=(\S+)\.$", str(caught.value))
    if offered:
        bounds.check_total(float(offered.group(1)) / 2)
    else:
        assert "no floating-point number" in str(caught.value)
        for middle in (float(sum(exactly(lower))), float(sum(exactly(upper)))):
            for one in (np.nextafter(middle, 0.0), middle, np.nextafter(middle, np.inf)):
                with pytest.raises(ProblemError):
                    bounds.check_total(float(one))


def test_what_is_empty_by_one_rounding_is_said_with_a_remedy():
    nominal, third = random_nominal(np.random.default_rng(0), 3, 5), np.full(3, 0.1)
    with pytest.raises(ProblemError, match=r"upper bounds sum .* too little\. Raise") as low:
        GraphProblem(
            nominal, Singleton(), 0.1, 2 * 0.30000000000000004, bounds=EdgeBounds(0 * third, third)
        )
    assert "trace=0.6" in str(low.value)
    with pytest.raises(ProblemError, match=r"lower bounds sum .* too much\. Lower"):
        GraphProblem(nominal, Singleton(), 0.1, 0.6, bounds=EdgeBounds(third, 9 * third))
    with pytest.raises(ProblemError, match="no floating-point number is a trace"):
        GraphProblem(nominal, Singleton(), 0.1, 0.6, bounds=EdgeBounds(third, third))
    # Bounds as large as numbers get are no reason to stumble.
    GraphProblem(nominal, Singleton(), 0.1, bounds=EdgeBounds(0 * third, np.full(3, 1.7e308)))
    for m in (3, 1225):
        with pytest.raises(ProblemError, match="lower bounds sum to inf"):
            EdgeBounds(np.full(m, 1.7e308), np.full(m, np.inf)).check_total(1.0)
    # Nothing is said of the trace here.
    GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, 0.1, EdgeBounds(third, third)))


@given(seeds)
def test_levels_are_rounded_down(seed):
    """Costs and multipliers may nearly cancel."""
    rng = np.random.default_rng(seed)
    pairs, nu = edge_index(5), -(10.0 ** rng.uniform(-3, 12, 5))
    costs = -(nu[pairs[0]] + nu[pairs[1]]) * (1.0 + 1e-15 * rng.standard_normal(10))
    for level, cost, i, j in zip(safe_levels(costs, nu, *pairs), costs, *pairs, strict=True):
        size = Fraction(abs(cost)) + Fraction(abs(nu[i])) + Fraction(abs(nu[j]))
        exact = Fraction(cost) + Fraction(nu[i]) + Fraction(nu[j])
        assert exact - size / 10**15 <= Fraction(level) <= exact


def exact_dual(prior, costs, nu, tau, lower, upper, pairs):
    """Return the dual in fractions, and the sum of the sizes of what it is made of."""
    beta, half = Fraction(prior.beta), Fraction(prior.trace.target) / 2
    nu, tau = exactly(nu), Fraction(tau)
    kept = sum(x * x for x in nu) / (4 * Fraction(prior.kappa))
    bend = 0
    if not prior.trace.fixed:
        bend = tau * tau / (16 * Fraction(prior.trace.stiffness))
    value, size, total = -kept - bend, kept + bend, Fraction(0)
    for cost, i, j, least, most in zip(costs, *pairs, exactly(lower), upper, strict=True):
        level = cost + nu[i] + nu[j]
        weight = max((tau - level) / (4 * beta), least)
        if most < np.inf:
            weight = min(weight, Fraction(most))
        value += 2 * beta * weight * weight + level * weight
        size += 2 * beta * weight * weight
        size += (abs(cost) + abs(nu[i]) + abs(nu[j])) * weight
        total += weight
    rest = tau * (half - total)
    return value + rest, size + abs(rest)


@given(seeds, st.integers(3, 5), st.sampled_from([None, None, 1e-3, 1e6]))
@examples(300)
def test_the_dual_is_never_above_the_exact_one_and_next_to_it(seed, d, penalty):
    rng = np.random.default_rng(seed)
    m = d * (d - 1) // 2
    lower, upper = random_box(rng, m)
    total, possible = in_the_limit(lower, upper, rng)
    assume(possible and total > 1e-25)
    bounds = EdgeBounds(lower, upper)
    eta = 10.0 ** rng.uniform(-6, 3)
    nominal = Nominal.from_samples(rng.standard_normal((2, d)))
    problem = GraphProblem(nominal, Singleton(), eta, 2 * total, penalty, bounds)
    costs = 10.0 ** rng.uniform(-3, 18 if rng.random() < 0.5 else 3, m)
    nu = eta * total * rng.standard_normal(d)
    found = dual_bound(problem, costs, nu)
    box = (lower, upper, edge_index(d))
    exact, size = exact_dual(problem.prior, exactly(costs), nu, found.tau, *box)
    assert Fraction(found.value) <= exact
    assert exact - Fraction(found.value) <= Fraction(1, 10**12) * size
    # No other τ is much better.
    for tau in (*(found.tau + np.array([-1.0, -1e-9, 1e-9, 1.0]) * abs(found.tau)), 0.0, *costs):
        other, _ = exact_dual(problem.prior, exactly(costs), nu, tau, *box)
        assert other - Fraction(found.value) <= Fraction(1, 10**12) * size


@given(seeds, st.integers(3, 5))
@examples(100)
def test_the_dual_of_a_list_is_never_above_the_exact_one_and_next_to_it(seed, d):
    rng = np.random.default_rng(seed)
    row = np.round(10.0 ** rng.uniform(0, 8, d))
    lower, upper = random_box(rng, d * (d - 1) // 2)
    total, possible = in_the_limit(lower, upper, rng)
    assume(possible and total > 1e-25)
    pairs = np.column_stack(edge_index(d))
    bounds = EdgeBounds.from_list(d, pairs, lower=lower, upper=upper)
    nominal = Nominal.from_samples(row[np.newaxis])
    problem = GraphProblem(nominal, Singleton(), 1e-3, 2 * total, bounds=bounds)
    columns = nominal.factor.T.copy()
    none = np.empty(0, dtype=np.int32)
    graph = EdgeList(d, none, none, np.empty(0))
    nu = 1e-3 * total * rng.standard_normal(d)
    moved = shakes(nominal, 1.0, columns)
    found = large_bound(Setting(problem.prior, graph, columns, moved, NoShift(d)), nu)
    costs = [
        (Fraction(row[i]) - Fraction(row[j])) ** 2
        for i, j in zip(found.heads, found.tails, strict=True)
    ]
    weightless = exact_dual(
        problem.prior, costs, nu, 0.0, bounds.least, bounds.most, (found.heads, found.tails)
    )
    best = max(
        exact_dual(
            problem.prior, costs, nu, Fraction(tau), bounds.least, bounds.most,
            (found.heads, found.tails),
        )
        for tau in _kinks(problem.prior, costs, exactly(nu), bounds, found)
    )  # fmt: skip
    best = max(best, weightless)
    assert Fraction(found.value) <= best[0]
    # Columns of 1e8 are known to 1e-15 of that, and what they cost with it.
    slack = sum(Fraction(float(x)) ** 2 for x in row) * Fraction(total) / 10**12
    assert best[0] - Fraction(found.value) <= Fraction(1, 10**12) * best[1] + slack


def _kinks(prior, costs, nu, bounds, found):
    """Return every τ at which the slope of the dual may change its sign."""
    beta, half = Fraction(prior.beta), Fraction(prior.trace.target) / 2
    ends = set()
    for cost, i, j, least, most in zip(
        costs, found.heads, found.tails, bounds.least, bounds.most, strict=True
    ):
        level = cost + nu[i] + nu[j]
        ends.add(level + 4 * beta * Fraction(least))
        ends.add(level + 4 * beta * (half if most == np.inf else Fraction(most)))
    ordered = sorted(ends)
    taus = list(ordered)
    for low, high in pairwise(ordered):
        middle, free, total = (low + high) / 2, 0, Fraction(0)
        for cost, i, j, least, most in zip(
            costs, found.heads, found.tails, bounds.least, bounds.most, strict=True
        ):
            weight = (middle - cost - nu[i] - nu[j]) / (4 * beta)
            if weight <= Fraction(least):
                weight = Fraction(least)
            elif most < np.inf and weight >= Fraction(most):
                weight = Fraction(most)
            else:
                free += 1
            total += weight
        if free:
            root = middle + (half - total) * 4 * beta / free
            if low <= root <= high:
                taus.append(root)
    return taus


@given(seeds)
@examples(200)
def test_brackets_hold_what_an_excess_allows_and_little_more(seed):
    """An edge that misses its minimum of ``2βw² - pw`` by no more than the excess, and no other."""
    rng = np.random.default_rng(seed)
    beta = 10.0 ** rng.uniform(-3, 3)
    lower, upper = random_box(rng, 8)
    prices = rng.standard_normal(8) * 10.0 ** rng.uniform(-3, 16, 8)
    tops = np.where(np.isinf(upper), lower + np.abs(prices) / beta + 1.0, upper)
    weights = np.clip(lower + rng.random(8) * (tops - lower), lower, upper)

    def excess(k, weight):
        least = Fraction(prices[k]) / (4 * Fraction(beta))
        least = max(least, Fraction(lower[k]))
        least = least if upper[k] == np.inf else min(least, Fraction(upper[k]))
        costs = [2 * Fraction(beta) * w * w - Fraction(prices[k]) * w for w in (weight, least)]
        return costs[0] - costs[1]

    for k in range(8):
        allowed = float(excess(k, Fraction(weights[k])))
        low, high = dual_brackets(beta, prices, lower, upper, allowed)
        assert low[k] <= weights[k] * (1 + 1e-15)
        assert weights[k] * (1 - 1e-15) <= high[k]
        for end, bound in ((low[k], lower[k]), (high[k], upper[k])):
            if end != bound:
                middle = float(np.clip(prices[k] / (4 * beta), lower[k], upper[k]))
                inward = Fraction(end) + (Fraction(middle) - Fraction(end)) / 10**6
                inward += Fraction(np.sign(middle - end)) * Fraction(middle) / 10**11
                assert excess(k, inward) <= Fraction(allowed) or (inward > middle) == (end < middle)


def solved_exactly(fractions):
    """Solve a small linear system, the right side last; None if it is singular."""
    rows = [list(row) for row in fractions]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][k]:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def exact_graph(costs, eta, lower, upper, total):
    """Return the optimal weights and value of three vertices, by trying all sets of bounds."""
    # 2ηΣw² + ηΣdeg² + cᵀw: its Hessian has 8η on the diagonal and 2η elsewhere.
    for places in product(("free", "low", "high"), repeat=3):
        sides = {"low": lower, "high": upper}
        if any(place == "high" and upper[k] is None for k, place in enumerate(places)):
            continue
        system = []
        for k, place in enumerate(places):
            if place == "free":
                row = [8 * eta if j == k else 2 * eta for j in range(3)]
                system.append([*row, Fraction(-1), -costs[k]])
            else:
                row = [Fraction(int(j == k)) for j in range(3)]
                system.append([*row, Fraction(0), sides[place][k]])
        if "free" in places:
            system.append([Fraction(1)] * 3 + [Fraction(0), total])
            found = solved_exactly(system)
            if found is None:
                continue
            weights = found[:3]
        else:
            weights = [sides[place][k] for k, place in enumerate(places)]
            if sum(weights) != total:
                continue
        if any(w < low for w, low in zip(weights, lower, strict=True)):
            continue
        if any(top is not None and w > top for w, top in zip(weights, upper, strict=True)):
            continue
        # No weight can be moved from a dearer edge to a cheaper one.
        gradient = [costs[k] + 6 * eta * weights[k] + 2 * eta * sum(weights) for k in range(3)]
        falling = [k for k in range(3) if weights[k] > lower[k]]
        rising = [k for k in range(3) if upper[k] is None or weights[k] < upper[k]]
        if any(gradient[a] > gradient[b] for a in falling for b in rising):
            continue
        degrees = [weights[0] + weights[1], weights[0] + weights[2], weights[1] + weights[2]]
        value = sum(c * w for c, w in zip(costs, weights, strict=True))
        value += eta * (2 * sum(w * w for w in weights) + sum(u * u for u in degrees))
        return weights, value
    raise AssertionError("no optimum")


@given(
    seeds,
    st.permutations([0.0, 1.0, 3.0, 1e4, 1e8]),
    st.sampled_from([1e-3, 1.0, 1e3]),
    st.booleans(),
)
@example(0, [0.0, 1.0, 1e8, 3.0, 1e4], 1e-3, False)
@examples(150)
def test_verdicts_of_three_vertices_hold_exactly(seed, values, eta, listed):
    """Bounds, values and brackets, for graphs that a solver found and for graphs that are poor."""
    rng = np.random.default_rng(seed)
    row = np.array(values[:3])
    lower, upper = random_box(rng, 3)
    total, possible = in_the_limit(lower, upper, rng)
    assume(possible and total > 1e-6)
    pairs = np.column_stack(edge_index(3))
    bounds = EdgeBounds(lower, upper)
    if listed:
        assume((upper > 0.0).all())
        bounds = EdgeBounds.from_list(3, pairs, lower=lower, upper=upper)
    nominal = Nominal.from_samples(row[np.newaxis])
    problem = GraphProblem(nominal, Singleton(), eta, 2 * total, bounds=bounds)
    costs = [(Fraction(row[i]) - Fraction(row[j])) ** 2 for i, j in pairs]
    caps = [None if top == np.inf else Fraction(top) for top in upper]
    best, optimum = exact_graph(costs, Fraction(eta), exactly(lower), caps, Fraction(total))
    answer = solve(problem)
    poor = laplacian_from_weights(rng.random(3) * total)
    for laplacian, certificate in ((answer.laplacian, answer.certificate), (poor, None)):
        graph = sparse.csr_array(laplacian) if listed else laplacian
        verdict = judge(problem, graph, certificate)
        assert Fraction(verdict.bound) <= optimum <= Fraction(verdict.value)
        sides = zip(exactly(verdict.edges.lower), verdict.edges.upper, best, strict=True)
        for least, most, weight in sides:
            assert least <= weight
            assert most == np.inf or weight <= Fraction(float(most))
    assert answer.gap <= 1e-5


def nearly_full(d=5):
    """All pairs of the first four vertices capped at a sixth, which is less than one in all."""
    upper = np.full((d, d), np.inf)
    upper[:4, :4] = 1 / 6
    return EdgeBounds.from_matrices(np.zeros((d, d)), upper)


@pytest.mark.parametrize("sparsely", [False, True])
def test_a_crumb_that_only_dear_edges_can_take_is_paid_for(sparsely):
    """Six sixths lack 2⁻⁵⁴ of one, and the only edges with room cost 1e16."""
    bounds, row = nearly_full(), np.array([[0.0, 1.0, 2.0, 3.0, 1e8]])
    if sparsely:
        pairs = np.column_stack(edge_index(5))
        bounds = EdgeBounds.from_list(5, pairs, upper=bounds.upper)
    problem = GraphProblem(Nominal.from_samples(row), Singleton(), 1e-3, 2.0, bounds=bounds)
    sixth, crumb = Fraction(1 / 6), Fraction(1, 2**54)
    assert 6 * sixth + crumb == 1
    inner = sixth * (1 + 4 + 9 + 1 + 4 + 1) + Fraction(1e-3) * sixth**2 * (2 * 6 + 4 * 9)
    optimum = inner + crumb * (10**8 - 3) ** 2  # but for terms of 1e-19
    answer = solve(problem)
    naive = laplacian_from_weights(np.where(np.isinf(bounds.upper), 0.0, bounds.upper))
    for laplacian in (answer.laplacian, naive):
        graph = sparse.csr_array(laplacian) if sparsely else laplacian
        verdict = judge(problem, graph)
        assert Fraction(verdict.bound) <= optimum + Fraction(1, 10**15)
        assert optimum <= Fraction(verdict.value)
        assert verdict.value <= float(optimum) * (1 + 1e-6)
        assert verdict.bound >= float(optimum) * (1 - 1e-6)
        assert not verdict.edges.absent(1e-17).reshape(-1)[[3, 6, 8, 9]].all()
        assert verdict.edges.present()[[0, 1, 2, 4, 5, 7]].all()
    assert answer.status.name == "SOLVED"


def test_a_crumb_goes_to_the_cheapest_of_the_dear():
    """The first vertex costs 1e16, the last 1e12; prices know weights only to far above 2⁻⁵⁴."""
    upper = np.full((6, 6), np.inf)
    upper[1:5, 1:5] = 1 / 6
    bounds = EdgeBounds.from_matrices(np.zeros((6, 6)), upper)
    row = np.array([[1e8, 0.0, 1.0, 2.0, 3.0, 1e6]])
    problem = GraphProblem(Nominal.from_samples(row), Singleton(), 1e-3, 2.0, bounds=bounds)
    answer = solve(problem)
    assert answer.status.name == "SOLVED"
    assert answer.value <= (20 / 6 + 48e-3 / 36 + 1e12 * 2.0**-54) * (1 + 1e-6)


@pytest.mark.parametrize("radius", [0.0, 0.5])
def test_a_transport_ball_around_it_is_solved_too(radius):
    row = np.array([[0.0, 1.0, 2.0, 3.0, 1e8]])
    problem = GraphProblem(
        Nominal.from_samples(row), WassersteinBall(radius), 1e-3, 2.0, bounds=nearly_full()
    )
    answer = solve(problem)
    assert answer.value > 3.888
    assert answer.gap <= 1e-5


@pytest.mark.parametrize("sparsely", [False, True])
@pytest.mark.parametrize("size", [1.0, 1e8])
def test_graphs_that_are_pinned_altogether_are_judged_to_rounding(size, sparsely):
    """There is but one graph, whatever τ; a sum that is off by a rounding is another problem."""
    rng = np.random.default_rng(3)
    weights = rng.integers(1, 2**40, 10) / 2.0**40
    row = np.round(size * rng.standard_normal(5) * 8)
    pairs = np.column_stack(edge_index(5))
    bounds = EdgeBounds.from_list(5, pairs, lower=weights, upper=weights)
    nominal, total = Nominal.from_samples(row[np.newaxis]), float(sum(exactly(weights)))
    assert Fraction(total) == sum(exactly(weights))
    problem = GraphProblem(nominal, Singleton(), 1e-3, 2 * total, bounds=bounds)
    verdict = judge(problem, solve(problem))
    if sparsely:
        verdict = judge(problem, sparse.csr_array(laplacian_from_weights(weights)))
    degrees = [sum(exactly(weights[(pairs == k).any(axis=1)])) for k in range(5)]
    optimum = sum(
        weight * (Fraction(row[i]) - Fraction(row[j])) ** 2
        for weight, (i, j) in zip(exactly(weights), pairs, strict=True)
    )
    optimum += Fraction(1e-3) * (2 * sum(w * w for w in exactly(weights)))
    optimum += Fraction(1e-3) * sum(u * u for u in degrees)
    assert Fraction(verdict.bound) <= optimum <= Fraction(verdict.value)
    assert verdict.value - verdict.bound <= 1e-11 * float(optimum)
    np.testing.assert_array_equal(verdict.edges.lower, weights)
    np.testing.assert_array_equal(verdict.edges.upper, weights)
    off = np.nextafter(2 * total, np.inf)
    with pytest.raises(ProblemError, match="no graph has this trace"):
        GraphProblem(nominal, Singleton(), 1e-3, float(off), bounds=bounds)


def test_repaired_graphs_sum_to_the_trace_dense_and_sparse():
    problem = GraphProblem(
        Nominal.from_samples(np.arange(5.0)[np.newaxis]),
        Singleton(),
        0.1,
        2.0,
        bounds=nearly_full(),
    )
    naive = laplacian_from_weights(np.full(10, 0.3))
    dense = weights_from_laplacian(problem.prior.repaired(naive))
    assert_sums_to(dense, problem.bounds.lower, problem.bounds.upper, 1.0)
    pairs = np.column_stack(edge_index(5))
    listed = EdgeBounds.from_list(5, pairs, upper=nearly_full().upper)
    prior = GraphProblem(problem.nominal, Singleton(), 0.1, 2.0, bounds=listed).prior
    _, graph, _ = repaired(sparse.csr_array(naive), prior)
    assert sum(exactly(graph.weights)) == 1
    start = weights_from_laplacian(prior.start(5))
    assert_sums_to(start, listed.lower, listed.upper, 1.0)
