"""Run experiments: trials in parallel or on a cluster, saved one by one, then figure and report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.drawing.style import save_figure
from experiments.figures import communities, gamma, noise, norm, prior, radius, sample_size
from experiments.figures.experiment import Experiment, FigureTask
from experiments.figures.report import write_report
from experiments.measuring.digest import Source
from experiments.measuring.files import write_table
from experiments.measuring.parallel import run_trials
from experiments.measuring.provenance import write_provenance
from experiments.measuring.store import Row, Store
from wdro_cvx import WdroError

_MODULES = (communities, gamma, noise, norm, prior, radius, sample_size)
SOURCE = Source(tuple(module.__name__ for module in _MODULES))
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
        prior.EXPERIMENT,
    )
}


@dataclass(frozen=True)
class Preset:
    """How many trials each setting gets."""

    trials: int


PRESETS = {"quick": Preset(5), "paper": Preset(20)}


def chosen_experiments(names: Sequence[str]) -> list[Experiment]:
    """Return experiments by name, each once; all if none is named."""
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise WdroError(
            f"There is no experiment {unknown[0]!r}. Choose from: {', '.join(EXPERIMENTS)}."
        )
    return [EXPERIMENTS[name] for name in dict.fromkeys(names or EXPERIMENTS)]


def run_figures(
    output: Path,
    chosen: Sequence[Experiment],
    trials: int,
    seed: int,
    fresh: bool,
    scheduler: str | None = None,
) -> None:
    """Run experiments and write tables, figures and report below ``output``."""
    store = Store(output, SOURCE.digest(), fresh)
    tables = {}
    for experiment in chosen:
        tasks = _tasks(experiment, trials, seed)
        rows = run_trials(tasks, one_trial, store, experiment.name, scheduler=scheduler)
        table = _table(tasks, rows)
        tables[experiment.name] = table
        write_table(output / f"{experiment.name}.csv", table.drop(columns="graph", errors="ignore"))
        save_figure(experiment.figure(table), output / experiment.name)
    write_report(output, {e.name: (e, tables[e.name]) for e in chosen}, trials, seed)
    settings = {"trials": trials, "seed": seed, "experiments": ", ".join(tables)}
    write_provenance(output, settings, SOURCE)


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
