"""The interior point of transport sets: its direction and the length of its steps."""

from dataclasses import replace

import numpy as np
import pytest
from transports import form_of, make

from solvers.transport import interior
from solvers.transport.edges import FreeEdges
from solvers.transport.lmi import TransportLMI
from solvers.transport.system import Iterate, NewtonSystem


def interior_start(problem):
    lmi = TransportLMI.of(problem, form_of(problem), problem.prior.start(problem.d))
    edges = FreeEdges.of(problem)
    return lmi, edges, interior._start(lmi, edges)


# The conditions of optimality, from the docstring of solvers/transport/system.py.


def conditions(problem, edges, at, target):
    form = form_of(problem)
    lmi = TransportLMI.of(problem, form, problem.prior.start(problem.d))
    laplacian = edges.base + edges.combined(at.excess)
    scaled = np.diag(lmi.scales) @ laplacian @ np.diag(lmi.scales)
    slack = at.gamma * np.eye(problem.d) - scaled
    centred = form.factor - form.factor.mean(axis=1, keepdims=True)
    factor = centred / form.radius / lmi.scales
    rows = (factor + at.moves) * lmi.scales
    matrix = rows.T @ rows
    if form.rest is not None:
        matrix = matrix + form.rest / form.radius**2
    matrix = matrix + at.spread * np.outer(lmi.scales, lmi.scales)
    bend = 2 * problem.eta + form.reach / np.linalg.norm(laplacian)
    matrix = matrix + bend / form.radius**2 * laplacian
    slope = 0.0
    if problem.trace_penalty is not None:
        slope = form.radius**2 / (8 * problem.trace_penalty)
    capped = np.isfinite(edges.room)
    return [
        edges.adjoint(matrix) - at.tau - at.lower + at.upper,
        np.array([1.0 - np.sum(at.moves**2) - np.trace(at.spread)]),
        np.array([edges.total - at.excess.sum() - slope * at.tau]),
        at.moves @ slack - factor @ scaled,
        at.excess * at.lower - target,
        (edges.room - at.excess)[capped] * at.upper[capped] - target,
    ]


@pytest.mark.parametrize("bounds", ["", "mask", "pins", "caps"])
@pytest.mark.parametrize("penalty", [None, 0.7])
@pytest.mark.parametrize("kind", ["wasserstein", "mahalanobis", "moments"])
def test_the_direction_is_newtons(kind, penalty, bounds):
    """Along it every condition shrinks by the share of the way, up to the square of that share."""
    problem = make(kind, d=5, n=3, penalty=penalty, bounds=bounds, trace=4.0)
    lmi, edges, at = interior_start(problem)
    rng = np.random.default_rng(1)
    at = replace(at, moves=at.moves + 0.1 * rng.standard_normal(at.moves.shape), tau=0.3)
    noise = rng.standard_normal((5, 5))
    at = replace(at, spread=at.spread + 0.01 * noise @ noise.T)
    at = replace(at, lower=at.lower * rng.uniform(0.5, 2, at.lower.size))
    system = NewtonSystem(lmi, edges, at)
    target = 0.3 * system.complementarity() / system.count
    step = system.direction(target)
    share = 1e-6
    before = conditions(problem, edges, at, target)
    after = conditions(problem, edges, at.moved(step, share), target)
    for old, new in zip(before, after, strict=True):
        change = (new - old) / share
        np.testing.assert_allclose(change, -old, atol=1e-4 * max(1.0, np.abs(old).max(initial=0.0)))
    # W: linearised around the inverse of the slack that is fixed.
    slack = at.gamma * np.eye(5) - lmi.scaled(edges.base + edges.combined(at.excess))
    turn = step.gamma * np.eye(5) - lmi.scaled(edges.combined(step.excess))
    linear = np.linalg.solve(slack, turn @ at.spread)
    expected = target * np.linalg.inv(slack) - at.spread - (linear + linear.T) / 2
    np.testing.assert_allclose(step.spread, expected, atol=1e-9 * np.abs(expected).max())


def test_the_second_direction_has_the_second_order_of_the_first():
    """What a full first step leaves of the conditions that are products is put into the second."""
    problem = make("mahalanobis", d=5, n=3, bounds="caps", trace=4.0)
    lmi, edges, at = interior_start(problem)
    system = NewtonSystem(lmi, edges, at)
    first = system.direction(0.0)
    plain, second = system.direction(0.1), system.direction(0.1, first)
    whole = conditions(problem, edges, at.moved(first, 1.0), 0.0)
    change = [
        (new - old) / 1e-6
        for old, new in zip(
            conditions(problem, edges, at.moved(plain, 1e-6), 0.1),
            conditions(problem, edges, at.moved(second, 1e-6), 0.1),
            strict=True,
        )
    ]
    for left, turned in zip(whole, change, strict=True):
        np.testing.assert_allclose(turned, -left, atol=1e-4 * max(1.0, np.abs(left).max()))


def test_the_longest_step_ends_where_something_vanishes():
    problem = make("wasserstein", d=5, bounds="caps", trace=4.0)
    lmi, edges, at = interior_start(problem)
    system = NewtonSystem(lmi, edges, at)
    rng = np.random.default_rng(0)
    for part in ("excess", "lower", "upper", "spread", "gamma"):
        zero = Iterate(*(0.0 * np.asarray(value) for value in vars(at).values()))
        if part == "spread":
            noise = rng.standard_normal((5, 5))
            change = noise + noise.T
        else:
            change = -rng.random(np.shape(getattr(at, part)))
        length = system.longest(replace(zero, **{part: change}))
        moved = at.moved(replace(zero, **{part: change}), length)
        slack = moved.gamma * np.eye(5) - lmi.scaled(edges.base + edges.combined(moved.excess))
        least = [
            np.linalg.eigvalsh(slack)[0],
            np.linalg.eigvalsh(moved.spread)[0],
            moved.excess.min(),
            moved.lower.min(),
            moved.upper.min(),
            (edges.room - moved.excess).min(),
        ]
        assert min(least) == pytest.approx(0.0, abs=1e-9)
