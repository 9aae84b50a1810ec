"""Ambiguity sets: each is one function, the worst-case second moment for a given Laplacian."""

from wdro_cvx.ambiguity.atoms import Atoms
from wdro_cvx.ambiguity.base import (
    AmbiguitySet,
    WorstCase,
    register_ambiguity,
    registered_ambiguities,
)
from wdro_cvx.ambiguity.chi_square import ChiSquareBall
from wdro_cvx.ambiguity.gelbrich import GaussianBall, WassersteinBall
from wdro_cvx.ambiguity.kl import KLBall
from wdro_cvx.ambiguity.mahalanobis import MahalanobisBall
from wdro_cvx.ambiguity.moment import MomentBall
from wdro_cvx.ambiguity.moment_uncertainty import MomentUncertainty
from wdro_cvx.ambiguity.names import ambiguity_names, named_ambiguity
from wdro_cvx.ambiguity.singleton import Singleton
from wdro_cvx.ambiguity.transport_form import TransportForm

__all__ = [
    "AmbiguitySet",
    "Atoms",
    "ChiSquareBall",
    "GaussianBall",
    "KLBall",
    "MahalanobisBall",
    "MomentBall",
    "MomentUncertainty",
    "Singleton",
    "TransportForm",
    "WassersteinBall",
    "WorstCase",
    "ambiguity_names",
    "named_ambiguity",
    "register_ambiguity",
    "registered_ambiguities",
]
