"""What a formulation or a solver claims to solve: sets by class, or by what they offer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.errors import ProblemError
from wdro_cvx.registry import name_of


@dataclass(frozen=True)
class Offer:
    """Something that a set may offer beside its worst case, by which a solver can claim it.

    Attributes
    ----------
    name : str
        Which sets make it, for messages.
    made_by : callable
        Says whether a set makes it.
    """

    name: str
    made_by: Callable[[AmbiguitySet], bool]


Claim: TypeAlias = type[AmbiguitySet] | Offer

NORM_BALL = Offer("balls of a norm, such as MomentBall", lambda found: found.norm_order is not None)
FROBENIUS_BALL = Offer("MomentBall with p = 2", lambda found: found.norm_order == 2.0)
SINGLE_POINT = Offer("Singleton", lambda found: found.single_point)
MOVED_ROWS = Offer(
    "transport balls, such as WassersteinBall or MahalanobisBall",
    lambda found: found.row_scales is not None,
)
EUCLIDEAN_TRANSPORT = Offer(
    "GaussianBall or WassersteinBall",
    lambda found: found.row_scales is not None and set(found.row_scales) <= {1.0},
)


def claimed(claims: tuple[Claim, ...], ambiguity: AmbiguitySet) -> bool:
    """Say whether a set is among what is claimed."""
    return any(
        claim.made_by(ambiguity) if isinstance(claim, Offer) else isinstance(ambiguity, claim)
        for claim in claims
    )


def check_stated(cls: type) -> None:
    """Raise ProblemError unless a formulation or a solver says what it claims."""
    stated = getattr(cls, "claims", None)
    if not (isinstance(stated, tuple) and stated and all(map(_is_claim, stated))):
        raise ProblemError(
            f"{name_of(cls)} cannot be registered: claims must be the tuple of ambiguity sets "
            f"whose problems it solves, such as (GaussianBall,); it is {stated!r}."
        )


def _is_claim(item: object) -> bool:
    return isinstance(item, Offer) or (isinstance(item, type) and issubclass(item, AmbiguitySet))


def check_claims(who: str, claims: tuple[Claim, ...], ambiguity: AmbiguitySet, remedy: str) -> None:
    """Raise ProblemError unless a set is among what is claimed."""
    if not claimed(claims, ambiguity):
        names = [claim.name if isinstance(claim, Offer) else claim.__name__ for claim in claims]
        raise ProblemError(
            f"{who} solves problems with {' or '.join(names)}; this one has "
            f"{type(ambiguity).__name__}. {remedy}"
        )
