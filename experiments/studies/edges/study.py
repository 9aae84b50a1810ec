"""Run all tables and rules, and decide by the rule that docs/validation.md fixed in advance."""

from __future__ import annotations

import argparse

import pandas as pd

from experiments.measuring.digest import Source
from experiments.measuring.text import markdown_table
from experiments.studies.edges.tables import KINDS
from experiments.studies.edges.trial import SPOILT, learn, tasks
from experiments.study import Report, Run, Study

_FEWEST = 50  # signals that count for the score
_NOISE = 0.05  # the largest share of pairs on noise
_WORSE = 0.02  # the largest loss of MCC on spoilt tables
_COLUMNS = ["mcc", "f1", "ratio", "spoilt", "noise", "cpu_s"]
_EQUAL = 0.005  # difference of MCC below which the faster rule wins
_NOT_ROBUST = "cut, radius 0"  # loses such ties, because it certifies no worst-case risk


def answer(run: Run, options: argparse.Namespace) -> Report:
    """Learn every table by every rule and report the scores."""
    table = run.table(tasks(), learn, "edges")
    text = describe(table)
    return Report("Selected edges", text, tables={"edges": table}, summary="\n\n".join(text))


STUDY = Study("edges", Source(("experiments.studies.edges.trial",)), answer)


def scores(table: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of every rule on which the decision rests."""
    table = table.assign(
        ratio=table["found"] / table["true"].where(table["true"] > 0),
        share=table["found"] / table["pairs"],
    )
    noise = table["family"] == "noise"
    clean = ~noise & (table["kind"] == "gaussian") & (table["n"] >= _FEWEST)
    spoilt = table["kind"].isin(KINDS[1:]) & ~noise
    by_rule = {
        "mcc": _means(table[clean], "mcc"),
        "f1": _means(table[clean], "f1"),
        "ratio": _means(table[clean], "ratio"),
        "spoilt": _means(table[spoilt], "mcc"),
        "noise": _means(table[noise], "share"),
        "cpu_s": _means(table, "cpu_s"),
    }
    return pd.DataFrame(by_rule).loc[list(dict.fromkeys(table["rule"]))]


def _means(table: pd.DataFrame, score: str) -> pd.Series:
    """Return the mean score of every rule over all tables.

    A rule that saw only some tables gets the mean of the first rule plus their mean difference on
    the tables that both saw.
    """
    cells = table.pivot(index=["family", "kind", "d", "n", "trial"], columns="rule", values=score)
    first = cells[table["rule"].iloc[0]]
    return first.mean() + cells.sub(first, axis=0).mean()


def decide(found: pd.DataFrame) -> str | None:
    """Return the rule with the best MCC of those that pass on noise and spoilt tables, or None."""
    sound = (found["noise"] <= _NOISE) & (found["spoilt"] >= found["spoilt"].max() - _WORSE)
    kept = found[sound]
    if kept.empty:
        return None
    best = kept[kept["mcc"] >= kept["mcc"].max() - _EQUAL]
    robust = best.drop(index=_NOT_ROBUST, errors="ignore")
    return str((best if robust.empty else robust)["cpu_s"].idxmin())


def describe(table: pd.DataFrame) -> list[str]:
    """Return the paragraphs and tables of the report."""
    found = scores(table)
    winner = decide(found)
    lines = []
    for rule, (mcc, f1, ratio, spoilt, noise, cpu) in zip(
        found.index, found[_COLUMNS].to_numpy(dtype=float), strict=True
    ):
        shown = [f"{mcc:.3f}", f"{f1:.3f}", f"{ratio:.2f}", f"{spoilt:.3f}", f"{noise:.1%}"]
        lines.append([rule, *shown, f"{1000 * cpu:.0f} ms"])
    header = ["rule", "MCC", "F1", "found/true", "MCC, spoilt", "pairs on noise", "CPU"]
    parts = [
        "docs/validation.md explains this report.",
        f"The winner is **{winner}**."
        if winner
        else "No rule passes on noise and on spoilt tables.",
        markdown_table(header, lines),
    ]
    graphs = table[table["family"] != "noise"]
    clean = graphs[graphs["kind"] == "gaussian"]
    for rows, keys, title in (
        (clean, ["d", "n"], "By size"),
        (clean[clean["n"] >= _FEWEST], ["family"], "By family"),
        (graphs[graphs["n"] == SPOILT], ["kind", "d"], f"By kind, {SPOILT} signals"),
    ):
        parts += [f"## {title}, MCC", _pivot(rows, "mcc", keys)]
    shares = graphs.assign(share=graphs["false"] / graphs["found"].clip(lower=1))
    controlled = shares[shares["rule"].str.startswith("fdr")]
    return [*parts, "## Share of false edges", _pivot(controlled, "share", ["kind", "d", "n"])]


def _pivot(table: pd.DataFrame, score: str, keys: list[str]) -> str:
    """Return the mean score of every rule (a column) for every value of the keys (a row)."""
    cells = table.pivot_table(score, keys, "rule", sort=False)
    places = [key if isinstance(key, tuple) else (key,) for key in cells.index]
    rows = [[*map(str, place), *(f"{x:.3f}" for x in line)] for place, line in
            zip(places, cells.to_numpy(), strict=True)]  # fmt: skip
    return markdown_table([*keys, *map(str, cells.columns)], rows)
