"""Choose candidates from the table of an experiment, by the truth or by held-out risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.figures.learning import PRINTED, SAA, SIMILARITY, Condition
from experiments.figures.statements import Choice, table_scores
from experiments.measuring.text import markdown_table
from wdro_cvx.validation import Array

CANDIDATE = ["eta", "radius"]


def choose_by_truth(
    table: pd.DataFrame, settings: Sequence[str], metric: str = "mcc"
) -> pd.DataFrame:
    """Keep, for every setting and model, the candidate with the largest mean of a metric."""
    keys = [*settings, "model"]
    means = table.groupby([*keys, *CANDIDATE], sort=False)[metric].mean().reset_index()
    best = means.loc[means.groupby(keys, sort=False)[metric].idxmax(), [*keys, *CANDIDATE]]
    return table.merge(best, on=[*keys, *CANDIDATE])


def choose_fairly(table: pd.DataFrame, settings: Sequence[str]) -> pd.DataFrame:
    """Keep, for every setting, model and trial, the candidate with the smallest held-out risk."""
    keys = [*settings, "model", "trial"]
    return table.loc[table.groupby(keys, sort=False)["held_out_risk"].idxmin()]


def told(values: Array) -> str:
    """Return mean and standard error as text."""
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(values.size):.3f}"


class Chosen(Choice):
    """Choose as the paper does: one eta, and per setting the radius that is best by the truth."""

    name = "chosen by the truth"
    any_eta = False

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table
        self.settings = [name for name in ("truth", "n", "noise") if name in table]
        self.sizes, self.noises = (
            sorted(table[name].unique().tolist()) if name in table else []
            for name in ("n", "noise")
        )
        self._best: dict[str, pd.DataFrame] = {}

    def at(self, setting: Mapping[str, Any], model: str, metric: str) -> Array:
        """Return one score for every graph; the radius is best by NMI for NMI, else by MCC."""
        rows = self.rows(setting, model, "nmi" if metric == "nmi" else "mcc")
        return rows.sort_values("trial")[metric].to_numpy(float)

    def rows(self, setting: Mapping[str, Any], model: str, tuned: str = "mcc") -> pd.DataFrame:
        """Return the records of the chosen candidate."""
        if tuned not in self._best:
            self._best[tuned] = choose_by_truth(self.table, self.settings, tuned)
        return _where(self._best[tuned], {**setting, "model": model})

    def scores(self, kind: str, condition: Condition, model: str, metric: str) -> Array:
        """Return one score for every graph; each experiment has graphs of one kind."""
        return self.at({"n": condition.n, "noise": condition.noise}, model, metric)

    def by_norm(self, condition: Condition, model: str) -> Array:
        """Return MCC with every norm's own candidates."""
        return self.at({"n": condition.n}, "p = ∞" if model == SAA else model, "mcc")

    def curve(self, model: str, n: int, metric: str) -> tuple[Sequence[float], Array]:
        """Return radii and scores at the experiment's eta."""
        rows = _where(self.table, {"n": n, "model": model})
        wide = rows.pivot_table(index="trial", columns="radius", values=metric)
        return wide.columns.to_numpy(float).tolist(), wide.to_numpy(float)


def _where(table: pd.DataFrame, values: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows with the given values; names without a column are ignored."""
    for name, value in values.items():
        if name in table:
            table = table[table[name] == value]
    return table


def beside(choice: Choice, kind: str, models: Sequence[str]) -> str:
    """Return a table of the paper's scores, if printed, with ours and the difference, by model."""
    paper = PRINTED[kind]
    sizes = list(dict.fromkeys(n for n, _ in paper))
    rows: list[list[object]] = []
    for model in models:
        ours = [table_scores(choice, kind, n, model) for n in sizes]
        theirs = [paper[n, model] for n in sizes if (n, model) in paper]
        name = "p = ∞" if (kind, model) == (SIMILARITY, SAA) else model
        lines: dict[str, list[str]] = {"ours": [told(values) for values in ours]}
        if theirs:
            differences = [values.mean() - p for values, p in zip(ours, theirs, strict=True)]
            lines = {"paper": [f"{p:.3f}" for p in theirs], **lines}
            lines["difference"] = [f"{difference:+.3f}" for difference in differences]
        rows += [[name, word, *cells] for word, cells in lines.items()]
    return markdown_table(["model", "", *(f"N = {n}" for n in sizes)], rows)
