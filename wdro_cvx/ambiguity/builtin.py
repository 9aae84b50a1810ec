"""The list of built-in sets, and a check that subclasses do not redefine them.

Solvers, the judge and the exact verifier recognise built-in sets by class and fields. A subclass
that overrides a method would be treated partly as the original set.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.ambiguity.chi_square import ChiSquareBall
from wdro_cvx.ambiguity.cvar import CVaRBall
from wdro_cvx.ambiguity.gelbrich import GaussianBall, WassersteinBall
from wdro_cvx.ambiguity.hellinger import HellingerBall
from wdro_cvx.ambiguity.kl import KLBall
from wdro_cvx.ambiguity.mahalanobis import MahalanobisBall
from wdro_cvx.ambiguity.metric import MetricBall
from wdro_cvx.ambiguity.moment import MomentBall
from wdro_cvx.ambiguity.moment_uncertainty import MomentUncertainty
from wdro_cvx.ambiguity.pairs import PairBall
from wdro_cvx.ambiguity.singleton import Singleton
from wdro_cvx.ambiguity.total_variation import TotalVariationBall
from wdro_cvx.errors import ProblemError

BUILT_IN: tuple[type[AmbiguitySet], ...] = (
    CVaRBall,
    ChiSquareBall,
    GaussianBall,
    HellingerBall,
    KLBall,
    MahalanobisBall,
    MetricBall,
    MomentBall,
    MomentUncertainty,
    PairBall,
    Singleton,
    TotalVariationBall,
    WassersteinBall,
)


@dataclass(frozen=True)
class _Plain(AmbiguitySet):
    """A subclass without overrides: its attributes are those that every dataclass has."""


_MADE = frozenset(vars(_Plain)) | {"__annotations__"}


def check_meaning(ambiguity: AmbiguitySet) -> None:
    """Raise ProblemError for a subclass of a built-in set that overrides one of its members.

    A new name, new defaults and further fields are allowed.
    """
    line = type(ambiguity).__mro__
    known = next((cls for cls in line if cls in BUILT_IN), None)
    if known is None or known is line[0]:
        return
    parameters = {field.name for field in fields(known)}
    for cls in line[: line.index(known)]:
        for name, value in vars(cls).items():
            default = name in parameters and not hasattr(value, "__get__")
            changes = hasattr(known, name) or name in parameters
            if name not in _MADE and changes and not default:
                raise ProblemError(
                    f"{type(ambiguity).__name__} subclasses {known.__name__} and overrides its "
                    f"{name}: solvers and the judge would treat it as a {known.__name__}. Subclass "
                    "AmbiguitySet instead, or override nothing."
                )
