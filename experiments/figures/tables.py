"""The numbers behind Figures 3 to 6, as Markdown tables for the report."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from experiments.figures.chosen import Chosen, choose_by_truth, choose_fairly, told
from experiments.measuring.text import markdown_table

_SCORES = ("mcc", "dog")
_EVERY = 3  # radii of a curve that are told


def compared_models(
    table: pd.DataFrame, by: str, symbol: str, models: Collection[str], places: Sequence[float]
) -> str:
    """Return MCC and DOG of every model at some values of a setting, for both choices.

    Parameters
    ----------
    table : DataFrame
    by, symbol : str
        The column of the setting, and its symbol in the header.
    models : collection of str
    places : sequence of float
        The values of the setting; those that were not tried are left out.
    """
    chosen = [choose_by_truth(table, [by]), choose_fairly(table, [by])]
    rows = []
    for place in places:
        for model in models:
            found = [part[(part[by] == place) & (part["model"] == model)] for part in chosen]
            if len(found[0]):
                scores = [told(part[score].to_numpy(float)) for part in found for score in _SCORES]
                rows.append([f"{place:g}", model, *scores])
    header = [symbol, "model", "MCC, by the truth", "DOG, by the truth", "MCC, by held-out risk",
              "DOG, by held-out risk"]  # fmt: skip
    return markdown_table(header, rows)


def best_radii(table: pd.DataFrame, models: Collection[str]) -> str:
    """Return the best radius of each curve, for MCC and for DOG, with its score."""
    chosen, rows = Chosen(table), []
    for model in models:
        for n in chosen.sizes:
            row: list[object] = [model, n]
            for score, sign in zip(_SCORES, (1.0, -1.0), strict=True):
                radii, scores = chosen.curve(model, n, score)
                best = int(np.argmax(sign * scores.mean(axis=0)))
                row += [f"{radii[best]:.3g}", told(scores[:, best])]
            rows.append(row)
    return markdown_table(["model", "N", "best ε for MCC", "MCC", "best ε for DOG", "DOG"], rows)


def reliabilities(table: pd.DataFrame, models: Collection[str]) -> str:
    """Return the reliability of each model at every third radius."""
    rows = []
    for model in models:
        groups = list(table[table["model"] == model].groupby("radius")["reliability"])
        rows += [
            [model, f"{radius:.3g}", told(values.to_numpy(float))]
            for radius, values in groups[::_EVERY]
        ]
    return markdown_table(["model", "ε", "reliability"], rows)
