"""Run experiments: trials in parallel or on a cluster, saved one by one, then figure and report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from experiments.figures import communities, gamma, noise, norm, radius, sample_size
from experiments.figures.experiment import Experiment, FigureTask
from experiments.figures.report import write_report
from experiments.provenance import write_provenance
from experiments.store import write_table
from experiments.trials import Row, forget, run_trials
from wdro_cvx import WdroError

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        communities.EXAMPLE,
        gamma.EXPERIMENT,
        sample_size.EXPERIMENT,
        radius.EXPERIMENT,
        radius.RELIABILITY,
        noise.EXPERIMENT,
        norm.EXPERIMENT,
        communities.EXPERIMENT,
    )
}


@dataclass(frozen=True)
class Preset:
    """How many trials each setting gets."""

    trials: int


PRESETS = {"quick": Preset(5), "paper": Preset(20)}


def run_figures(
    output: Path,
    names: Sequence[str],
    trials: int,
    seed: int,
    fresh: bool,
    scheduler: str | None = None,
) -> None:
    """Run experiments by name (all if none is named) and write tables, figures and report."""
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise WdroError(
            f"There is no experiment {unknown[0]!r}. Choose from: {', '.join(EXPERIMENTS)}."
        )
    output.mkdir(parents=True, exist_ok=True)
    chosen = [EXPERIMENTS[name] for name in names or EXPERIMENTS]
    tables = {}
    for experiment in chosen:
        folder = output / "cells" / experiment.name
        if fresh:
            forget(folder)
        tasks = _tasks(experiment, trials, seed)
        rows = run_trials(tasks, one_trial, folder, experiment.name, scheduler=scheduler)
        table = _table(tasks, rows)
        tables[experiment.name] = table
        write_table(output / f"{experiment.name}.csv", table.drop(columns="graph", errors="ignore"))
        figure = experiment.figure(table)
        for suffix in ("png", "pdf"):
            figure.savefig(output / f"{experiment.name}.{suffix}", dpi=200)
        plt.close(figure)
    write_report(output, {e.name: (e, tables[e.name]) for e in chosen}, trials, seed)
    write_provenance(output, {"trials": trials, "seed": seed, "experiments": ", ".join(tables)})


def one_trial(task: FigureTask) -> Row:
    """Run one trial; its generator depends on seed and number alone.

    All settings of an experiment therefore see the same graphs, which pairs their differences.
    """
    experiment = EXPERIMENTS[task.experiment]
    rng = np.random.default_rng([task.seed, task.trial])
    return {"records": experiment.trial(dict(task.setting), rng)}


def _tasks(experiment: Experiment, trials: int, seed: int) -> list[FigureTask]:
    return [
        FigureTask(experiment.name, tuple(setting.items()), trial, seed)
        for trial in range(trials)
        for setting in experiment.settings
    ]


def _table(tasks: Sequence[FigureTask], rows: Sequence[Row]) -> pd.DataFrame:
    records = [
        {**dict(task.setting), "trial": task.trial, "seed": task.seed, **record}
        for task, row in zip(tasks, rows, strict=True)
        for record in row["records"]
    ]
    return pd.DataFrame(records)
