"""Worst-case distributions in the open, an adversary who tries to do worse, and the sandwich."""

from __future__ import annotations

import numpy as np

from experiments.propositions.claims import Trial, claim, deviation
from experiments.propositions.draw import (
    RANGES,
    REGULAR,
    Drawn,
    draw,
    draw_regular,
    monge_distance,
    transport_distance,
)
from wdro_cvx import Discrete, Distribution, Gaussian, GaussianBall, WassersteinBall, WorstCase
from wdro_cvx.moments.distribution import uniform
from wdro_cvx.validation import Array

_STARTS = 5
_STEPS = 5000


def worst_case(drawn: Drawn, gaussian: bool) -> WorstCase:
    """Return the worst case over the Gaussian or the Wasserstein ball."""
    ball = GaussianBall(drawn.radius) if gaussian else WassersteinBall(drawn.radius)
    return ball.worst_case(drawn.nominal, drawn.laplacian)


def expected_smoothness(distribution: Distribution, laplacian: Array) -> float:
    """Return ``E[xᵀLx]``."""
    return float(np.vdot(distribution.second_moment, laplacian))


@claim(
    "Worst-case samples",
    "(nothing)",
    "Moving every sample x to γ(γI - L)⁻¹x attains the worst-case risk at distance ε.",
    "the distance from POT's exact plan; the risk of the moved samples against our oracle",
    RANGES,
    1e-6,
    "POT's plan is exact; squared distances lose digits where ε is small against the signals",
    ours=True,
)
def worst_samples(rng: np.random.Generator, d: int) -> Trial:
    """Measure distance and risk of the transported samples."""
    drawn = draw(rng, d)
    samples = drawn.nominal.samples
    assert samples is not None
    worst = worst_case(drawn, gaussian=False)
    moved = worst.distribution
    assert isinstance(moved, Discrete)
    distance = transport_distance(uniform(samples), moved)
    risk = expected_smoothness(moved, drawn.laplacian)
    largest = max(deviation(distance, drawn.radius), deviation(risk, worst.risk))
    return Trial(largest, drawn.data())


@claim(
    "Worst-case Gaussian",
    "(nothing)",
    "The Gaussian with μ* = γ(γI - L)⁻¹μ and Σ* = γ²(γI - L)⁻¹Σ(γI - L)⁻¹ does the same.",
    "the distance from POT's exact plan between points with both moments; the risk against our "
    "oracle",
    REGULAR,
    1e-6,
    "roots of matrices lose digits where ε is small against the signals",
    ours=True,
)
def worst_gaussian(rng: np.random.Generator, d: int) -> Trial:
    """Measure distance and risk of the worst Gaussian."""
    drawn = draw_regular(rng, d)
    nominal, worst = drawn.nominal, worst_case(drawn, gaussian=True)
    moved = worst.distribution
    assert isinstance(moved, Gaussian)
    pair = (nominal.mean, nominal.covariance), (moved.mean, moved.covariance)
    risk = expected_smoothness(moved, drawn.laplacian)
    largest = max(deviation(monge_distance(rng, *pair), drawn.radius), deviation(risk, worst.risk))
    return Trial(largest, drawn.data())


def adversary(drawn: Drawn, rng: np.random.Generator) -> float:
    """Search the ball of moved samples for a larger risk, by gradient ascent from random starts.

    The risk is convex in the moves, so the longest step along the gradient that stays in the ball
    never descends.
    """
    samples = drawn.nominal.samples
    assert samples is not None
    length = drawn.radius * np.sqrt(len(samples))
    best = -np.inf
    for _ in range(_STARTS):
        moves = rng.standard_normal(samples.shape)
        for _ in range(_STEPS):
            gradient = (samples + moves) @ drawn.laplacian
            new = gradient * (length / np.linalg.norm(gradient))
            change = float(np.abs(new - moves).max())
            moves = new
            if change <= 1e-12 * length:
                break
        moved = samples + moves
        best = max(best, float(np.vdot(moved @ drawn.laplacian, moved)) / len(samples))
    return best


@claim(
    "Adversary",
    "(nothing)",
    "The best that gradient ascent over the ball finds is the worst case, and never more.",
    "ascent over the moves of the samples from five random starts, against our oracle",
    REGULAR,
    1e-6,
    "the ascent's linear convergence in 5000 steps",
    ours=True,
)
def adversary_never_wins(rng: np.random.Generator, d: int) -> Trial:
    """Compare the adversary's best with the worst case."""
    drawn = draw_regular(rng, d)
    risk = worst_case(drawn, gaussian=False).risk
    return Trial(deviation(adversary(drawn, rng), risk), drawn.data())


def sandwich(drawn: Drawn) -> tuple[float, float]:
    """Return the lower and the upper bound of the premium."""
    root = float(np.linalg.norm(drawn.nominal.factor @ drawn.laplacian))
    by_data, by_graph = 2 * drawn.radius * root, drawn.radius**2 * drawn.top
    return max(by_data, by_graph), by_data + by_graph


@claim(
    "Sandwich",
    "(nothing)",
    "max(2ε‖LΘ^½‖, ε²λmax) ≤ premium ≤ 2ε‖LΘ^½‖ + ε²λmax; for one edge the right side is exact.",
    "both bounds against our oracle; equality for d = 2",
    RANGES,
    1e-9,
    "rounding",
    ours=True,
)
def sandwich_bound(rng: np.random.Generator, d: int) -> Trial:
    """See that the premium lies between its bounds."""
    drawn = draw(rng, d)
    nominal = float(np.vdot(drawn.nominal.second_moment, drawn.laplacian))
    premium = worst_case(drawn, gaussian=False).risk - nominal
    low, high = sandwich(drawn)
    largest = max(low - premium, premium - high, 0.0) / premium
    if drawn.d == 2:
        largest = max(largest, deviation(premium, high))
    return Trial(largest, drawn.data())
