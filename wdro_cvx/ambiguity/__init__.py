"""Ambiguity sets; each implements the worst-case second moment for a given Laplacian."""

import importlib
import pkgutil

from wdro_cvx.ambiguity.algebra import CombinedSet, SetInCoordinates
from wdro_cvx.ambiguity.base import (
    AmbiguitySet,
    WorstCase,
    register_ambiguity,
    registered_ambiguities,
)
from wdro_cvx.ambiguity.chi_square import ChiSquareBall
from wdro_cvx.ambiguity.cvar import CVaRBall
from wdro_cvx.ambiguity.gelbrich import GaussianBall, WassersteinBall
from wdro_cvx.ambiguity.hellinger import HellingerBall
from wdro_cvx.ambiguity.intersection import ShiftIntersection, WeightsIntersection
from wdro_cvx.ambiguity.kl import KLBall
from wdro_cvx.ambiguity.mahalanobis import MahalanobisBall
from wdro_cvx.ambiguity.membership import Membership
from wdro_cvx.ambiguity.metric import MetricBall
from wdro_cvx.ambiguity.moment import MomentBall
from wdro_cvx.ambiguity.moment_uncertainty import MomentUncertainty
from wdro_cvx.ambiguity.names import ambiguity_names, named_ambiguity
from wdro_cvx.ambiguity.pairs import PairBall
from wdro_cvx.ambiguity.reweighting import PiecewiseBall, ReweightingBall
from wdro_cvx.ambiguity.singleton import Singleton
from wdro_cvx.ambiguity.structure import Atoms, Norm, Piece, Surcharge, Transport
from wdro_cvx.ambiguity.tilting import TiltedBall
from wdro_cvx.ambiguity.total_variation import TotalVariationBall

# Import all modules, so that new files register their sets.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "AmbiguitySet",
    "Atoms",
    "CVaRBall",
    "ChiSquareBall",
    "CombinedSet",
    "GaussianBall",
    "HellingerBall",
    "KLBall",
    "MahalanobisBall",
    "Membership",
    "MetricBall",
    "MomentBall",
    "MomentUncertainty",
    "Norm",
    "PairBall",
    "Piece",
    "PiecewiseBall",
    "ReweightingBall",
    "SetInCoordinates",
    "ShiftIntersection",
    "Singleton",
    "Surcharge",
    "TiltedBall",
    "TotalVariationBall",
    "Transport",
    "WassersteinBall",
    "WeightsIntersection",
    "WorstCase",
    "ambiguity_names",
    "named_ambiguity",
    "register_ambiguity",
    "registered_ambiguities",
]
