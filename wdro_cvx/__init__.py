"""The vocabulary of robust graph learning: problems, ambiguity sets, solutions and the judge."""

import importlib
from typing import TYPE_CHECKING, Any

from wdro_cvx.ambiguity import (
    AmbiguitySet,
    ChiSquareBall,
    CombinedSet,
    CVaRBall,
    GaussianBall,
    HellingerBall,
    KLBall,
    MahalanobisBall,
    MetricBall,
    MomentBall,
    MomentUncertainty,
    PairBall,
    SetInCoordinates,
    Singleton,
    TotalVariationBall,
    WassersteinBall,
    WorstCase,
    register_ambiguity,
    registered_ambiguities,
)
from wdro_cvx.errors import DataError, ProblemError, SolverError, WdroError
from wdro_cvx.graphs.bounds import EdgeBounds
from wdro_cvx.judge import Verdict, judge
from wdro_cvx.moments.distribution import Discrete, Distribution, Gaussian
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.priors import Frobenius, LogDegree
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Certificate, Solution, Status
from wdro_cvx.terms import (
    KnownEdges,
    KnownGraph,
    LogDet,
    Residuals,
    Stationarity,
    Term,
    register_term,
    registered_terms,
)

if TYPE_CHECKING:
    from wdro_cvx.testing import check_ambiguity, check_formulation, check_solver, check_term

# Loaded when first asked for. The digest of a result reads this (experiments/measuring/digest.py).
_LAZY = {
    "check_ambiguity": "testing",
    "check_formulation": "testing",
    "check_solver": "testing",
    "check_term": "testing",
}

__all__ = [
    "AmbiguitySet",
    "CVaRBall",
    "Certificate",
    "ChiSquareBall",
    "CombinedSet",
    "DataError",
    "Discrete",
    "Distribution",
    "EdgeBounds",
    "Frobenius",
    "Gaussian",
    "GaussianBall",
    "GraphProblem",
    "HellingerBall",
    "KLBall",
    "KnownEdges",
    "KnownGraph",
    "LogDegree",
    "LogDet",
    "MahalanobisBall",
    "MetricBall",
    "MomentBall",
    "MomentUncertainty",
    "Nominal",
    "PairBall",
    "ProblemError",
    "Residuals",
    "SetInCoordinates",
    "Singleton",
    "Solution",
    "SolverError",
    "Stationarity",
    "Status",
    "Term",
    "TotalVariationBall",
    "Verdict",
    "WassersteinBall",
    "WdroError",
    "WorstCase",
    "check_ambiguity",
    "check_formulation",
    "check_solver",
    "check_term",
    "judge",
    "register_ambiguity",
    "register_term",
    "registered_ambiguities",
    "registered_terms",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
