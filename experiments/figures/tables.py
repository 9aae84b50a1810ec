"""Our means beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from experiments.figures.experiment import ClaimFinding
from experiments.figures.learning import choose_by_truth
from experiments.figures.statistics import Mean, mean, outcome
from experiments.measuring.text import markdown_table

#: By number of samples and model.
Scores = Mapping[tuple[int, str], Mean]
Printed = Mapping[tuple[int, str], float]

#: A table counts as reproduced if no cell is further off than this.
_CLOSE = 0.05


def printed(sizes: Sequence[int], rows: Mapping[str, Sequence[float]]) -> Printed:
    """Return a table of the paper, a row of scores by sample size for each model."""
    return {
        (n, model): score
        for model, scores in rows.items()
        for n, score in zip(sizes, scores, strict=True)
    }


def chosen_scores(table: pd.DataFrame, score: str) -> Scores:
    """Return the mean score of every model at every sample size, its candidate by that score."""
    chosen = choose_by_truth(table, ["n"], score)
    models, sizes = list(dict.fromkeys(chosen["model"])), list(dict.fromkeys(chosen["n"]))
    by_model = {model: chosen[chosen["model"] == model] for model in models}
    return {
        (n, model): mean(rows[rows["n"] == n][score])
        for model, rows in by_model.items()
        for n in sizes
    }


def beside(scores: Scores, paper: Printed) -> str:
    """Return paper, ours and difference, three lines for each model; ours alone if not printed."""
    sizes = list(dict.fromkeys(n for n, _ in scores))
    rows: list[list[object]] = []
    for model in dict.fromkeys(model for _, model in scores):
        ours = [scores[n, model] for n in sizes]
        known = [paper.get((n, model)) for n in sizes]
        pairs = [(our, p) for our, p in zip(ours, known, strict=True) if p is not None]
        if pairs:
            rows.append([model, "paper", *(f"{p:.3f}" for _, p in pairs)])
        rows.append([model, "ours", *ours])
        if pairs:
            rows.append([model, "difference", *(f"{our.value - p:+.3f}" for our, p in pairs)])
    return markdown_table(["model", "", *(f"N = {n}" for n in sizes)], rows)


def closeness(scores: Scores, paper: Printed, name: str) -> ClaimFinding:
    """Return whether the numbers of a printed table come out."""
    largest = max(abs(scores[key].value - value) for key, value in paper.items())
    return ClaimFinding(
        f"The values of {name}.",
        outcome(largest <= _CLOSE),
        f"the largest difference is {largest:.3f}; {_CLOSE:g} is allowed",
    )
