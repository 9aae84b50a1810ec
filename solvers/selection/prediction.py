"""Choose radius and eta by how well neighbours predict each other on held-out signals.

The score depends only on the graph, so it can compare graphs with any eta, radius and set. A risk
cannot: it contains eta and prefers the smallest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from solvers.selection.parallel import in_processes
from solvers.selection.signals import Signals
from solvers.solve import solve
from wdro_cvx import DataError, GraphProblem, Nominal, Solution, Status
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.solution import above
from wdro_cvx.validation import Array

#: Candidates for the radius relative to the length of a signal; fewer than for a single eta. Beyond
#: one length the worst case has little to do with the data.
PREDICTION_RADII = (0.0, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0)
_FOLDS = 5
# Larger radii are not tried after more than this many in a row were worse than the best.
_PATIENCE = 2
# The same holds if the error exceeds its minimum by a tenth, or twice in a row by half as much.
# Larger radii are then worse still; with few signals, they are hundreds of times as hard to solve.
_HOPELESS = 0.1
# An answer that took more iterations than this is near the hard case. The next, harder problem is
# then solved several times faster from a cold start than from this answer.
_EASY = 10


@dataclass(frozen=True)
class Tried:
    """A candidate and its score in every fold."""

    radius: float
    eta: float
    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(np.mean(self.scores))


def cv_results(tried: Sequence[Tried]) -> dict[str, Array]:
    """Return all candidates and scores under the names that scikit-learn's searches use."""
    scores = np.array([candidate.scores for candidate in tried])
    found = {
        "param_radius": np.array([candidate.radius for candidate in tried]),
        "param_eta": np.array([candidate.eta for candidate in tried]),
        "mean_test_score": scores.mean(axis=1),
        "std_test_score": scores.std(axis=1),
        "rank_test_score": stats.rankdata(-scores.mean(axis=1), method="min").astype(int),
    }
    return found | {f"split{fold}_test_score": scores[:, fold] for fold in range(scores.shape[1])}


def best_prediction(
    signals: Signals,
    build: Callable[[Nominal, float, float], GraphProblem],
    radii: Sequence[float],
    etas: Sequence[float],
    tol: float,
    progress: bool = False,
) -> tuple[float, float]:
    """Return the radius and the eta whose graphs predict held-out signals best."""
    best = best_of(try_predictions(signals, build, radii, etas, tol, progress))
    return best.radius, best.eta


def best_of(tried: Sequence[Tried]) -> Tried:
    """Return the candidate with the best mean score, the first of equals."""
    return max(tried, key=lambda candidate: candidate.mean)


def try_predictions(
    signals: Signals,
    build: Callable[[Nominal, float, float], GraphProblem],
    radii: Sequence[float],
    etas: Sequence[float],
    tol: float,
    progress: bool = False,
    n_jobs: int | None = None,
) -> list[Tried]:
    """Return how well the graphs of candidates predict held-out signals.

    Larger radii are skipped once they are clearly worse.

    Parameters
    ----------
    signals : Signals
    build : callable
        Builds the problem from a distribution, a radius and an eta.
    radii, etas : sequences of float
        Ascending.
    tol : float
        The relative gap of every answer.
    progress : bool
        Show which pair is tried, on standard error.
    n_jobs : int, optional
        The number of processes for the folds.
    """
    if len(signals) < 2:
        raise DataError(
            "1 sample cannot be held out and learned from at once; give the radius as a number."
        )
    from sklearn.model_selection import KFold  # slow to import, and only needed here
    from tqdm import tqdm

    folds = list(KFold(min(_FOLDS, len(signals))).split(signals.table))
    nominals = [signals.take(train).nominal()[0] for train, _ in folds]
    tests = [signals.take(test) for _, test in folds]
    starts: tuple[Solution | None, ...] = (None,) * len(folds)
    tried: list[Tried] = []
    with tqdm(total=len(etas) * len(radii), desc="radius and eta", disable=not progress,
              leave=False) as bar:  # fmt: skip
        for eta in etas:
            peak, worse = -np.inf, 0
            for radius in radii:
                bar.set_postfix_str(f"{radius:.3g}, {eta:.3g}")
                calls = (
                    (build(nominal, radius, eta), tol, start, test)
                    for nominal, start, test in zip(nominals, starts, tests, strict=True)
                )
                found, starts = zip(*in_processes(_predict, calls, n_jobs), strict=True)
                tried.append(Tried(radius, eta, found))
                mean = tried[-1].mean
                # Equal scores do not count as worse: small radii often do not change the graph.
                worse = 0 if mean >= peak else worse + 1
                peak = max(peak, mean)
                bar.update()
                if worse > _PATIENCE or worse * (peak - mean) > _HOPELESS * (1.0 - peak):
                    break
    return tried


def _predict(
    problem: GraphProblem, tol: float, start: Solution | None, test: Signals
) -> tuple[float, Solution | None]:
    """Return the score of one fold, and a start for the next candidate."""
    answer = solve(problem, tol, start=start)
    if answer.status is Status.INTERRUPTED:  # an interrupt ends the whole search
        raise KeyboardInterrupt
    score = test.prediction(above(answer.adjacency, EDGE_THRESHOLD))
    return score, answer if answer.iterations <= _EASY else None
