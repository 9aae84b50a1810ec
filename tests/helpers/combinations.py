"""Combinations of sets by the algebra, for six vertices."""

import numpy as np

from wdro_cvx import (
    ChiSquareBall,
    CVaRBall,
    GaussianBall,
    HellingerBall,
    KLBall,
    MahalanobisBall,
    MetricBall,
    MomentBall,
    MomentUncertainty,
    PairBall,
    TotalVariationBall,
    WassersteinBall,
)
from wdro_cvx.testing.problems import D

T = np.eye(D) + 0.3 * np.random.default_rng(0).standard_normal((D, D))
SCALES = tuple(np.linspace(0.5, 1.5, D))
NORMS = MomentBall(1.0) & MomentBall(0.15, p=np.inf)
FEW = KLBall(0.3) & CVaRBall(0.5)

#: A handful for the quick suite: sums, multiples, coordinates, both kinds of intersections.
QUICK = {
    "kl + wasserstein": KLBall(0.2) + WassersteinBall(0.4),
    "total variation + half a ball": TotalVariationBall(0.2) + 0.5 * WassersteinBall(1.0),
    "moments in coordinates": MomentBall(0.3, p=1.5).in_coordinates(T),
    "kl & cvar": FEW,
    "norms": NORMS,
}
ALL = QUICK | {
    "three": KLBall(0.1) + GaussianBall(0.2) + MomentBall(0.1),
    "cvar + largest degree": CVaRBall(0.5) + MomentBall(0.2, p=1.0),
    "hellinger + pairs": HellingerBall(0.1) + PairBall(0.1),
    "thrice": 3.0 * MomentBall(0.2, p=1.5),
    "twice": 2.0 * WassersteinBall(0.5),
    "mahalanobis + chi-square": MahalanobisBall(0.3, SCALES) + ChiSquareBall(0.5),
    "mean and covariance + kl": MomentUncertainty(0.2, 1.0, 1.0) + KLBall(0.1),
    "metric + cvar": MetricBall(0.3, T) + CVaRBall(0.3),
    "wasserstein in coordinates": WassersteinBall(0.5).in_coordinates(T),
    "largest entry in coordinates": MomentBall(0.3, p=1.0).in_coordinates(T),
    "sum in coordinates": (KLBall(0.1) + WassersteinBall(0.3)).in_coordinates(T),
    "kl & chi-square": KLBall(0.2) & ChiSquareBall(0.3),
    "hellinger & cvar & kl": HellingerBall(0.1) & CVaRBall(1.0) & KLBall(0.4),
    "smooth norms": MomentBall(2.0, p=1.0) & MomentBall(0.5, p=1.5),
    "sharp norms": MomentBall(1.0, p=1.0) & MomentBall(0.1, p=np.inf),
    "intersection + ball": FEW + WassersteinBall(0.2),
    "twice an intersection": 2.0 * NORMS + KLBall(0.1),
}
