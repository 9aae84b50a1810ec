"""Compare the methods by every score, and mark those that are ahead of RobustGraph."""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from experiments.measuring.digest import Source
from experiments.measuring.text import markdown_table
from experiments.studies.validate.methods import METHODS
from experiments.studies.validate.sources import GIVEN, NETWORKS, load_source
from experiments.studies.validate.trials import DRAWS, learn_by_method, method_tasks
from experiments.study import Report, Run, Study

OURS = next(iter(METHODS))
_SIGNIFICANT = 2.0
_TITLES = {
    "mcc": "MCC of the edges that a method draws",
    "f1": "F1 of these edges",
    "edges": "Number of these edges",
    "f1_equal": "F1 of as many pairs from the top of the ranking as there are true edges",
    "average_precision": "Average precision of the ranking",
}


def answer(run: Run, options: argparse.Namespace) -> Report:
    """Learn every draw by every method and report the scores."""
    for name in NETWORKS:
        load_source(name)  # report a missing package before running anything
    rows = run.table(method_tasks(), learn_by_method, "methods")
    text = describe(rows)
    return Report(
        "Graphs that are known", text, tables={"methods": rows}, summary="\n\n".join(text)
    )


STUDY = Study("validate", Source(("experiments.studies.validate.trials",)), answer)


def describe(rows: pd.DataFrame) -> list[str]:
    """Return the paragraphs and tables of the report."""
    sources = list(dict.fromkeys(rows["source"]))
    first = rows.drop_duplicates("source").set_index("source")
    header = ["", *(f"{s} ({first.loc[s, 'd']} × {first.loc[s, 'n']})" for s in sources)]
    parts = [
        "docs/validation.md explains this report.",
        f"Means over {DRAWS} draws of every source. ± is a standard error of the difference from "
        f"{OURS}, paired by draw; for {' and '.join(GIVEN)}, whose draws are halves of one table, "
        "it is the deviation over the draws. Bold: ahead by more than two standard errors; italic: "
        "behind.",
    ]
    for score, title in _TITLES.items():
        lines = [
            [method, *(_cell(rows[rows["source"] == source], method, score) for source in sources)]
            for method in dict.fromkeys(rows["method"])
        ]
        if score in ("average_precision", "edges"):
            name, column = ("chance", "chance") if score != "edges" else ("true edges", "true")
            means = [rows[rows["source"] == source][column].mean() for source in sources]
            lines.append([name, *(f"{x:.3f}" if score != "edges" else f"{x:.0f}" for x in means)])
        parts += [f"## {title}", markdown_table(header, lines)]
    return parts


def ahead(rows: pd.DataFrame, method: str, score: str) -> tuple[float, float, float]:
    """Return a method's mean score at a source, its lead over ours, and the lead's error."""
    table = rows.pivot_table(score, "trial", "method")
    if method not in table:
        return float("nan"), float("nan"), float("nan")
    kept = table[[OURS, method]].dropna() if method != OURS else table[[OURS]].dropna()
    lead = (kept[method] - kept[OURS]).to_numpy(float)
    spread = float(lead.std(ddof=1)) if len(lead) > 1 else float("nan")
    given = rows["source"].iloc[0] in GIVEN  # halves of one table: the delete-half jackknife
    error = spread if given else spread / np.sqrt(len(lead))
    return float(kept[method].mean()), float(lead.mean()), error


def _cell(rows: pd.DataFrame, method: str, score: str) -> str:
    failed = int((rows[rows["method"] == method]["failure"] != "").sum())
    mean, lead, error = ahead(rows, method, score)
    note = f" ({failed} failed)" if failed else ""
    if not np.isfinite(mean):
        return "fails"
    if score == "edges":
        return f"{mean:.0f}{note}"
    text = f"{mean:.3f}"
    if method != OURS:
        text += f" ± {error:.3f}"
        if abs(lead) > _SIGNIFICANT * error:
            text = f"**{text}**" if lead > 0.0 else f"*{text}*"
    return text + note
