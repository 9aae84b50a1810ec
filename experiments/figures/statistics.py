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
    """Return the mean difference of two models, paired by trial (and by setting if several)."""
    keys = [name for name in ("n", "noise", "p", "trial") if name in table]
    wide = table.pivot_table(index=keys, columns="model", values=score)
    return mean(wide[model] - wide[other])


def against_baselines(untuned: Mean, tuned: Mean) -> str:
    """Return the outcome of a claim that a model beats the sample average."""
    if not untuned.positive:
        return NOT_REPRODUCED
    return REPRODUCED if tuned.positive else ONLY_UNTUNED


def outcome(holds: bool) -> str:
    """Return the word for a claim that holds or does not."""
    return REPRODUCED if holds else NOT_REPRODUCED
