"""Choose radius and eta by how well neighbours predict each other on held-out signals.

The score depends only on the graph, so it can compare graphs with any eta, radius and set. A risk
cannot: it contains eta and prefers the smallest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from solvers.selection.signals import Signals
from solvers.solve import solve
from wdro_cvx import DataError, GraphProblem, Nominal, Solution, Status
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.solution import above

#: Candidates for the radius relative to the length of a signal; fewer than for a single eta. With
#: few noisy signals, radii beyond that length predict best.
PREDICTION_RADII = (0.0, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12)
_FOLDS = 5
# Larger radii are not tried after more than this many in a row were worse than the best.
_PATIENCE = 2
# The same holds if the error exceeds its minimum by a tenth, or twice in a row by half as much.
# Larger radii are then worse still; with few signals, they are hundreds of times as hard to solve.
_HOPELESS = 0.1
# An answer that took more iterations than this is near the hard case. The next, harder problem is
# then solved several times faster from a cold start than from this answer.
_EASY = 10


def best_prediction(
    signals: Signals,
    build: Callable[[Nominal, float, float], GraphProblem],
    radii: Sequence[float],
    etas: Sequence[float],
    tol: float,
    progress: bool = False,
) -> tuple[float, float]:
    """Return the radius and the eta whose graphs predict held-out signals best.

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
    starts: list[Solution | None] = [None] * len(folds)
    best, score = (radii[0], etas[0]), -np.inf
    with tqdm(total=len(etas) * len(radii), desc="radius and eta", disable=not progress,
              leave=False) as bar:  # fmt: skip
        for eta in etas:
            peak, worse = -np.inf, 0
            for radius in radii:
                bar.set_postfix_str(f"{radius:.3g}, {eta:.3g}")
                found = []
                for fold, (nominal, test) in enumerate(zip(nominals, tests, strict=True)):
                    answer = solve(build(nominal, radius, eta), tol, start=starts[fold])
                    if answer.status is Status.INTERRUPTED:  # an interrupt ends the whole search
                        raise KeyboardInterrupt
                    starts[fold] = answer if answer.iterations <= _EASY else None
                    found.append(test.prediction(above(answer.adjacency, EDGE_THRESHOLD)))
                mean = float(np.mean(found))
                if mean > score:
                    best, score = (radius, eta), mean
                # Equal scores do not count as worse: small radii often do not change the graph.
                worse = 0 if mean >= peak else worse + 1
                peak = max(peak, mean)
                bar.update()
                if worse > _PATIENCE or worse * (peak - mean) > _HOPELESS * (1.0 - peak):
                    break
    return best
