"""Learn all tables, choose on some graphs, compare the models on the others, and report."""

from __future__ import annotations

import argparse
from collections.abc import Hashable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.style import BLUE, GREEN, GREY, MARKERS, PAGE, draw_band, plain_ticks
from experiments.measuring.digest import Source
from experiments.measuring.text import markdown_table
from experiments.studies.shift import risks
from experiments.studies.shift.risks import METRICS, OWN
from experiments.studies.shift.tables import GRAPHS, STATES, D, tasks
from experiments.studies.shift.trial import MODELS, SAA, run_task
from experiments.studies.shift.trouble import CLEAN
from experiments.studies.shift.tuning import AWARE, BLIND, SIGNIFICANT, UNAWARE, collect, compare
from experiments.study import Report, Run, Study, unsolved_failure

_COLOURS = {"Gaussian": BLUE, "p = 1": GREEN}
_NAMES = {
    "mcc": "MCC of the edges", "dog": "DOG of the weights", "prediction": "error of prediction",
    "risk, none": "risk, no shift", "risk, drift": "risk after drift",
    "risk, sensor": "risk, a broken sensor", "risk, adversary": "risk, an adversary",
}  # fmt: skip
#: Scores that no model minimises.
FAIR = [metric for metric in METRICS if metric not in OWN]


def answer(run: Run, options: argparse.Namespace) -> Report:
    """Compare all models on fresh graphs."""
    planned = tasks(range(options.tuned + options.graphs), options.seed)
    rows = run.trials(planned, run_task, "shift")
    tuning, fresh = collect(planned, rows, options.tuned)
    table = compare(tuning, fresh, options.seed)
    unsolved = int(sum(row["unsolved"] for row in rows))
    return Report(
        "Does robustness pay?",
        describe(table, options.tuned, options.graphs, unsolved),
        tables={"comparisons": table},
        figures={"shift": draw(table)},
        failure=unsolved_failure(unsolved),
    )


STUDY = Study("shift", Source(("experiments.studies.shift.trial",)), answer)


def describe(table: pd.DataFrame, tuned: int, graphs: int, unsolved: int) -> list[str]:
    """Return the paragraphs and tables of the report."""
    saa, ball = (len(MODELS[name].candidates) for name in (SAA, "Gaussian"))
    robust = [name for name in MODELS if MODELS[name].moment != "sample"]
    states, table = (table[table["source"] == source] for source in (STATES, GRAPHS))
    spoilt = table[(table["choice"] != BLIND) & (table["training"] != CLEAN)]
    return [
        f"{unsolved} answers were not certified to a gap of 1e-6.",
        f"Similarity graphs of {D} vertices. SAA has {saa} etas. Every ball has the same "
        f"candidates at radius 0 and {ball - saa} more with positive radii. *SAA, finer* has "
        f"{len(MODELS['SAA, finer'].candidates)} etas: it shows what a longer list alone is worth. "
        f"Candidates are chosen in three ways. *{UNAWARE}*: on {tuned} other graphs with clean "
        f"training signals and without a shift. *{AWARE}*: on these graphs under the condition "
        f"that is scored. *{BLIND}*: for every table, by its own held-out signals. All are "
        f"compared on {graphs} further graphs. A gain is paired with SAA and positive if the model "
        "is better. ± is a standard error over resampled graphs, both those for choosing and those "
        f"for scoring. A gain counts if it exceeds {SIGNIFICANT:g} standard errors.",
        f"Risks are given as *regret*, the relative excess over the least risk of any graph, at "
        f"η = {risks.TEST_ETA:g}. *Drift*: {risks.MIXED:.0%} of another graph. *Sensor*: the worst "
        f"vertex reads noise of {risks.BROKEN:g} times the signal. *Adversary*: the worst "
        f"distribution within {risks.DISTANCE:g} of the length of a signal. The last two are what "
        "the p = 1 ball and the Gaussian ball minimise, so they are reported separately.",
        "![gains](shift.png)",
        f"*Gain over SAA against N, clean training signals, {graphs} graphs; bands are one "
        f"standard error. Rows: chosen {UNAWARE} of a shift, {AWARE} of it, and {BLIND} alone.*",
        "## Conditions won, even and lost",
        _tally(table),
        "## Balls, clean training signals",
        _numbers(table[table["training"] == CLEAN], FAIR, ["SAA, finer", *_COLOURS]),
        "## Balls, in their own objective",
        _numbers(table[table["training"] == CLEAN], [*OWN], [*_COLOURS]),
        "## Spoilt training signals: balls and robust moments",
        _numbers(spoilt, ["mcc", "prediction"], ["Gaussian", "p = 1", *robust]),
        "## What a robust moment costs on clean signals",
        _numbers(table[(table["choice"] != BLIND) & (table["training"] == CLEAN)],
                 ["mcc", "prediction"], robust),
        "## Real data: temperatures of states",
        "Anomalies of months in 12 random years are the training signals, spoilt or not. The score "
        "is the error of predicting a state by its neighbours in the other 13 years. Trials are "
        "random halves of the same 25 years. They share data, so ±, the error of the mean over "
        "halves, is too small for conclusions about other years.",
        _numbers(states, ["prediction"], list(MODELS)[1:]),
    ]  # fmt: skip


