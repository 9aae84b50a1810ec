"""Means with standard errors, paired comparisons, and the words for what they show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
ONLY_UNTUNED = "reproduced only against untuned SAA"
#: A difference counts when it is this many standard errors from zero.
SIGNIFICANT = 2.0


@dataclass(frozen=True)
class Mean:
    """A mean over trials and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        """Return ``value ± error``."""
        return f"{self.value:.3f} ± {self.error:.3f}"

    @property
    def positive(self) -> bool:
        """Whether it is larger than zero by more than chance."""
        return self.value > SIGNIFICANT * self.error and self.value > 0


def mean(values: pd.Series) -> Mean:
    """Return mean and standard error."""
    numbers = values.to_numpy(float)
    error = float(numbers.std(ddof=1) / np.sqrt(numbers.size)) if numbers.size > 1 else 0.0
    return Mean(float(numbers.mean()), error)


def advantage(table: pd.DataFrame, model: str, other: str, score: str) -> Mean:
    """Return the mean difference of two models, paired by graph.

    All settings of a trial share its graph, so they are averaged first and count as one.
    """
    wide = table.pivot_table(index="trial", columns="model", values=score)
    return mean(wide[model] - wide[other])


def against_baselines(untuned: Mean, tuned: Mean) -> str:
    """Return the outcome of a claim that a model beats the sample average."""
    if not untuned.positive:
        return NOT_REPRODUCED
    return REPRODUCED if tuned.positive else ONLY_UNTUNED


def against_itself(untuned: Mean) -> str:
    """Return the outcome for the general scenario with p = 2, which *is* SAA with a larger eta.

    What it gains on SAA with a tuned eta is a matter of the two lists of candidates.
    """
    return ONLY_UNTUNED if untuned.positive else NOT_REPRODUCED


def outcome(holds: bool) -> str:
    """Return the word for a claim that holds or does not."""
    return REPRODUCED if holds else NOT_REPRODUCED
