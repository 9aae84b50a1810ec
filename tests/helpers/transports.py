"""Problems with transport sets, for the tests of their interior point and ADMM."""

import numpy as np
from instances import random_nominal

from formulations import MahalanobisPremium, MomentPremium, RobustPremium
from solvers.bracket.incumbent import Incumbent
from wdro_cvx import (
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    MahalanobisBall,
    MomentUncertainty,
    WassersteinBall,
)

CONIC = 2e-6  # 1e-6 for the certified solver, plus the error of Clarabel

FORMS = {
    "wasserstein": RobustPremium,
    "gaussian": RobustPremium,
    "mahalanobis": MahalanobisPremium,
    "moments": MomentPremium,
}


def transport_set(kind, d, radius, rng, spread=1.0):
    if kind == "wasserstein":
        return WassersteinBall(radius)
    if kind == "gaussian":
        return GaussianBall(radius)
    if kind == "mahalanobis":
        return MahalanobisBall(radius, scales=tuple(10 ** rng.uniform(-spread, spread, d)))
    return MomentUncertainty(1.0, mean_radius=radius, covariance_radius=0.3 * radius)


def random_bounds(kind, d, trace, rng):
    m = d * (d - 1) // 2
    lower, upper = np.zeros(m), np.full(m, np.inf)
    some = rng.permutation(m)[: m // 3]
    if kind == "mask":
        upper[some] = 0.0
    elif kind == "pins":
        lower[some] = upper[some] = 0.3 * trace / m
    elif kind == "caps":
        upper[:] = 1.5 * trace / (2 * m)
    else:
        return None
    return EdgeBounds(lower, upper)


def make(kind, d=7, n=3, radius=2.0, eta=0.05, seed=0, *, trace=None, penalty=None, bounds=""):
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, n)
    limits = random_bounds(bounds, d, d if trace is None else trace, rng)
    ambiguity = transport_set(kind, d, radius, rng)
    return GraphProblem(nominal, ambiguity, eta, trace, penalty, limits)


def started(problem):
    """Return a feasible incumbent, as the proximal phase might leave it."""
    incumbent = Incumbent(problem)
    incumbent.evaluate(incumbent.bound_by(problem.nominal.second_moment, None).laplacian)
    return incumbent


def form_of(problem):
    return problem.structure
