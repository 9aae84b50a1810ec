"""What an experiment is: a grid of settings, a trial, a figure, and claims to be checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

Setting = Mapping[str, Any]
Record = dict[str, Any]


@dataclass(frozen=True)
class ClaimFinding:
    """A sentence of the paper and what our numbers say of it."""

    claim: str
    outcome: str
    evidence: str


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper.

    Attributes
    ----------
    name, title : str
    settings : sequence of mappings
        What is varied; every trial of a setting is one task.
    trial : callable
        Given a setting and a generator, returns records: one flat row each.
    figure : callable
        Draws the table of all records.
    claims : callable
        Checks the paper's sentences against the table.
    caption : str
        What the figure shows and what to see in it; ``{trials}`` stands for their number.
    tables : callable, optional
        Returns Markdown tables for the report.
    """

    name: str
    title: str
    settings: Sequence[Setting]
    trial: Callable[[Setting, np.random.Generator], list[Record]]
    figure: Callable[[pd.DataFrame], Figure]
    claims: Callable[[pd.DataFrame], list[ClaimFinding]]
    caption: str
    tables: Callable[[pd.DataFrame], str] | None = None


@dataclass(frozen=True)
class FigureTask:
    """One trial of one setting."""

    experiment: str
    setting: tuple[tuple[str, Any], ...]
    trial: int
    seed: int
