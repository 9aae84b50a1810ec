"""Choose candidates on tuning graphs, compare the models on fresh ones, graph by graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.measuring.store import Row
from experiments.studies.shift.grid import CLEAN, MODELS, NO_SHIFT, SAA, ShiftTask, conditions
from wdro_cvx.validation import Array

#: Scale, sample size and training signals.
Key = tuple[str, int, str]
UNAWARE, AWARE = "tuned without the shift", "tuned with the shift"
_SIGNIFICANT = 2.0


@dataclass(frozen=True)
class Comparison:
    """A model beside SAA under one condition: means over graphs, paired difference and its error.

    ``gain`` is positive where the model is better.
    """

    scale: str
    n: int
    training: str
    metric: str
    tuning: str
    model: str
    score: float
    baseline: float
    gain: float
    error: float

    @property
    def verdict(self) -> str:
        """Whether the model wins or loses beyond two standard errors."""
        if abs(self.gain) <= _SIGNIFICANT * self.error:
            return "even"
        return "wins" if self.gain > 0 else "loses"


@dataclass(frozen=True)
class Scores:
    """The scores of some graphs by condition."""

    rows: Mapping[Key, Sequence[Row]]

    def of(self, key: Key, model: str, metric: str) -> Array:
        """Return scores, one axis each for graphs and candidates; larger is better."""
        found = np.array([row["scores"][model][metric] for row in self.rows[key]])
        return found if metric == "mcc" else -found


def collect(tasks: Sequence[ShiftTask], rows: Sequence[Row]) -> Scores:
    """Return the rows by condition, the graphs in order."""
    found: dict[Key, list[Row]] = {key: [] for key in conditions()}
    for task, row in zip(tasks, rows, strict=True):
        found[task.scale, task.n, task.training].append(row)
    return Scores(found)


def compare(tuning: Scores, fresh: Scores, metrics: Sequence[str]) -> list[Comparison]:
    """Return every model beside SAA, under every condition, by every metric, tuned both ways."""
    found = []
    for key in conditions():
        for metric in metrics:
            for how in (UNAWARE, AWARE):
                scores = {m: chosen(tuning, fresh, key, m, metric, how) for m in MODELS}
                for model in MODELS[1:]:
                    difference = scores[model] - scores[SAA]
                    error = difference.std(ddof=1) / np.sqrt(difference.size)
                    found.append(
                        Comparison(
                            *key, metric, how, model, abs(float(scores[model].mean())),
                            abs(float(scores[SAA].mean())), float(difference.mean()), float(error),
                        )
                    )  # fmt: skip
    return found


def chosen(tuning: Scores, fresh: Scores, key: Key, model: str, metric: str, how: str) -> Array:
    """Return the scores of the fresh graphs at the candidate that was best on the others.

    Without the shift, candidates are tuned on clean signals of the same number, by the same metric
    of the true distribution.
    """
    before, by = key, metric
    if how == UNAWARE:
        before = (key[0], key[1], CLEAN)
        by = f"regret, {NO_SHIFT}" if metric.startswith("regret") else metric.split(",")[0]
    place = int(tuning.of(before, model, by).mean(axis=0).argmax())
    return fresh.of(key, model, metric)[:, place]
