"""What `wdro validate` found, as Markdown: every cell, also those that are lost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.measuring.text import markdown_table
from experiments.studies.validate.coverage import BATCH
from experiments.studies.validate.rules import RULES, mean_ranks, rule_cells


def describe(tables: dict[str, pd.DataFrame]) -> str:
    """Return the report of the parts that were run."""
    parts = ["# Graphs that are known", "Made by `wdro validate`; docs/validation.md explains it."]
    describers = {"methods": _methods, "rules": _rules, "coverage": _coverage}
    for name, describer in describers.items():
        if name in tables:
            parts += describer(tables[name])
    return "\n\n".join(parts) + "\n"


def _methods(rows: pd.DataFrame) -> list[str]:
    parts = ["## Methods"]
    for score, title in (("average_precision", "Average precision"), ("f1", "F1")):
        sources = list(dict.fromkeys(rows["source"]))
        lines: list[list[object]] = []
        for method in dict.fromkeys(rows["method"]):
            mine = rows[rows["method"] == method].set_index("source")
            lines.append([method, *(_interval(mine.loc[source], score) for source in sources)])
        first = rows.drop_duplicates("source").set_index("source")
        chance = ["chance", *(f"{first.loc[source, 'chance']:.3f}" for source in sources)]
        header = ["", *(f"{s} ({first.loc[s, 'd']} × {first.loc[s, 'n']})" for s in sources)]
        parts += [f"### {title}, 95 % intervals over vertices",
                  markdown_table(header, [*lines, chance])]  # fmt: skip
    return parts


def _interval(row: pd.Series, score: str) -> str:
    if row["failure"]:
        return "fails"
    return f"{row[score]:.3f} ({row[f'{score}_low']:.2f}–{row[f'{score}_high']:.2f})"


def _rules(rows: pd.DataFrame) -> list[str]:
    cells = rule_cells(rows)
    best = cells.to_numpy().max(axis=1)
    lines: list[list[object]] = []
    for key, line, most in zip(cells.index, cells.to_numpy(), best, strict=True):
        shown = [f"**{x:.3f}**" if x == most else f"{x:.3f}" for x in line]
        lines.append([*key, *shown])
    ranks = mean_ranks(cells)
    wins = (cells.to_numpy() == best[:, np.newaxis]).sum(axis=0)
    summary = [
        [rule, f"{ranks[rule]:.2f}", int(win), f"{cells[rule].mean():.3f}"]
        for rule, win in zip(RULES, wins, strict=True)
    ]
    return [
        "## Rules for the radius",
        f"Average precision in {len(cells)} cells; the least mean rank wins: **{ranks.idxmin()}**.",
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
