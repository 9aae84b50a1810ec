"""Choose candidates, compare the models on fresh graphs, and bootstrap the uncertainty.

The bootstrap resamples both the graphs on which candidates are chosen and the graphs on which they
are scored. A standard error therefore includes the uncertainty of the choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
import pandas as pd

from experiments.measuring.store import Row
from experiments.studies.shift.risks import METRICS, OWN
from experiments.studies.shift.tables import conditions
from experiments.studies.shift.trial import MODELS, SAA
from experiments.studies.shift.trouble import CLEAN
from wdro_cvx.validation import Array

#: Source, sample size, and further properties of a table.
Condition = tuple[str | int, ...]
#: The rows of trials, in order, by source, sample size and training signals.
Rows = Mapping[Condition, Sequence[Row]]
#: Ways to choose: on other graphs with clean training signals and no shift; on other graphs under
#: the condition itself; for every table from its own held-out signals.
UNAWARE, AWARE, BLIND = "unaware", "aware", "from the table"
#: Standard errors beyond which a difference counts; there are hundreds of comparisons.
SIGNIFICANT = 3.0
_RESAMPLES = 500
_COLUMNS = ["source", "n", "training", "metric", "choice", "model", "baseline", "gain", "error",
            "verdict", "own objective"]  # fmt: skip


def collect(tasks: Sequence[Any], rows: Sequence[Row], tuned: int) -> tuple[Rows, Rows]:
    """Return the rows by condition: those of the first ``tuned`` trials, and the others.

    A condition is all fields of a task except trial and seed.
    """
    found: tuple[dict[Condition, list[Row]], dict[Condition, list[Row]]] = ({}, {})
    for task, row in zip(tasks, rows, strict=True):
        found[task.trial >= tuned].setdefault(astuple(task)[2:], []).append(row)
    return found


def compare(tuning: Rows, fresh: Rows, seed: int) -> pd.DataFrame:
    """Compare every model with SAA under every condition, by every metric and way to choose.

    Returns
    -------
    table
        ``baseline`` is SAA's mean. ``gain`` is the mean paired difference, positive if the model is
        better, and ``error`` its bootstrapped standard error. ``verdict`` is ``even`` if the gain
        is within three standard errors of zero. ``own objective`` marks a risk that this model
        minimises by definition.
    """
    rng = np.random.default_rng(seed)
    before, after = (len(next(iter(rows.values()))) for rows in (tuning, fresh))
    draws = resamples(before, rng), resamples(after, rng)
    lines = []
    for key in conditions():
        for metric in [name for name in METRICS if name in fresh[key][0]["scores"][SAA]]:
            for how in (UNAWARE, AWARE, BLIND):
                scores = {
                    name: chosen(tuning, fresh, key, name, metric, how, draws)
                    for name in MODELS
                    if how != BLIND or "blind" in fresh[key][0]["scores"][name]
                }
                for name in list(scores)[1:]:
                    gains = scores[name] - scores[SAA]
                    gain, error = float(gains[0]), float(gains[1:].std(ddof=1))
                    own = OWN.get(metric, "none") == MODELS[name].ball
                    verdict = _verdict(gain, error)
                    base = float(scores[SAA][0])
                    lines.append([*key, metric, how, name, base, gain, error, verdict, own])
    return pd.DataFrame(lines, columns=_COLUMNS)


def chosen(
    tuning: Rows,
    fresh: Rows,
    key: Condition,
    name: str,
    metric: str,
    how: str,
    draws: tuple[Array, Array],
) -> Array:
    """Return the mean score of the chosen candidates: of all graphs, and of every resample.

    Candidates are chosen by the metric that is scored. If the choice is unaware of a shift, the
    risk without a shift replaces every risk.
    """
    scores = _scores(fresh[key], name, metric)
    if how == BLIND:  # one candidate per table
        best = _scores(fresh[key], name, "blind").argmax(axis=1)
        return np.asarray(draws[1] @ scores[np.arange(len(scores)), best])
    other, by = key, metric
    if how == UNAWARE:
        other = (*key[:2], CLEAN)
        by = "risk, none" if metric.startswith("risk") else metric
    best = (draws[0] @ _scores(tuning[other], name, by)).argmax(axis=1)
    return np.asarray((draws[1] @ scores)[np.arange(len(best)), best])


def resamples(count: int, rng: np.random.Generator) -> Array:
    """Return weights of graphs: equal ones first, then those of resamples."""
    resampled = rng.multinomial(count, np.full(count, 1.0 / count), size=_RESAMPLES)
    return np.vstack([np.ones(count), resampled]) / count


def _scores(rows: Sequence[Row], name: str, metric: str) -> Array:
    """Return an array of graphs by candidates."""
    return np.array([row["scores"][name][metric] for row in rows])


def _verdict(gain: float, error: float) -> str:
    if abs(gain) <= SIGNIFICANT * error:
        return "even"
    return "wins" if gain > 0.0 else "loses"
