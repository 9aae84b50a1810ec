"""What a proposition is, how it is tried, and when it holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from experiments.propositions.drawn import Family

T = TypeVar("T")
Check = Callable[[T, np.random.Generator], "Attempt"]
#: A proposition is refuted by a deviation this many times its tolerance.
_BEYOND_DOUBT = 100.0


class Ruling(Enum):
    """What the attempts say about a proposition."""

    HOLDS = "holds"
    FAILS = "fails"
    CORRECTED = "holds as corrected"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Attempt:
    """What one random instance says about a proposition.

    ``printed`` and ``corrected`` are the relative deviations of the printed statement and of our
    correction from the truth; NaN where an expression has no value. ``data`` is the instance, so
    that a counterexample can be inspected.
    """

    printed: float
    data: Mapping[str, ArrayLike]
    corrected: float | None = None


@dataclass(frozen=True)
class Proposition:
    """A statement of the paper, or one of ours, that can be tried."""

    key: str
    name: str
    #: What the paper says, and what we find. The ruling is on the former unless it is ``ours``.
    says: str
    finds: str
    #: The instances that it is tried on.
    family: Family[Any]
    #: The largest deviation of a statement that holds, and what limits the accuracy.
    within: tuple[float, str]
    check: Check[Any]
    #: What is compared, and how both sides are computed: the docstring of ``check``.
    routes: str
    #: A deviation that inaccurate computations cannot explain.
    refuted: float
    #: What docs/propositions.md reports; a run that finds something else fails.
    known: Ruling = Ruling.HOLDS
    #: The smallest and the largest number of vertices.
    dimensions: tuple[int, int] = (2, 6)
    #: How many instances are enough, for checks that take seconds.
    most: int = 100_000
    #: The entry of docs/paper.md that it shows. Propositions with the same entry count once.
    erratum: str = ""
    #: Whether the paper states nothing of the kind.
    ours: bool = False

    def attempt(self, seed: int, index: int, dimensions: Sequence[int] = ()) -> Attempt:
        """Try it on its ``index``-th instance; if ``dimensions`` are given, take them in turn."""
        rng = np.random.default_rng([seed, index, int.from_bytes(self.key.encode(), "little")])
        low, high = self.dimensions
        d = int(rng.integers(low, high + 1))
        size = dimensions[index % len(dimensions)] if dimensions else d
        return self.check(self.family.draw(rng, size), rng)


PROPOSITIONS: dict[str, Proposition] = {}


def proposition(
    name: str, says: str, finds: str, family: Family[T], within: tuple[float, str], **more: Any
) -> Callable[[Check[T]], Check[T]]:
    """Register a check as a :class:`Proposition`; its key is the function's name if not given."""

    def register(check: Check[T]) -> Check[T]:
        key = more.pop("key", check.__name__.replace("_", "-"))
        if key in PROPOSITIONS:
            raise ValueError(f"there are two propositions {key!r}.")
        routes = " ".join((check.__doc__ or "").split())
        limit = more.pop("refuted", _BEYOND_DOUBT * within[0])
        PROPOSITIONS[key] = Proposition(
            key, name, says, finds, family, within, check, routes, limit, **more
        )
        return check

    return register


@dataclass(frozen=True)
class Finding:
    """All attempts at one proposition; ``dimensions`` if the user chose them."""

    proposition: Proposition
    attempts: Sequence[Attempt]
    dimensions: Sequence[int] = ()

    @property
    def vertices(self) -> str:
        """The numbers of vertices of the instances, in words."""
        chosen = ", ".join(str(d) for d in self.dimensions)
        return chosen or "–".join(str(d) for d in self.proposition.dimensions)

    @property
    def worst(self) -> float:
        """The largest deviation of the printed statement; NaN if it was undefined once."""
        return float(np.max([attempt.printed for attempt in self.attempts]))

    @property
    def corrections(self) -> list[float]:
        """The deviations of our correction; none if there is no correction."""
        return [a.corrected for a in self.attempts if a.corrected is not None]

    @property
    def ruling(self) -> Ruling:
        """The ruling. Only two instances beyond doubt refute a statement."""
        tolerance, refuted = self.proposition.within[0], self.proposition.refuted
        printed = [_defined(attempt.printed) for attempt in self.attempts]
        if max(printed) <= tolerance:
            return Ruling.HOLDS
        if sum(deviation > refuted for deviation in printed) < 2:
            return Ruling.UNDECIDED
        corrected = max(map(_defined, self.corrections), default=math.inf)
        if corrected <= tolerance:
            return Ruling.CORRECTED
        return Ruling.FAILS if corrected > refuted else Ruling.UNDECIDED

    @property
    def counterexample(self) -> Attempt | None:
        """The refuting attempt with the fewest numbers in its instance, None if there is none."""
        limit = self.proposition.refuted
        refuting = [attempt for attempt in self.attempts if _defined(attempt.printed) > limit]
        return min(refuting, key=_size, default=None)

    @property
    def file(self) -> str:
        """Where the counterexample is saved; empty if there is none."""
        return f"counterexamples/{self.proposition.key}.npz" if self.counterexample else ""


def tally(findings: Sequence[Finding]) -> dict[Ruling, int]:
    """Count the rulings on what the paper says.

    Propositions that show the same erratum count once, by the first of them in the paper's order.
    """
    counts: Counter[Ruling] = Counter()
    seen: set[str] = set()
    for finding in findings:
        erratum, holds = finding.proposition.erratum, finding.ruling is Ruling.HOLDS
        if finding.proposition.ours or (erratum in seen and not holds):
            continue
        counts[finding.ruling] += 1
        if erratum and not holds:
            seen.add(erratum)
    return dict(counts)


def _size(attempt: Attempt) -> int:
    return sum(np.size(value) for value in attempt.data.values())


def _defined(value: float) -> float:
    return math.inf if math.isnan(value) else value
