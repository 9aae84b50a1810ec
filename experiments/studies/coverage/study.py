"""Report the share of tables whose set contains the truth."""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from experiments.measuring.digest import Source
from experiments.measuring.text import markdown_table
from experiments.studies.coverage.trial import BATCH, cover, tasks
from experiments.study import Report, Run, Study


def answer(run: Run, options: argparse.Namespace) -> Report:
    """Run all batches and report the coverage by tails, set and size."""
    rows = run.table(tasks(), cover, "coverage")
    text = describe(rows)
    return Report(
        "Coverage of the bootstrap's set, nominally 95 %", [text],
        tables={"coverage": rows}, summary=text,
    )  # fmt: skip


STUDY = Study("coverage", Source(("experiments.studies.coverage.trial",)), answer)


def describe(rows: pd.DataFrame) -> str:
    """Return the table of the report."""
    keys = ["tails", "ambiguity", "d", "n"]
    grouped = rows.groupby(keys, sort=False)["covered"].agg(["sum", "count"])
    lines = []
    for key, hits, batches in grouped.itertuples():
        share = hits / (batches * BATCH)
        error = np.sqrt(share * (1 - share) / (batches * BATCH))
        lines.append([*key, f"{100 * share:.1f} ± {100 * error:.1f} %"])
    return markdown_table(["tails", "set", "vertices", "signals", "contains the truth"], lines)
