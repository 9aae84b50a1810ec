"""What the search and the fresh graphs came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.studies.explain.claims import Sentence
from experiments.studies.explain.columns import Column
from experiments.studies.explain.settings import Fit, Setting
from experiments.studies.explain.verdicts import Finding


@dataclass(frozen=True)
class Explanation:
    """At how many settings a sentence holds, and the nearest to the printed tables of them."""

    sentence: Sentence
    settings: int
    nearest: Fit | None


@dataclass(frozen=True)
class Explained:
    """What came out.

    Attributes
    ----------
    fits : sequence of Fit
        Every setting, the nearest to the printed tables first.
    setting : Setting
        Of those as near as the nearest, the one under which most sentences hold.
    as_near : int
        How many settings are as near, within one standard error.
    explained : sequence of Explanation
        For every sentence, the settings at which it holds on the graphs of the search.
    columns : sequence of Column
    findings : sequence of (Sentence, findings)
        One finding for every column.
    searched, graphs, unsolved : int
        Graphs of the search, fresh ones, and answers that the judge did not call solved.
    """

    fits: Sequence[Fit]
    setting: Setting
    as_near: int
    explained: Sequence[Explanation]
    columns: Sequence[Column]
    findings: Sequence[tuple[Sentence, Sequence[Finding]]]
    searched: int
    graphs: int
    unsolved: int
