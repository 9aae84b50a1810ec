"""The models with equally many candidates each, and everything that may shift.

A shift at test time is an ambiguity set around the *true* second moment, so that the risk under it,
and the best that any graph could do, come from the same code as everything else:

- none: the true distribution itself;
- drift: that of a graph with thirty per cent of another mixed in;
- sensor: one vertex, the worst for the graph, reads noise; this is the moment ball with p = 1;
- adversary: the worst distribution within a Wasserstein distance.

White noise at test time is not among them: it adds ``σ²·Tr L = σ²·d`` to the risk of every graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wdro_cvx import AmbiguitySet, GaussianBall, MomentBall, Singleton

SAA, GAUSSIAN, MIDDLE, DEGREE = "SAA", "WDRO Gaussian", "WDRO p = 3/2", "WDRO p = 1"
MODELS = (SAA, GAUSSIAN, MIDDLE, DEGREE)
_NORMS = {MIDDLE: 1.5, DEGREE: 1.0}
D = 20
NOISE = 0.1
SIZES = (10, 30, 100, 300, 1000)
#: The other scale and spoilt training signals are tried at these.
FEWER_SIZES = (30, 300)
SCALES = ("scaled", "raw")
CLEAN, NOISY, OUTLIERS = "clean", "noisy", "outliers"
#: Spoilt signals: white noise as strong as the signal; one in twenty six times as large.
NOISE_SHARE, OUTLIER_SHARE, OUTLIER_FACTOR = 1.0, 0.05, 6.0
NO_SHIFT, DRIFT, SENSOR, ADVERSARY = "none", "drift", "sensor", "adversary"
SHIFTS = (NO_SHIFT, DRIFT, SENSOR, ADVERSARY)
#: How much of another graph drifts in; how strong a broken sensor and how far the adversary is,
#: relative to the signal.
MIXED, BROKEN, DISTANCE = 0.3, 2.0, 0.3
#: The eta of the risk under test, relative to the signal; the same for all models.
TEST_ETA = 0.3

#: Fifteen candidates for every model, relative to the data.
_SAA_ETAS = tuple(float(eta) for eta in np.geomspace(0.02, 4.0, 15))
_ETAS = (0.06, 0.15, 0.4, 1.0, 2.5)
_GAUSSIAN_RADII = (0.05, 0.15, 0.4)
_MOMENT_RADII = (0.05, 0.2, 0.8)


@dataclass(frozen=True)
class ShiftTask:
    """One random graph, one sample of its signals."""

    trial: int
    seed: int
    scale: str
    n: int
    training: str


@dataclass(frozen=True)
class Candidate:
    """Eta and radius of a model, relative to the data."""

    eta: float
    radius: float


def candidates(model: str) -> list[Candidate]:
    """Return the candidates of a model."""
    if model == SAA:
        return [Candidate(eta, 0.0) for eta in _SAA_ETAS]
    radii = _GAUSSIAN_RADII if model == GAUSSIAN else _MOMENT_RADII
    return [Candidate(eta, radius) for eta in _ETAS for radius in radii]


def ball(model: str, radius: float, length: float) -> AmbiguitySet:
    """Return the set of a model, its radius in units of the mean squared length of a signal."""
    if model == SAA:
        return Singleton()
    if model == GAUSSIAN:
        return GaussianBall(radius * length)
    shape = MomentBall(1.0, p=_NORMS[model])
    # ‖vec L‖_q of a graph with even degrees grows like d^{1/q}.
    return MomentBall(radius * length**2 * D ** (-1.0 / shape.q), p=shape.p)


def tasks(trials: range, seed: int) -> list[ShiftTask]:
    """Return everything that is tried on some graphs."""
    return [ShiftTask(trial, seed, *condition) for trial in trials for condition in conditions()]


def conditions() -> list[tuple[str, int, str]]:
    """Return scale, sample size and training signals of everything that is tried."""
    clean = [(SCALES[0], n, CLEAN) for n in SIZES]
    raw = [(SCALES[1], n, CLEAN) for n in FEWER_SIZES]
    spoilt = [(SCALES[0], n, how) for how in (NOISY, OUTLIERS) for n in FEWER_SIZES]
    return clean + raw + spoilt
