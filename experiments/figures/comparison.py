"""What all experiments share: choice of candidates, statistics, statements and plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.style import COLOURS, COLUMN, MARKERS, PAGE, plain_ticks
from experiments.figures.learning import GAUSSIAN, GENERAL, SAA, TUNED, Printed
from experiments.measuring.text import markdown_table
from experiments.study import Statement

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
ONLY_UNTUNED = "reproduced only against untuned SAA"
#: A difference counts if it is this many standard errors from zero.
SIGNIFICANT = 2.0
#: A table counts as reproduced if no cell is further off than this.
_CLOSE = 0.05
STYLES = {SAA: 7, TUNED: 6, GAUSSIAN: 0, GENERAL: 1}


def choose_by_truth(
    table: pd.DataFrame, settings: Sequence[str], metric: str = "mcc"
) -> pd.DataFrame:
    """Keep, for every setting and model, the candidate with the largest mean of a metric."""
    keys = [*settings, "model"]
    means = table.groupby([*keys, "parameter"], sort=False)[metric].mean().reset_index()
    best = means.loc[means.groupby(keys, sort=False)[metric].idxmax(), [*keys, "parameter"]]
    return table.merge(best, on=[*keys, "parameter"])


def choose_fairly(table: pd.DataFrame, settings: Sequence[str]) -> pd.DataFrame:
    """Keep, for every setting, model and trial, the candidate with the smallest held-out risk."""
    keys = [*settings, "model", "trial"]
    return table.loc[table.groupby(keys, sort=False)["held_out_risk"].idxmin()]


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
        """Whether it exceeds zero by more than chance."""
        return self.value > SIGNIFICANT * self.error and self.value > 0


def mean(values: pd.Series) -> Mean:
    """Return mean and standard error."""
    numbers = values.to_numpy(float)
    error = float(numbers.std(ddof=1) / np.sqrt(numbers.size)) if numbers.size > 1 else 0.0
    return Mean(float(numbers.mean()), error)


def advantage(table: pd.DataFrame, model: str, other: str, score: str) -> Mean:
    """Return by how much a model is better than another, paired by graph; a small DOG is good.

    All settings of a trial share its graph, so they are averaged first and count as one.
    """
    wide = table.pivot_table(index="trial", columns="model", values=score)
    difference = wide[model] - wide[other]
    return mean(-difference if score == "dog" else difference)


def outcome(holds: bool) -> str:
    """Return the word for a statement that holds or does not."""
    return REPRODUCED if holds else NOT_REPRODUCED


def against_baselines(model: str, untuned: Mean, tuned: Mean) -> str:
    """Return the word for a statement that a model beats the sample average.

    The general scenario with p = 2 *is* SAA with a larger eta. What it gains on SAA with a tuned
    eta depends only on the two lists of candidates, and does not count.
    """
    if not untuned.positive:
        return NOT_REPRODUCED
    return REPRODUCED if tuned.positive and model != GENERAL else ONLY_UNTUNED


def gains(table: pd.DataFrame, model: str, score: str) -> tuple[Mean, Mean]:
    """Return the advantage of a model over SAA, untuned and tuned."""
    return advantage(table, model, SAA, score), advantage(table, model, TUNED, score)


def small_and_large(
    source: str, chosen: pd.DataFrame, small: int, large: int, scores: Sequence[str]
) -> list[Statement]:
    """Check that the robust models beat SAA for small N, and by less for large N."""
    few, many = chosen[chosen["n"] <= small], chosen[chosen["n"] >= large]
    found = []
    for model in (GAUSSIAN, GENERAL):
        for score in scores:
            untuned, tuned = gains(few, model, score)
            found.append(Statement(
                source,
                f"For small N (≤ {small}) {model} is better than SAA in {score.upper()}.",
                against_baselines(model, untuned, tuned),
                f"{score.upper()} better by {untuned} than SAA, by {tuned} than SAA with tuned η",
            ))  # fmt: skip
        first, later = (advantage(part, model, SAA, scores[0]) for part in (few, many))
        found.append(Statement(
            source,
            f"The advantage of {model} over SAA is smaller for large N.",
            outcome(later.value < first.value),
            f"{scores[0].upper()} better by {first} for N ≤ {small}, by {later} for N ≥ {large}",
        ))  # fmt: skip
    return found


def chosen_scores(table: pd.DataFrame, score: str) -> dict[tuple[int, str], Mean]:
    """Return the mean score of every model at every sample size, its candidate by that score."""
    chosen = choose_by_truth(table, ["n"], score)
    models, sizes = dict.fromkeys(chosen["model"]), dict.fromkeys(chosen["n"])
    return {
        (n, model): mean(chosen[(chosen["model"] == model) & (chosen["n"] == n)][score])
        for model in models
        for n in sizes
    }


def beside(scores: Mapping[tuple[int, str], Mean], paper: Printed) -> str:
    """Return paper, ours and difference, three lines for each model; ours alone if not printed."""
    sizes = list(dict.fromkeys(n for n, _ in scores))
    rows: list[list[object]] = []
    for model in dict.fromkeys(model for _, model in scores):
        ours = [scores[n, model] for n in sizes]
        pairs = [(scores[n, model], paper[n, model]) for n in sizes if (n, model) in paper]
        if pairs:
            rows.append([model, "paper", *(f"{p:.3f}" for _, p in pairs)])
        rows.append([model, "ours", *ours])
        if pairs:
            rows.append([model, "difference", *(f"{our.value - p:+.3f}" for our, p in pairs)])
    return markdown_table(["model", "", *(f"N = {n}" for n in sizes)], rows)


def closeness(scores: Mapping[tuple[int, str], Mean], paper: Printed, name: str) -> Statement:
    """Return whether we reproduce the numbers of a printed table."""
    largest = max(abs(scores[key].value - value) for key, value in paper.items())
    return Statement(
        name,
        f"The values of {name}.",
        outcome(largest <= _CLOSE),
        f"the largest difference is {largest:.3f}; {_CLOSE:g} is allowed",
    )


@dataclass(frozen=True)
class Experiment:
    """How an experiment's table is drawn, checked against the paper, captioned and printed.

    ``{trials}`` in the caption stands for their number. ``tables`` returns Markdown.
    """

    title: str
    figure: Callable[[pd.DataFrame], Figure]
    statements: Callable[[pd.DataFrame], list[Statement]]
    caption: str
    tables: Callable[[pd.DataFrame], str] | None = None


def panels(columns: int, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels in rows; one panel is as wide as a column of a page."""
    size = (COLUMN if columns == 1 else PAGE, 2.4 * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained")
    return figure, list(np.atleast_1d(axes).ravel())


def band(axes: Axes, table: pd.DataFrame, by: str, score: str, label: str, style: int) -> None:
    """Draw the mean of a score over trials, with a band of one standard error."""
    groups = table.groupby(by)[score]
    place, middle = groups.mean().index.to_numpy(float), groups.mean().to_numpy()
    error = groups.sem().fillna(0.0).to_numpy()
    colour = COLOURS[style]
    axes.plot(place, middle, color=colour, marker=MARKERS[style], label=label)
    low, high = middle - error, middle + error
    axes.fill_between(place, low, high, color=colour, alpha=0.15, linewidth=0)


def bands(
    axes: Axes, table: pd.DataFrame, by: str, score: str, styles: Mapping[str, int] = STYLES
) -> None:
    """Draw a band for every model."""
    for model, style in styles.items():
        band(axes, table[table["model"] == model], by, score, model, style)


def compare_models(table: pd.DataFrame, by: str, xlabel: str, log: bool) -> Figure:
    """Draw MCC and DOG of every model against a setting, for both choices of the radius."""
    figure, axes = panels(2, rows=2)
    choices = ((choose_by_truth, "by the truth, for MCC"), (choose_fairly, "by held-out risk"))
    for row, (choice, note) in enumerate(choices):
        chosen = choice(table, [by])
        for panel, score in zip(axes[2 * row : 2 * row + 2], ("mcc", "dog"), strict=True):
            bands(panel, chosen, by, score)
            panel.set(ylabel=score.upper(), title=f"chosen {note}", xlabel=xlabel if row else "")
            if log:
                panel.set_xscale("log")
                plain_ticks(panel, (10, 100, 1000))
    axes[0].legend()
    return figure
