"""Score candidates by their risk on held-out signals, and choose a radius by it.

Figures and the temperature study use this. ``RobustGraph`` has better rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from solvers import solve_many
from solvers.selection.radius import candidate_radii, warn_at_ends
from solvers.selection.signals import Signals
from wdro_cvx import (
    AmbiguitySet,
    DataError,
    GraphProblem,
    Nominal,
    ProblemError,
    Singleton,
    Solution,
)
from wdro_cvx.metrics import reliability
from wdro_cvx.validation import Array

#: Radii to choose from, relative to the length of a signal.
SHARES = tuple(float(radius) for radius in np.geomspace(0.005, 1.0, 15))
_FOLDS = 5
# Scores of candidates differ by percents; gaps below this do not change the ranking.
_TOLERANCE = 1e-4
# The risk falls and then rises with the radius. A rise by this factor means the minimum is past.
_HOPELESS = 1.3

Build = Callable[[Nominal, float], GraphProblem]


@dataclass(frozen=True)
class HeldOut:
    """The scores of a candidate on held-out signals, averaged over the folds.

    Attributes
    ----------
    risk : float
        ``⟨Θ, L⟩ + η‖L‖²`` with the second moment of the held-out signals.
    reliability : float
        The share of those signals whose own risk is below the worst-case value.
    """

    risk: float
    reliability: float


def held_out(
    samples: Array,
    build: Build,
    candidates: Iterable[float],
    eta: float,
    folds: int = _FOLDS,
    tol: float = 1e-6,
) -> Iterator[HeldOut]:
    """Yield the scores of candidates in order, each warm-started from the previous one.

    Parameters
    ----------
    samples : array (N, d)
    build : callable
        Builds the problem of a candidate from the distribution of the training samples.
    candidates : iterable of float
    eta : float
        The eta of the risk, the same for all candidates.
    folds : int
    tol : float
        The relative gap of every answer.
    """
    if len(samples) < 2:
        raise DataError(
            "1 sample cannot be held out and learned from at once; give the radius as a number."
        )
    from sklearn.model_selection import KFold  # slow to import, and only needed here

    splits = list(KFold(min(folds, len(samples))).split(samples))
    nominals = [Nominal.from_samples(samples[train]) for train, _ in splits]
    starts: list[Solution] | None = None
    for candidate in candidates:
        problems = [build(nominal, candidate) for nominal in nominals]
        starts = solve_many(problems, tol, starts=starts)
        risks, shares = [], []
        for answer, (_, test) in zip(starts, splits, strict=True):
            unseen = GraphProblem(Nominal.from_samples(samples[test]), Singleton(), eta)
            risks.append(unseen.value(answer.laplacian))
            shares.append(reliability(answer.laplacian, answer.value, eta, samples[test]))
        yield HeldOut(float(np.mean(risks)), float(np.mean(shares)))


def choose_radius(
    signals: Signals | Array,
    ambiguity: AmbiguitySet,
    eta: float,
    radii: Sequence[float] | None = None,
) -> float:
    """Return the radius with the smallest risk ``⟨Θ, L⟩ + η‖L‖²`` on held-out signals.

    Parameters
    ----------
    signals : Signals or array (N, d)
    ambiguity : AmbiguitySet
        The kind of set; its radius does not matter.
    eta : float
    radii : sequence of float, optional
        The candidates, ascending; by default 15, up to the length of the signals.
    """
    if not isinstance(signals, Signals):
        signals = Signals(np.asarray(signals, dtype=float))
    candidates = candidate_radii(signals, ambiguity, SHARES) if radii is None else list(radii)
    if not candidates or sorted(candidates) != candidates:
        raise ProblemError("radii must be a non-empty, ascending list of candidates.")
    if not signals.centred.any():
        return 0.0  # all signals are constant: every radius is equally good

    def build(nominal: Nominal, radius: float) -> GraphProblem:
        return GraphProblem(nominal, replace(ambiguity, radius=radius), eta)

    risks: list[float] = []
    for score in held_out(signals.table, build, candidates, eta, tol=_TOLERANCE):
        risks.append(score.risk)
        if score.risk > _HOPELESS * min(risks):
            break
    best = candidates[int(np.argmin(risks))]
    warn_at_ends("radius", best, candidates)
    return best
