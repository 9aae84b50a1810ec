"""Choose candidates on some graphs and compare the models on fresh graphs by paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from experiments.measuring.store import Row
from experiments.studies.shift.trial import (
    CLEAN,
    MODELS,
    NO_SHIFT,
    SAA,
    SHIFTS,
    ShiftTask,
    conditions,
)
from wdro_cvx.validation import Array

#: Scale, sample size and training signals.
Key = tuple[str, int, str]
#: The rows of graphs, in order, by condition.
Rows = Mapping[Key, Sequence[Row]]
UNAWARE, AWARE = "tuned without the shift", "tuned with the shift"
METRICS = (*(f"regret, {shift}" for shift in SHIFTS), "mcc", "dog", "dog, drift")
_SIGNIFICANT = 2.0


def collect(tasks: Sequence[ShiftTask], rows: Sequence[Row]) -> Rows:
    """Return the rows by condition."""
    found: dict[Key, list[Row]] = {key: [] for key in conditions()}
    for task, row in zip(tasks, rows, strict=True):
        found[task.scale, task.n, task.training].append(row)
    return found


def compare(tuning: Rows, fresh: Rows) -> pd.DataFrame:
    """Compare every model with SAA under every condition, by every metric, tuned both ways.

    Returns
    -------
    table
        ``score`` and ``baseline`` are the means of the model and of SAA over the graphs. ``gain``
        is the mean paired difference, positive if the model is better, and ``error`` its standard
        error. ``verdict`` is ``even`` if the gain is within two standard errors of zero.
    """
    lines = []
    for key in conditions():
        for metric in METRICS:
            for how in (UNAWARE, AWARE):
                scores = {m: chosen(tuning, fresh, key, m, metric, how) for m in MODELS}
                for model in MODELS[1:]:
                    gains = scores[model] - scores[SAA]
                    gain, error = gains.mean(), gains.std(ddof=1) / np.sqrt(gains.size)
                    signed = "wins" if gain > 0 else "loses"
                    verdict = signed if abs(gain) > _SIGNIFICANT * error else "even"
                    means = (abs(scores[name].mean()) for name in (model, SAA))
                    lines.append([*key, metric, how, model, *means, gain, error, verdict])
    columns = ["scale", "n", "training", "metric", "tuning", "model", "score", "baseline", "gain",
               "error", "verdict"]  # fmt: skip
    return pd.DataFrame(lines, columns=columns)


def chosen(tuning: Rows, fresh: Rows, key: Key, model: str, metric: str, how: str) -> Array:
    """Return the scores of the fresh graphs at the candidate that was best on the tuning graphs.

    Tuning without the shift uses equally many clean signals, and the same metric under the true
    distribution.
    """
    before, by = key, metric
    if how == UNAWARE:
        before = (key[0], key[1], CLEAN)
        by = f"regret, {NO_SHIFT}" if metric.startswith("regret") else metric.split(",")[0]
    best = int(_scores(tuning[before], model, by).mean(axis=0).argmax())
    return _scores(fresh[key], model, metric)[:, best]


def _scores(rows: Sequence[Row], model: str, metric: str) -> Array:
    """Return an array of graphs by candidates; larger is better."""
    found = np.array([row["scores"][model][metric] for row in rows])
    return found if metric == "mcc" else -found
