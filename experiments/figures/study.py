"""Run the chosen experiments and report our numbers beside the paper's."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import pandas as pd

from experiments.figures.catalogue import EXPERIMENTS, Experiment
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
    """Run experiments and draw their figures."""
    chosen = chosen_experiments(options.names)
    trials = options.trials or PRESETS[options.preset]
    tables = {name: _table(run, name, trials, options.seed) for name in chosen}
    parts, figures = [_introduction(trials)], {}
    for name, experiment in chosen.items():
        figures[name] = experiment.figure(tables[name])
        figures[name].suptitle(experiment.title, fontsize=9)  # its name in the paper
        caption = f"*{experiment.caption.format(trials=trials)}*"
        parts += [f"## {experiment.title}", f"`wdro figures {name}`", f"![{name}]({name}.png)"]
        parts += [caption, experiment.tables(tables[name]) if experiment.tables else ""]
    kept = {name: table.drop(columns="graph", errors="ignore") for name, table in tables.items()}
    return Report("The paper's experiments, run again", parts, tables=kept, figures=figures)


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


def _introduction(trials: int) -> str:
    return (
        f"Means ± one standard error over {trials} trials. η = {ETA:g} unless it is tuned. "
        f"Candidates: ε in {_list(GAUSSIAN_RADII)} (Gaussian), ε in {_list(GENERAL_RADII)} "
        f"(general, p = 2), η in {_list(ETAS)} (tuned SAA). As in the paper, the candidate with "
        "the largest MCC (Table 3: NMI) is taken, one for all trials of a setting; the figures "
        "also show a choice that needs no true graph. All settings of a trial share a graph; "
        "errors are over graphs. `wdro study explain` tests what the paper says about its figures."
    )


def _list(values: Sequence[float]) -> str:
    return f"{values[0]:g} … {values[-1]:g} ({len(values)} values)"


STUDY = Study("figures", Source(("experiments.figures.trials",)), answer)
