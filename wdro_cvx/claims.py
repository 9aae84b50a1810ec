"""Claims: the ambiguity sets that a formulation or solver accepts, by class or by structure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.ambiguity.reweighting import WeightsBall
from wdro_cvx.ambiguity.structure import Atoms, Norm, Structure, Surcharge, Transport
from wdro_cvx.errors import ProblemError
from wdro_cvx.problem import GraphProblem
from wdro_cvx.registry import name_of
from wdro_cvx.terms.base import Term


@dataclass(frozen=True)
class Offer:
    """A kind of structure by which a solver can claim sets.

    Attributes
    ----------
    name : str
        A description of the sets, for messages.
    made_by : callable
        Says whether a structure is of this kind.
    """

    name: str
    made_by: Callable[[Structure | None], bool]


Claim: TypeAlias = type[AmbiguitySet] | Offer

NORM_BALL = Offer("balls of a norm, such as MomentBall", lambda found: isinstance(found, Norm))
SIMPLE_NORM = Offer(
    "MomentBall with p = 1, 2 or ∞",
    lambda found: isinstance(found, Norm) and found.order in (1.0, 2.0, float("inf")),
)
DEARER_PAIRS = Offer(
    "sets that make pairs dearer, such as PairBall", lambda found: isinstance(found, Surcharge)
)
REWEIGHED = Offer(
    "divergence balls, such as KLBall",
    lambda found: (
        isinstance(found, Atoms)
        and isinstance(found.measure, WeightsBall)
        # A subclass that overrides worst_case may describe another set.
        and type(found.measure).worst_case is WeightsBall.worst_case
    ),
)
WITH_GRADIENT = Offer(
    "sets whose worst case is unique",
    lambda found: not (isinstance(found, Atoms) and found.pieces),
)
MOVED_ROWS = Offer(
    "transport balls, such as WassersteinBall or MahalanobisBall",
    lambda found: isinstance(found, Transport) and found.moves_all and found.diagonal,
)
EUCLIDEAN_TRANSPORT = Offer(
    "GaussianBall or WassersteinBall",
    lambda found: isinstance(found, Transport) and found.moves_all and found.euclidean,
)


def claimed(claims: tuple[Claim, ...], problem: GraphProblem) -> bool:
    """Say whether a problem's set is among the claims."""
    return any(
        claim.made_by(problem.structure)
        if isinstance(claim, Offer)
        else isinstance(problem.ambiguity, claim)
        for claim in claims
    )


def check_terms(who: str, taken: tuple[type[Term], ...], problem: GraphProblem) -> None:
    """Raise ProblemError if a problem has a term whose class is not in ``taken``."""
    for term in problem.terms:
        if not isinstance(term, taken):
            raise ProblemError(
                f"{who} takes no {type(term).__name__} term; this problem has {term!r}. Use "
                "CertifiedSolver, or a formulation such as SampleAverage."
            )


def check_stated(cls: type) -> None:
    """Raise ProblemError if a formulation or solver does not declare its claims."""
    stated = getattr(cls, "claims", None)
    if not (isinstance(stated, tuple) and stated and all(map(_is_claim, stated))):
        raise ProblemError(
            f"{name_of(cls)} cannot be registered: claims must be the tuple of ambiguity sets "
            f"whose problems it solves, such as (GaussianBall,); it is {stated!r}."
        )


def _is_claim(item: object) -> bool:
    return isinstance(item, Offer) or (isinstance(item, type) and issubclass(item, AmbiguitySet))


def check_claims(who: str, claims: tuple[Claim, ...], problem: GraphProblem, remedy: str) -> None:
    """Raise ProblemError if a problem's set is not among the claims."""
    if not claimed(claims, problem):
        names = [claim.name if isinstance(claim, Offer) else claim.__name__ for claim in claims]
        raise ProblemError(
            f"{who} solves problems with {' or '.join(names)}; this one has "
            f"{type(problem.ambiguity).__name__}. {remedy}"
        )
