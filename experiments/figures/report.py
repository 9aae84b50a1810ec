"""The report of the experiments: our numbers beside the paper's, and a verdict per claim."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from experiments.figures.experiment import Experiment
from experiments.figures.learning import ETA, ETAS, GAUSSIAN_RADII, GENERAL_RADII
from experiments.measuring.files import write_atomically
from experiments.measuring.provenance import provenance_line
from experiments.measuring.text import markdown_table


def write_report(
    output: Path, results: Mapping[str, tuple[Experiment, pd.DataFrame]], trials: int, seed: int
) -> None:
    """Write ``report.md`` for the experiments that were run."""
    names = " ".join(results)
    parts = [
        "# The paper's experiments, run again",
        f"Made by `wdro figures {names} --trials {trials} --seed {seed}`. Means ± one standard "
        f"error over {trials} trials; a difference counts from two standard errors on. η = {ETA:g} "
        f"where it is not tuned. Candidates: ε in {_list(GAUSSIAN_RADII)} (Gaussian), in "
        f"{_list(GENERAL_RADII)} (general, p = 2), η in {_list(ETAS)} (tuned SAA). As in the paper "
        "the candidate with the largest MCC (Table 3: NMI) is taken, one for all trials of a "
        "setting; the figures also show a choice that sees no true graph. All settings of a trial "
        "share its graph, which is the unit of every error.",
        "## What comes out at these settings",
        "The paper does not tell its own. Whether other settings explain a sentence that does not "
        "come out here is what `wdro study explain` searches for.",
        markdown_table(["", "claim", "outcome", "evidence"], _findings(results)),
    ]
    for name, (experiment, table) in results.items():
        parts += [f"## {experiment.title}", f"`wdro figures {name}`", f"![{name}]({name}.png)"]
        parts.append(f"*{experiment.caption.format(trials=trials)}*")
        if experiment.tables is not None:
            parts.append(experiment.tables(table))
    write_atomically(
        output / "report.md", "\n\n".join([*parts, f"Made with {provenance_line()}."]) + "\n"
    )


def _findings(results: Mapping[str, tuple[Experiment, pd.DataFrame]]) -> list[list[str]]:
    rows = []
    for experiment, table in results.values():
        for finding in experiment.claims(table):
            place = experiment.title.split(":")[0]
            rows.append([place, finding.claim, f"**{finding.outcome}**", finding.evidence])
    return rows


def _list(values: tuple[float, ...]) -> str:
    return f"{values[0]:g} … {values[-1]:g} ({len(values)} values, geometric)"
