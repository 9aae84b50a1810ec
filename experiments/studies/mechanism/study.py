"""Compare the ball with its premium from different moments, decide, draw and report."""

from __future__ import annotations

import argparse

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.drawing.style import COLOURS, GREY, PAGE
from experiments.measuring.digest import Source
from experiments.measuring.text import markdown_table
from experiments.studies.mechanism.trial import (
    BALL,
    CONDITIONS,
    MODELS,
    OTHER,
    OWN,
    SHUFFLED,
    VARIANCES,
    run_task,
    tasks,
)
from experiments.studies.shift.trial import SAA
from experiments.studies.shift.tuning import AWARE, SIGNIFICANT, chosen, collect, resamples
from experiments.study import Report, Run, Study, unsolved_failure
from wdro_cvx.validation import Array


def answer(run: Run, options: argparse.Namespace) -> Report:
    """Choose candidates on some graphs, compare the models on the others, and decide."""
    planned = tasks(range(options.tuned + options.graphs), options.seed)
    rows = run.trials(planned, run_task, "mechanism")
    tuning, fresh = collect(planned, rows, options.tuned)
    rng = np.random.default_rng(options.seed)
    draws = resamples(options.tuned, rng), resamples(options.graphs, rng)
    scores = {
        (key, name): chosen(tuning, fresh, key, name, "mcc", AWARE, draws)
        for key in CONDITIONS
        for name in MODELS
    }
    table = gains(scores)
    unsolved = int(sum(row["unsolved"] for row in rows))
    return Report(
        "Why a ball helps with many signals",
        describe(table, verdicts(scores), options.tuned, options.graphs, unsolved),
        tables={"gains": table},
        figures={"mechanism": draw(table)},
        failure=unsolved_failure(unsolved),
    )


STUDY = Study("mechanism", Source(("experiments.studies.mechanism.trial",)), answer)

Scores = dict[tuple[tuple[str, int], str], Array]


def gains(scores: Scores) -> pd.DataFrame:
    """Return the MCC of SAA and the gain of every other model, with standard errors."""
    lines = []
    for source, n in CONDITIONS:
        base = scores[(source, n), SAA]
        for name in MODELS[1:]:
            gain = scores[(source, n), name] - base
            lines.append([source, n, name, base[0], gain[0], gain[1:].std(ddof=1)])
    return pd.DataFrame(lines, columns=["source", "n", "model", "SAA", "gain", "error"])


def verdicts(scores: Scores) -> list[list[str]]:
    """Return the verdict on every prediction for each condition, or that the ball gains nothing."""
    lines = []
    for key in CONDITIONS:
        of = {name: scores[key, name] - scores[key, SAA] for name in MODELS[1:]}
        if _sure(of[BALL]) != "more":
            words = [f"the ball gains nothing{'' if _sure(of[BALL]) == 'even' else ', it loses'}"]
            words += ["", f"{OTHER} gain: {_sure(of[OTHER])}"]
        else:
            words = [
                "fails" if _sure(of[OWN]) != "more" or _sure(of[OWN] - of[BALL]) == "less"
                else "holds",
                "holds" if all(_sure(of[OWN] / 2 - of[name]) == "more"
                               for name in (VARIANCES, SHUFFLED)) else "fails",
                "fails" if _sure(of[OTHER] - of[OWN]) == "less" else "holds",
            ]  # fmt: skip
        lines.append([key[0], str(key[1]), *words])
    return lines


def _sure(differences: Array) -> str:
    """Return ``more``, ``less`` or ``even`` by three standard errors; entry 0 is the estimate."""
    limit = SIGNIFICANT * float(differences[1:].std(ddof=1))
    if abs(differences[0]) <= limit:
        return "even"
    return "more" if differences[0] > 0.0 else "less"


def describe(
    table: pd.DataFrame, found: list[list[str]], tuned: int, graphs: int, unsolved: int
) -> list[str]:
    """Return the paragraphs and tables of the report."""
    rows = []
    for (source, n), group in table.groupby(["source", "n"], sort=False):
        cells = [f"{g:+.3f} ± {e:.3f}" for g, e in zip(group["gain"], group["error"], strict=True)]
        rows.append([source, n, f"{group['SAA'].iloc[0]:.3f}", *cells])
    return [
        f"{unsolved} answers were not certified to a gap of 1e-6.",
        "MCC of the edges. Every model has the candidates of SAA and 45 more. The candidate is the "
        f"best on {tuned} other graphs of the same kind; the gains are on {graphs} further graphs. "
        "± is a standard error over resampled graphs of both groups. The models on the right "
        "replace the ball by `α·E‖Lx‖²` with the second moment of: the signals, their variances "
        "only, the signals with shuffled vertices, and as many other signals of the same graph.",
        markdown_table(["data", "N", "SAA", *(f"gain of {name}" for name in MODELS[1:])], rows),
        "![gains](mechanism.png)",
        "## Predictions",
        "*Enough*: the residuals gain, and not less than the ball. *Needed*: variances and "
        "shuffled signals gain less than half as much as the residuals. *Information*: residuals "
        f"of other signals gain as much as those of the same signals. By {SIGNIFICANT:g} standard "
        "errors.",
        markdown_table(["data", "N", "enough", "needed", "information"], found),
    ]


def draw(table: pd.DataFrame) -> Figure:
    """Draw the gain of every model in every condition."""
    figure, axes = plt.subplots(figsize=(PAGE, 2.6), layout="constrained")
    places = np.arange(len(CONDITIONS))
    width = 0.8 / (len(MODELS) - 1)
    for index, name in enumerate(MODELS[1:]):
        lines = table[table["model"] == name]
        axes.bar(
            places + (index - 2) * width, lines["gain"], width, yerr=lines["error"], label=name,
            color=COLOURS[index], error_kw={"linewidth": 0.8},
        )  # fmt: skip
    axes.axhline(0.0, color=GREY, linewidth=0.6)
    axes.set_xticks(places, [f"{source}\nN = {n}" for source, n in CONDITIONS])
    axes.set_ylabel("gain in MCC over SAA")
    axes.legend(fontsize="small")
    return figure
