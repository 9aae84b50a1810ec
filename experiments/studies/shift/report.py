"""Where WDRO wins, by how much, and where it does not."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from experiments.measuring.text import markdown_table
from experiments.studies.shift.grid import (
    BROKEN,
    DISTANCE,
    MIXED,
    MODELS,
    NOISE_SHARE,
    OUTLIER_FACTOR,
    OUTLIER_SHARE,
    TEST_ETA,
    D,
    candidates,
)
from experiments.studies.shift.tuning import AWARE, UNAWARE

_RISKS = ("regret, none", "regret, drift", "regret, sensor", "regret, adversary")
_GRAPHS = ("mcc", "dog", "dog, drift")


def describe(table: pd.DataFrame, tuned: int, graphs: int, unsolved: int) -> list[str]:
    """Return the paragraphs and tables of the report."""
    budget = len(candidates(MODELS[0]))
    parts = [
        f"{unsolved} answers were not certified to a gap of 1e-6.",
        f"Similarity graphs of {D} vertices. Every model has {budget} candidates: SAA so many "
        "etas, the others five etas and three radii, all relative to the data. One candidate is "
        f"chosen for all graphs of a condition on {tuned} graphs, by the metric that is scored, "
        f"and compared on {graphs} others. Risks are those of `xᵀLx` under the true, shifted "
        f"distribution, exactly, plus η‖L‖² with the same η = {TEST_ETA:g} for all, and are given "
        "as *regret*: the share by which they exceed the best that any graph can do. Gains are "
        "paired with SAA's, positive where the model is better; ± is a standard error over graphs.",
        f"Shifts at test time: *drift*, {MIXED:.0%} of another graph; *sensor*, one vertex (the "
        f"worst) reads noise of {BROKEN:g} times the signal; *adversary*, the worst distribution "
        f"within {DISTANCE:g} of the length of a signal. White noise at test time adds σ²d to the "
        "risk of every graph, so nothing can be gained or lost. Spoilt training signals: *noisy*, "
        f"white noise {NOISE_SHARE:g} times the signal; *outliers*, {OUTLIER_SHARE:.0%} of them "
        f"{OUTLIER_FACTOR:g} times as large.",
        "![gains](shift.png)",
        f"*Gain over SAA against N, clean training signals, {graphs} graphs; bands are one "
        "standard error. Rows: risk with candidates tuned without the shift; the same tuned with "
        "it; scores of the graph, tuned by themselves.*",
        "## Wins and losses",
        "Conditions won, even and lost beyond two standard errors, over all scales, sample sizes "
        "and training signals.",
        _tally(table),
    ]
    for how in (UNAWARE, AWARE):
        parts += [f"## Risk, {how}", _numbers(table[table["tuning"] == how], _RISKS, 100.0, "%")]
    aware = table[table["tuning"] == AWARE]
    parts += ["## The graph, tuned by the same score", _numbers(aware, _GRAPHS, 1.0, "")]
    return parts


def _tally(table: pd.DataFrame) -> str:
    rows = []
    for (how, metric), group in table.groupby(["tuning", "metric"], sort=False):
        cells = []
        for model in MODELS[1:]:
            counts = group[group["model"] == model]["verdict"].value_counts()
            cells.append(" / ".join(str(counts.get(word, 0)) for word in ("wins", "even", "loses")))
        rows.append([metric, how, *cells])
    return markdown_table(["score", "tuning", *MODELS[1:]], rows)


def _numbers(table: pd.DataFrame, metrics: Sequence[str], unit: float, sign: str) -> str:
    rows, digits = [], 2 if unit > 1.0 else 3
    for metric in metrics:
        part = table[table["metric"] == metric]
        for (scale, training, n), group in part.groupby(["scale", "training", "n"], sort=False):
            lines = {str(line["model"]): line for line in group.to_dict("records")}
            cells: list[object] = [metric, scale, training, n]
            cells.append(f"{unit * float(group['baseline'].iloc[0]):.{digits}f}{sign}")
            for model in MODELS[1:]:
                line = lines[model]
                gain, error = unit * float(line["gain"]), unit * float(line["error"])
                text = f"{gain:+.{digits}f} ± {error:.{digits}f}"
                cells.append(f"**{text}**" if line["verdict"] == "wins" else text)
            rows.append(cells)
    header = ["score", "scale", "training", "N", "SAA", *(f"gain of {m}" for m in MODELS[1:])]
    return markdown_table(header, rows)
