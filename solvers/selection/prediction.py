"""Choose radius and eta by how well neighbours predict each other on held-out signals.

The score depends only on the graph, so it can compare graphs with any eta, radius and set. A risk
cannot: it contains eta and prefers the smallest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from solvers.many import solve_many
from solvers.selection.parallel import in_processes
from solvers.selection.signals import Signals
from wdro_cvx import DataError, GraphProblem, Nominal, Solution
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.solution import above
from wdro_cvx.validation import Array

#: Candidates for the radius relative to the length of a signal; fewer than for a single eta. Beyond
#: one length the worst case has little to do with the data.
PREDICTION_RADII = (0.0, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0)
_FOLDS = 5
_REMEDY = "Or choose without folds: radius='auto', 'bootstrap' or a number, and a number for eta."
# Larger radii are not tried after more than this many in a row were worse than the best.
_PATIENCE = 2
# The same holds if the error exceeds its minimum by a tenth, or twice in a row by half as much.
# Larger radii are then worse still; with few signals, they are also far harder to solve.
_HOPELESS = 0.1
# An answer that took more iterations than this is near the hard case. The next, harder problem is
# then solved faster from a cold start than from this answer.
_EASY = 10
# The number of problems that are solved together, if they are small; other processes solve others.
# It does not depend on the number of processes, so that the answers do not either.
_TOGETHER, _SMALL = 35, 100


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
    nominals = [
        signals.nominal_of(
            train, f"A fold, {len(train)} of {len(signals)} rows to learn from,", _REMEDY
        )
        for train, _ in folds
    ]
    tests = [signals.take(test) for _, test in folds]
    tracks = [_Track(eta, [None] * len(folds)) for eta in etas]
    size = _TOGETHER if signals.d < _SMALL else 1
    with tqdm(total=len(etas) * len(radii), desc="radius and eta", disable=not progress,
              leave=False) as bar:  # fmt: skip
        for radius in radii:
            bar.set_postfix_str(f"{radius:.3g}")
            live = [track for track in tracks if not track.ended]
            cells = [
                (build(nominal, radius, track.eta), start, test)
                for track in live
                for nominal, start, test in zip(nominals, track.starts, tests, strict=True)
            ]
            calls = ((cells[at : at + size], tol) for at in range(0, len(cells), size))
            found = [pair for part in in_processes(_predict, calls, n_jobs) for pair in part]
            for place, track in enumerate(live):
                track.add(radius, found[place * len(folds) : (place + 1) * len(folds)])
                bar.update()
    return [tried for track in tracks for tried in track.tried]


@dataclass
class _Track:
    """The candidates of one eta so far, and the starts of its next ones in every fold."""

    eta: float
    starts: list[Solution | None]
    tried: list[Tried] = field(default_factory=list)
    peak: float = -np.inf
    worse: int = 0
    ended: bool = False

    def add(self, radius: float, found: Sequence[tuple[float, Solution | None]]) -> None:
        """Add the scores of a radius, and end if larger ones are not worth a try."""
        scores, starts = zip(*found, strict=True)
        self.starts = list(starts)
        self.tried.append(Tried(radius, self.eta, scores))
        mean = self.tried[-1].mean
        # Equal scores do not count as worse: small radii often do not change the graph.
        self.worse = 0 if mean >= self.peak else self.worse + 1
        self.peak = max(self.peak, mean)
        hopeless = self.worse * (self.peak - mean) > _HOPELESS * (1.0 - self.peak)
        self.ended = self.worse > _PATIENCE or hopeless


def _predict(
    cells: Sequence[tuple[GraphProblem, Solution | None, Signals]], tol: float
) -> list[tuple[float, Solution | None]]:
    """Return scores on held-out signals, and starts for the next candidates."""
    problems, starts, tests = zip(*cells, strict=True)
    answers = solve_many(problems, tol, starts=starts)
    return [
        (
            test.prediction(above(answer.adjacency, EDGE_THRESHOLD)),
            answer if answer.iterations <= _EASY else None,
        )
        for answer, test in zip(answers, tests, strict=True)
    ]
