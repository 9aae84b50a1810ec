"""Choosing a radius without the truth: by the risk, or the reliability, on held-out signals.

The paper takes the radius with the largest MCC, for which one must know the true graph. Signals
that were left out of the learning are a substitute that everyone has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import KFold

from solvers.path import solve_path
from wdro_cvx import AmbiguitySet, DataError, GraphProblem, Nominal, ProblemError, Solution
from wdro_cvx.metrics import reliability
from wdro_cvx.validation import Array

RULES = ("cv", "reliability")
_FOLDS = 5
#: Radii to choose from, relative to the length of a signal.
_CANDIDATES = tuple(float(radius) for radius in np.geomspace(0.005, 2.0, 16))
#: The share of held-out signals that a reliable certificate covers.
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What graphs are worth on signals that they have not seen, one number per candidate.

    Attributes
    ----------
    risks : array
        The mean of ``⟨Θ, L⟩ + η‖L‖²`` over the folds, with the second moment of the signals left
        out.
    reliabilities : array
        The share of those signals whose own risk is below the worst-case value.
    """

    risks: Array
    reliabilities: Array


def held_out(
    samples: Array, path: Callable[[Array], Sequence[Solution]], eta: float, folds: int = _FOLDS
) -> HeldOut:
    """Cross-validate a path of models.

    Parameters
    ----------
    samples : array (N, d)
    path : callable
        Learns from some of the samples with every candidate.
    eta : float
        Of the risk, the same for all candidates.
    folds : int
    """
    if len(samples) < 2:
        raise DataError(
            "One sample cannot be held out and learned from at once; give the radius as a number."
        )
    risks, shares = [], []
    for train, test in KFold(min(folds, len(samples))).split(samples):
        answers = path(samples[train])
        moment = samples[test].T @ samples[test] / len(test)
        graphs = [answer.laplacian for answer in answers]
        risks.append([float(np.vdot(moment, graph) + eta * np.sum(graph**2)) for graph in graphs])
        shares.append(
            [reliability(answer.laplacian, answer.value, eta, samples[test]) for answer in answers]
        )
    return HeldOut(np.mean(risks, axis=0), np.mean(shares, axis=0))


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
        The candidates, ascending; 16 around the length of the signals if not given.
    """
    if rule not in RULES:
        raise ProblemError(f"radius rule must be one of {', '.join(RULES)}; it is {rule!r}.")
    candidates = candidate_radii(samples, ambiguity) if radii is None else list(radii)
    if not candidates or sorted(candidates) != candidates:
        raise ProblemError("radii must be a non-empty, ascending list of candidates.")
    if candidates[-1] == 0.0:
        return 0.0  # signals that are all constant: every radius is as good

    def path(part: Array) -> list[Solution]:
        problem = GraphProblem(Nominal.from_samples(part), ambiguity, eta)
        return solve_path(problem, candidates)

    scores = held_out(samples, path, eta)
    if rule == "cv":
        return candidates[int(np.argmin(scores.risks))]
    covered = np.flatnonzero(scores.reliabilities >= CONFIDENCE)
    return candidates[int(covered[0]) if covered.size else -1]