def _tally(table: pd.DataFrame) -> str:
    rows = []
    for (how, metric), group in table.groupby(["choice", "metric"], sort=False):
        cells = []
        for model in list(MODELS)[1:]:
            counts = group[group["model"] == model]["verdict"].value_counts()
            words = [str(counts.get(word, 0)) for word in ("wins", "even", "loses")]
            cells.append(" / ".join(words) if counts.sum() else "–")
        rows.append([_NAMES[str(metric)], how, *cells])
    return markdown_table(["score", "chosen", *list(MODELS)[1:]], rows)


def _numbers(table: pd.DataFrame, metrics: Sequence[str], models: Sequence[str]) -> str:
    rows = []
    shown = table[table["metric"].isin(metrics) & table["model"].isin(models)]
    for key, group in shown.groupby(["metric", "choice", "training", "n"], sort=False):
        metric, how, training, n = key
        lines = {line["model"]: line for line in group.to_dict("records")}
        cells = [_gain(lines[model]) if model in lines else "–" for model in models]
        baseline = abs(float(group["baseline"].iloc[0]))
        rows.append([_NAMES[str(metric)], how, training, n, f"{baseline:.3f}", *cells])
    header = ["score", "chosen", "training", "N", "SAA", *(f"gain of {m}" for m in models)]
    return markdown_table(header, rows)


def _gain(line: dict[Hashable, Any]) -> str:
    text = f"{line['gain']:+.3f} ± {line['error']:.3f}"
    return {"wins": f"**{text}**", "loses": f"*{text}*"}.get(str(line["verdict"]), text)


def draw(table: pd.DataFrame) -> Figure:
    """Draw the gains of both balls on random graphs, one row for each way to choose."""
    figure, axes = plt.subplots(
        3, len(FAIR), figsize=(PAGE, 5.2), layout="constrained", sharex=True, sharey="col"
    )
    clean = table[(table["training"] == CLEAN) & (table["source"] == GRAPHS)]
    for row, how in enumerate((UNAWARE, AWARE, BLIND)):
        for panel, metric in zip(axes[row], FAIR, strict=True):
            _panel(panel, clean[(clean["metric"] == metric) & (clean["choice"] == how)])
            panel.set_title(_NAMES[metric] if row == 0 else "")
            panel.set_xlabel("samples N" if row == 2 else "")
        axes[row, 0].set_ylabel(f"gain over SAA\nchosen {how}")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    axes[0, -1].legend(handles, labels, loc="upper left")  # where nothing is gained
    return figure


def _panel(axes: Axes, rows: pd.DataFrame) -> None:
    axes.axhline(0.0, color=GREY, linewidth=0.6)
    for index, (model, colour) in enumerate(_COLOURS.items()):
        curve = rows[rows["model"] == model].sort_values("n")
        sizes, gain, error = (curve[name].to_numpy(float) for name in ("n", "gain", "error"))
        draw_band(axes, sizes, gain, error, colour, MARKERS[index], f"{model} ball")
    axes.set_xscale("log")
    plain_ticks(axes, (10, 100, 1000))
