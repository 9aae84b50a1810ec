"""Run the requested parts; report every part whose table is in the folder."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.measuring.digest import Source
from experiments.measuring.store import Row
from experiments.measuring.text import markdown_table
from experiments.studies.validate.sources import NETWORKS, load_source
from experiments.studies.validate.trials import (
    BATCH,
    RULES,
    cover,
    coverage_tasks,
    learn_by_method,
    learn_by_rule,
    method_tasks,
    rule_tasks,
)
from experiments.study import Report, Run, Study

_PARTS: dict[str, tuple[Callable[[], list[Any]], Callable[[Any], Row]]] = {
    "methods": (method_tasks, learn_by_method),
    "rules": (rule_tasks, learn_by_rule),
    "coverage": (coverage_tasks, cover),
}


def answer(run: Run, options: argparse.Namespace) -> Report:
    """Run the requested parts and report all parts with results."""
    parts = options.part or list(_PARTS)
    if set(parts) != {"coverage"}:
        for name in NETWORKS:
            load_source(name)  # report a missing package before running anything
    tables = {}
    for part in parts:
        list_tasks, trial = _PARTS[part]
        tables[part] = run.table(list_tasks(), trial, part)
    text = describe(_read(run.output) | tables)
    return Report("Graphs that are known", text, tables=tables, summary="\n\n".join(text))


STUDY = Study("validate", Source(("experiments.studies.validate.trials",)), answer)


def _read(output: Path) -> dict[str, pd.DataFrame]:
    """Return the tables of earlier runs in a folder."""
    paths = {part: output / f"{part}.csv" for part in _PARTS}
    return {
        part: pd.read_csv(
            path, dtype={"failure": str}, keep_default_na=False, na_values=["nan", ""]
        ).fillna({"failure": ""})
        for part, path in paths.items()
        if path.exists()
    }


def describe(tables: dict[str, pd.DataFrame]) -> list[str]:
    """Return the paragraphs and tables of the parts that were run."""
    describers = {"methods": _methods, "rules": _rules, "coverage": _coverage}
    parts = ["docs/validation.md explains this report."]
    return parts + [
        text for name in describers if name in tables for text in describers[name](tables[name])
    ]


def _methods(rows: pd.DataFrame) -> list[str]:
    parts = ["## Methods"]
    sources = list(dict.fromkeys(rows["source"]))
    first = rows.drop_duplicates("source").set_index("source")
    header = ["", *(f"{s} ({first.loc[s, 'd']} × {first.loc[s, 'n']})" for s in sources)]
    chance = ["chance", *(f"{first.loc[source, 'chance']:.3f}" for source in sources)]
    for score, title in (("average_precision", "Average precision"), ("f1", "F1")):
        lines = []
        for method, mine in rows.groupby("method", sort=False):
            cells = mine.set_index("source")
            lines.append([method, *(_interval(cells.loc[source], score) for source in sources)])
        parts += [f"### {title}, 95 % intervals over vertices",
                  markdown_table(header, [*lines, chance])]  # fmt: skip
    return parts


def _interval(row: pd.Series, score: str) -> str:
    if row["failure"]:
        return "fails"
    return f"{row[score]:.3f} ({row[f'{score}_low']:.2f}–{row[f'{score}_high']:.2f})"


def rule_cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the average precision of every rule in every cell, averaged over random graphs."""
    keys = ["source", "ambiguity", "eta"]
    return rows.pivot_table("average_precision", keys, "rule", sort=False)[list(RULES)]


def mean_ranks(cells: pd.DataFrame) -> pd.Series:
    """Return the mean rank of every rule; 1 is best in a cell, and ties share their ranks."""
    return cells.rank(axis=1, ascending=False).mean()


def _rules(rows: pd.DataFrame) -> list[str]:
    cells = rule_cells(rows)
    best = cells.to_numpy().max(axis=1)
    lines: list[list[object]] = []
    for key, line, most in zip(cells.index, cells.to_numpy(), best, strict=True):
        lines.append([*key, *(f"**{x:.3f}**" if x == most else f"{x:.3f}" for x in line)])
    ranks = mean_ranks(cells)
    wins = (cells.to_numpy() == best[:, np.newaxis]).sum(axis=0)
    summary = [
        [rule, f"{ranks[rule]:.2f}", int(win), f"{cells[rule].mean():.3f}"]
        for rule, win in zip(RULES, wins, strict=True)
    ]
    return [
        "## Rules for the radius",
        f"Average precision in {len(cells)} cells. The rule with the smallest mean rank wins: "
        f"**{ranks.idxmin()}**.",
        markdown_table(["rule", "mean rank", "cells won", "mean"], summary),
        markdown_table(["source", "set", "eta", *RULES], lines),
    ]


def _coverage(rows: pd.DataFrame) -> list[str]:
    keys = ["tails", "ambiguity", "d", "n"]
    grouped = rows.groupby(keys, sort=False)["covered"].agg(["sum", "count"])
    lines = []
    for key, hits, batches in grouped.itertuples():
        share = hits / (batches * BATCH)
        error = np.sqrt(share * (1 - share) / (batches * BATCH))
        lines.append([*key, f"{100 * share:.1f} ± {100 * error:.1f} %"])
    return [
        "## Coverage of the bootstrap's set, nominally 95 %",
        markdown_table(["tails", "set", "vertices", "signals", "contains the truth"], lines),
    ]
