"""Learn all graphs, tune on some of them, compare the models on the others, and report."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.style import BLUE, GREEN, GREY, MARKERS, PAGE, VERMILION
from experiments.measuring.digest import Source
from experiments.measuring.text import markdown_table
from experiments.studies.shift import trial
from experiments.studies.shift.trial import MODELS, SHIFTS, run_task, tasks
from experiments.studies.shift.tuning import AWARE, UNAWARE, collect, compare
from experiments.study import Report, Run, Study, unsolved_failure

_COLOURS = {trial.GAUSSIAN: BLUE, trial.MIDDLE: VERMILION, trial.DEGREE: GREEN}
_TITLES = {
    "none": "no shift", "drift": "drift of the graph", "sensor": "a broken sensor",
    "adversary": "an adversary",
}  # fmt: skip
_GRAPH_SCORES = {"mcc": "MCC", "dog": "DOG", "dog, drift": "DOG after drift"}


def answer(run: Run, options: argparse.Namespace) -> Report:
    """Compare all models on fresh graphs under every shift."""
    planned = tasks(range(options.tuned + options.graphs), options.seed)
    rows = run.trials(planned, run_task, "shift")
    pairs = list(zip(planned, rows, strict=True))
    before = [(task, row) for task, row in pairs if task.trial < options.tuned]
    after = [(task, row) for task, row in pairs if task.trial >= options.tuned]
    table = compare(*(collect(*zip(*part, strict=True)) for part in (before, after)))
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
    budget = len(trial.candidates(MODELS[0]))
    parts = [
        f"{unsolved} answers were not certified to a gap of 1e-6.",
        f"Similarity graphs of {trial.D} vertices. Every model has {budget} candidates: SAA "
        f"{budget} etas, the others five etas and three radii, all relative to the data. For each "
        f"condition, one candidate is chosen on {tuned} graphs by the metric that is scored, and "
        f"compared on {graphs} other graphs. Risks are exact: `xᵀLx` under the true, shifted "
        f"distribution plus η‖L‖², with the same η = {trial.TEST_ETA:g} for all models. They are "
        "given as *regret*, the relative excess over the least risk of any graph. Gains are paired "
        "with SAA and positive where the model is better; ± is a standard error over graphs.",
        f"Shifts at test time: *drift*, {trial.MIXED:.0%} of another graph; *sensor*, the worst "
        f"vertex reads noise of {trial.BROKEN:g} times the signal; *adversary*, the worst "
        f"distribution within {trial.DISTANCE:g} of the length of a signal. White noise at test "
        "time adds σ²d to the risk of every graph and changes no comparison. Corrupted training "
        f"signals: *noisy*, white noise of {trial.NOISE_SHARE:g} times the signal; *outliers*, "
        f"{trial.OUTLIER_SHARE:.0%} of the signals times {trial.OUTLIER_FACTOR:g}.",
        "![gains](shift.png)",
        f"*Gain over SAA against N, clean training signals, {graphs} graphs; bands are one "
        "standard error. First row: risk, tuned without the shift. Second row: risk, tuned with "
        "it. Third row: scores of the graph, each tuned by itself.*",
        "## Wins and losses",
        "Conditions won, even and lost, by two standard errors, over all scales, sample sizes and "
        "training signals.",
        _tally(table),
    ]
    for how in (UNAWARE, AWARE):
        risks = [f"regret, {shift}" for shift in SHIFTS]
        parts += [f"## Risk, {how}", _numbers(table[table["tuning"] == how], risks, 100.0, "%")]
    aware = table[table["tuning"] == AWARE]
    parts += ["## The graph, tuned by the same score", _numbers(aware, [*_GRAPH_SCORES], 1.0, "")]
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
    shown = table[table["metric"].isin(metrics)]
    for key, group in shown.groupby(["metric", "scale", "training", "n"], sort=False):
        cells = [*key, f"{unit * float(group['baseline'].iloc[0]):.{digits}f}{sign}"]
        for line in group.to_dict("records"):  # one for every model, in their order
            text = f"{unit * line['gain']:+.{digits}f} ± {unit * line['error']:.{digits}f}"
            cells.append(f"**{text}**" if line["verdict"] == "wins" else text)
        rows.append(cells)
    rows.sort(key=lambda cells: metrics.index(cells[0]))
    header = ["score", "scale", "training", "N", "SAA", *(f"gain of {m}" for m in MODELS[1:])]
    return markdown_table(header, rows)


def draw(table: pd.DataFrame) -> Figure:
    """Draw risks in two rows, one for each tuning, and scores of the graph in a third."""
    figure, axes = plt.subplots(
        3, 4, figsize=(PAGE, 5.2), layout="constrained", sharex=True, sharey="row"
    )
    clean = table[(table["scale"] == trial.SCALES[0]) & (table["training"] == trial.CLEAN)]
    for row, how in enumerate((UNAWARE, AWARE)):
        for panel, shift in zip(axes[row], SHIFTS, strict=True):
            _panel(panel, clean, f"regret, {shift}", how, 100.0)
            panel.set_title(_TITLES[shift] if row == 0 else "")
        axes[row, 0].set_ylabel(f"gain in risk (%)\n{how}")
    for panel, (metric, name) in zip(axes[2], _GRAPH_SCORES.items(), strict=False):
        _panel(panel, clean, metric, AWARE, 1.0)
        panel.set(title=name, xlabel="samples N")
    axes[2, 0].set_ylabel("gain in the graph")
    last = axes[2, 3]
    last.set_axis_off()
    axes[1, 3].tick_params(labelbottom=True)  # the panel below it is empty
    axes[1, 3].set_xlabel("samples N")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    last.legend(handles, labels, loc="center", title="better than SAA by")
    return figure


def _panel(axes: Axes, table: pd.DataFrame, metric: str, how: str, unit: float) -> None:
    rows = table[(table["metric"] == metric) & (table["tuning"] == how)]
    axes.axhline(0.0, color=GREY, linewidth=0.6)
    for index, (model, colour) in enumerate(_COLOURS.items()):
        curve = rows[rows["model"] == model].sort_values("n")
        sizes, gain = curve["n"].to_numpy(float), unit * curve["gain"].to_numpy(float)
        error = unit * curve["error"].to_numpy(float)
        axes.plot(sizes, gain, color=colour, marker=MARKERS[index], label=model)
        axes.fill_between(sizes, gain - error, gain + error, color=colour, alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    axes.set_xticks([10, 100, 1000], ["10", "100", "1000"])
    axes.minorticks_off()
