"""Run the chosen experiments and report our numbers beside the paper's."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import pandas as pd

from experiments.figures.catalogue import EXPERIMENTS, Experiment
from experiments.figures.chosen import choices
from experiments.figures.learning import SAA, TUNED
from experiments.figures.statements import FAILS, HOLDS, OPEN, SAME, verdict_table
from experiments.figures.trials import (
    ETA,
    ETAS,
    GAUSSIAN_RADII,
    GENERAL_RADII,
    GRIDS,
    FigureTask,
    one_trial,
)
from experiments.measuring.digest import Source
from experiments.study import Report, Run, Study
from wdro_cvx import WdroError

#: Trials of each setting.
PRESETS = {"quick": 5, "paper": 20}


def chosen_experiments(names: Sequence[str]) -> dict[str, Experiment]:
    """Return experiments by name, all if none is named; refuse unknown names."""
    for name in names:
        if name not in EXPERIMENTS:
            known = ", ".join(EXPERIMENTS)
            raise WdroError(f"There is no experiment {name!r}. Choose from: {known}.")
    return {name: EXPERIMENTS[name] for name in names or EXPERIMENTS}


def answer(run: Run, options: argparse.Namespace) -> Report:
    """Run experiments, draw their figures and check what the paper says of them."""
    chosen = chosen_experiments(options.names)
    trials = options.trials or PRESETS[options.preset]
    tables = {name: _table(run, name, trials, options.seed) for name in chosen}
    verdicts = {
        check: [check.on(choice) for choice in choices(tables[name])]
        for name, experiment in chosen.items()
        for check in experiment.checks
    }
    columns = [f"against {baseline}" for baseline in (SAA, TUNED)]
    parts = [*_introduction(trials), verdict_table(columns, verdicts)]
    for name, experiment in chosen.items():
        caption = f"*{experiment.caption.format(trials=trials)}*"
        parts += [f"## {experiment.title}", f"`wdro figures {name}`", f"![{name}]({name}.png)"]
        parts += [caption, experiment.tables(tables[name]) if experiment.tables else ""]
    return Report(
        "The paper's experiments, run again",
        parts,
        tables={
            name: table.drop(columns="graph", errors="ignore") for name, table in tables.items()
        },
        figures={name: chosen[name].figure(table) for name, table in tables.items()},
    )


def _table(run: Run, name: str, trials: int, seed: int) -> pd.DataFrame:
    """Return the records of all trials of an experiment."""
    tasks = [
        FigureTask(name, tuple(setting.items()), trial, seed)
        for trial in range(trials)
        for setting in GRIDS[name].settings
    ]
    rows = run.trials(tasks, one_trial, name)
    return pd.DataFrame([
        {**dict(task.setting), "trial": task.trial, "seed": task.seed, **record}
        for task, row in zip(tasks, rows, strict=True)
        for record in row["records"]
    ])  # fmt: skip


def _introduction(trials: int) -> list[str]:
    return [
        f"Means ± one standard error over {trials} trials; a difference counts if it exceeds two "
        f"standard errors. η = {ETA:g} unless it is tuned. Candidates: ε in "
        f"{_list(GAUSSIAN_RADII)} (Gaussian), ε in {_list(GENERAL_RADII)} (general, p = 2), "
        f"η in {_list(ETAS)} (tuned SAA). As in the paper, the candidate with the largest MCC "
        "(Table 3: NMI) is taken, one for all trials of a setting; the figures also show a choice "
        "that needs no true graph. All settings of a trial share a graph; errors are over graphs.",
        "## What the paper says, at these settings",
        "Every statement is tested against SAA with the same η, and against SAA with an η that is "
        "chosen like the radius of the others. Differences are paired and positive in favour of "
        f"the statement. *{HOLDS}* and *{FAILS}* are by two standard errors, otherwise *{OPEN}*; "
        f"*{SAME}* means the same model: the general scenario is SAA with a larger η. The paper "
        "does not give its own settings. `wdro study explain` searches for settings that explain "
        "what does not hold here.",
    ]


def _list(values: Sequence[float]) -> str:
    return f"{values[0]:g} … {values[-1]:g} ({len(values)} values, geometric)"


STUDY = Study("figures", Source(("experiments.figures.trials",)), answer)
