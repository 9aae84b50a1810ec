"""Choosing a radius without the truth: by the risk, or the reliability, on held-out signals.

The paper takes the radius with the largest MCC, for which one must know the true graph. Signals
that were left out of the learning are a substitute that everyone has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from solvers.path import solve
from wdro_cvx import (
    AmbiguitySet,
    DataError,
    GraphProblem,
    Nominal,
    ProblemError,
    Singleton,
    Solution,
    Status,
)
from wdro_cvx.metrics import reliability
from wdro_cvx.validation import Array

RULES = ("cv", "reliability")
_FOLDS = 5
#: Radii to choose from, relative to the length of a signal.
_CANDIDATES = tuple(float(radius) for radius in np.geomspace(0.005, 1.0, 15))
#: The share of held-out signals that a reliable certificate covers.
CONFIDENCE = 0.95
# The risk falls and then rises with the radius; once it has risen by this factor the least is past.
_HOPELESS = 1.3


@dataclass(frozen=True)
class HeldOut:
    """What a candidate is worth on signals that it has not seen, a mean over the folds.

    Attributes
    ----------
    risk : float
        ``⟨Θ, L⟩ + η‖L‖²`` with the second moment of the signals left out.
    reliability : float
        The share of those signals whose own risk is below the worst-case value.
    """

    risk: float
    reliability: float


Build = Callable[[Nominal, float], GraphProblem]


def held_out(
    samples: Array, build: Build, candidates: Iterable[float], eta: float, folds: int = _FOLDS
) -> Iterator[HeldOut]:
    """Cross-validate one candidate after the other, each from the answers of the one before.

    Parameters
    ----------
    samples : array (N, d)
    build : callable
        Makes the problem of a candidate from the distribution of some of the samples.
    candidates : iterable of float
    eta : float
        Of the risk, the same for all candidates.
    folds : int
    """
    if len(samples) < 2:
        raise DataError(
            "1 sample cannot be held out and learned from at once; give the radius as a number."
        )
    from sklearn.model_selection import KFold  # slow to import, and only needed here

    splits = list(KFold(min(folds, len(samples))).split(samples))
    nominals = [Nominal.from_samples(samples[train]) for train, _ in splits]
    starts: list[Solution | None] = [None] * len(splits)
    for candidate in candidates:
        risks, shares = [], []
        for fold, (_, test) in enumerate(splits):
            answer = solve(build(nominals[fold], candidate), start=starts[fold])
            if answer.status is Status.INTERRUPTED:  # the user means the whole search
                raise KeyboardInterrupt
            starts[fold] = answer
            unseen = GraphProblem(Nominal.from_samples(samples[test]), Singleton(), eta)
            risks.append(unseen.value(answer.laplacian))
            shares.append(reliability(answer.laplacian, answer.value, eta, samples[test]))
        yield HeldOut(float(np.mean(risks)), float(np.mean(shares)))


def data_scale(samples: Array) -> float:
    """Return the root mean squared length of the signals, less their mean over the vertices.

    A Laplacian sees no more of a signal than that, so it is the natural unit of a radius.
    """
    centred = samples - samples.mean(axis=1, keepdims=True)
    return float(np.sqrt(np.mean(np.sum(centred**2, axis=1))))


def candidate_radii(samples: Array, ambiguity: AmbiguitySet) -> list[float]:
    """Return radii to choose from, in the unit of the data."""
    unit = data_scale(samples) ** ambiguity.radius_degree
    return [unit * radius for radius in _CANDIDATES]


def choose_radius(
    samples: Array,
    ambiguity: AmbiguitySet,
    eta: float,
    rule: str,
    radii: Sequence[float] | None = None,
    progress: bool = False,
) -> float:
    """Choose a radius that needs no true graph.

    Parameters
    ----------
    samples : array (N, d)
    ambiguity : AmbiguitySet
        The kind of set; its radius does not matter.
    eta : float
    rule : str
        ``"cv"``: the smallest risk on held-out signals. ``"reliability"``: the smallest radius
        whose worst-case value covers 95 % of the held-out signals, the largest radius if none
        does.
    radii : sequence of float, optional
        The candidates, ascending; 15 up to the length of the signals if not given.
    progress : bool
        Show how many of them have been tried, on standard error.
    """
    if rule not in RULES:
        raise ProblemError(f"radius rule must be one of {', '.join(RULES)}; it is {rule!r}.")
    candidates = candidate_radii(samples, ambiguity) if radii is None else list(radii)
    if not candidates or sorted(candidates) != candidates:
        raise ProblemError("radii must be a non-empty, ascending list of candidates.")
    if candidates[-1] == 0.0:
        return 0.0  # signals that are all constant: every radius is as good

    def build(nominal: Nominal, radius: float) -> GraphProblem:
        return GraphProblem(nominal, replace(ambiguity, radius=radius), eta)

    from tqdm import tqdm

    scores: list[HeldOut] = []
    tried = tqdm(held_out(samples, build, candidates, eta), desc="radius",
                 total=len(candidates), disable=not progress, leave=False)  # fmt: skip
    for radius, score in zip(candidates, tried, strict=False):
        scores.append(score)
        if rule == "reliability" and score.reliability >= CONFIDENCE:
            return radius
        if rule == "cv" and score.risk > _HOPELESS * min(earlier.risk for earlier in scores):
            break
    if rule == "reliability":
        return candidates[-1]
    return candidates[int(np.argmin([score.risk for score in scores]))]
