"""What a claim is, how it is tried, and when it holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike


class Verdict(Enum):
    """What the trials say about a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    CORRECTED = "holds as corrected"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Trial:
    """What one random instance said.

    Attributes
    ----------
    printed : float
        How far the statement as printed is from the truth, relative; NaN where it has no meaning.
    data : mapping
        The instance, so that a counterexample can be looked at.
    corrected : float, optional
        The same for our correction of the statement.
    """

    printed: float
    data: Mapping[str, ArrayLike]
    corrected: float | None = None


#: Given a generator and a number of vertices.
Check = Callable[[np.random.Generator, int], Trial]
#: Vertices of the instances, unless a claim or the user says otherwise: the least and the most.
DIMENSIONS = (2, 6)


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, or one of ours, with the means to try it.

    Attributes
    ----------
    key, name : str
    says, finds : str
        What the paper says, and what we find; a verdict is on the former, unless it is ``ours``.
    routes : str
        What is computed, by which independent ways.
    ranges : str
        What the instances are drawn from.
    tolerance : float
        The largest deviation of a statement that holds, with its ``reason``.
    known : Verdict
        What docs/propositions.md reports; a run that finds otherwise says so.
    check : callable
    refuted : float
        A deviation beyond any doubt about the accuracy of the routes.
    dimensions : (int, int)
        The least and the most vertices of its instances.
    most : int
        How many instances are enough, where each takes seconds.
    erratum : str
        The entry of docs/paper.md that it shows; claims with one entry count once.
    ours : bool
        Whether the paper states nothing of the kind, so that the verdict is on our finding.
    """

    key: str
    name: str
    says: str
    finds: str
    routes: str
    ranges: str
    tolerance: float
    reason: str
    known: Verdict
    check: Check
    refuted: float
    dimensions: tuple[int, int] = DIMENSIONS
    most: int = 100_000
    erratum: str = ""
    ours: bool = False


CLAIMS: dict[str, Claim] = {}

#: A deviation this many times the tolerance refutes a statement.
_BEYOND_DOUBT = 100.0


def claim(
    name: str,
    says: str,
    finds: str,
    routes: str,
    ranges: str,
    tolerance: float,
    reason: str,
    known: Verdict = Verdict.HOLDS,
    refuted: float | None = None,
    dimensions: tuple[int, int] = DIMENSIONS,
    most: int = 100_000,
    erratum: str = "",
    ours: bool = False,
) -> Callable[[Check], Check]:
    """Register a check under the name of its function."""

    def register(check: Check) -> Check:
        key = check.__name__.replace("_", "-")
        limit = _BEYOND_DOUBT * tolerance if refuted is None else refuted
        CLAIMS[key] = Claim(
            key, name, says, finds, routes, ranges, tolerance, reason, known, check, limit,
            dimensions, most, erratum, ours,
        )  # fmt: skip
        return check

    return register


def try_claim(claim: Claim, seed: int, index: int, dimensions: Sequence[int] = ()) -> Trial:
    """Try a claim on its ``index``-th random instance, of the given dimensions in turn if any."""
    name = int.from_bytes(claim.key.encode(), "little")
    rng = np.random.default_rng([seed, index, name])
    low, high = claim.dimensions
    d = int(rng.integers(low, high + 1))
    return claim.check(rng, dimensions[index % len(dimensions)] if dimensions else d)


def decide(claim: Claim, trials: Sequence[Trial]) -> Verdict:
    """Return the verdict; a statement is refuted by two instances at least, beyond any doubt."""
    printed = [_defined(trial.printed) for trial in trials]
    if max(printed) <= claim.tolerance:
        return Verdict.HOLDS
    if sum(deviation > claim.refuted for deviation in printed) < 2:
        return Verdict.UNDECIDED
    corrected = [_defined(trial.corrected) for trial in trials if trial.corrected is not None]
    if not corrected:
        return Verdict.FAILS
    if max(corrected) <= claim.tolerance:
        return Verdict.CORRECTED
    return Verdict.FAILS if max(corrected) > claim.refuted else Verdict.UNDECIDED


def smallest_counterexample(claim: Claim, trials: Sequence[Trial]) -> Trial | None:
    """Return the refuting trial with the fewest numbers in it, None if there is none."""
    refuting = [trial for trial in trials if _defined(trial.printed) > claim.refuted]
    sizes = [sum(np.size(value) for value in trial.data.values()) for trial in refuting]
    return refuting[int(np.argmin(sizes))] if refuting else None


def deviation(found: ArrayLike, expected: ArrayLike) -> float:
    """Return the relative distance of two numbers, vectors or matrices."""
    difference = np.linalg.norm(np.subtract(found, expected))
    return float(difference / np.linalg.norm(expected))


def _defined(value: float) -> float:
    return math.inf if math.isnan(value) else value
