"""The convex programs of the paper, and ours, stated in CVXPY."""

import importlib
import pkgutil

from formulations.algebra import (
    CombinedProgram,
    CoordinatesProgram,
    ShiftIntersectionProgram,
    WeightsIntersectionProgram,
)
from formulations.backends import installed_backends
from formulations.base import Formulation, Risk, register, registered
from formulations.chi_square_premium import ChiSquarePremium
from formulations.cvar_program import CVaRProgram
from formulations.dual import MomentSet
from formulations.gaussian_closed_form import GaussianClosedForm
from formulations.gaussian_dual import GaussianDual
from formulations.gaussian_sdp import GaussianSDP
from formulations.general_regularized import GeneralRegularized
from formulations.general_sdp import GeneralSDP
from formulations.hellinger_dual import HellingerDual
from formulations.kl_dual import KLDual
from formulations.lmi import (
    FractionalTerm,
    TransportPremium,
    fractional_term,
    transport_premium,
)
from formulations.mahalanobis_premium import MahalanobisPremium
from formulations.metric_premium import MetricPremium
from formulations.moment_premium import MomentPremium
from formulations.pair_regularized import PairRegularized
from formulations.robust_premium import RobustPremium
from formulations.sample_average import SampleAverage
from formulations.total_variation_program import TotalVariationProgram
from formulations.variables import LaplacianVariable, laplacian_variable, smoothness

# A file added to this package registers itself without a change here.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "CVaRProgram",
    "ChiSquarePremium",
    "CombinedProgram",
    "CoordinatesProgram",
    "Formulation",
    "FractionalTerm",
    "GaussianClosedForm",
    "GaussianDual",
    "GaussianSDP",
    "GeneralRegularized",
    "GeneralSDP",
    "HellingerDual",
    "KLDual",
    "LaplacianVariable",
    "MahalanobisPremium",
    "MetricPremium",
    "MomentPremium",
    "MomentSet",
    "PairRegularized",
    "Risk",
    "RobustPremium",
    "SampleAverage",
    "ShiftIntersectionProgram",
    "TotalVariationProgram",
    "TransportPremium",
    "WeightsIntersectionProgram",
    "fractional_term",
    "installed_backends",
    "laplacian_variable",
    "register",
    "registered",
    "smoothness",
    "transport_premium",
]
