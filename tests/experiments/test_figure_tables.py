"""The tables of the report on the paper's figures, from numbers that are easy to follow."""

import itertools

import numpy as np
import pandas as pd

from experiments.figures.tables import best_radii, compared_models, reliabilities


def records(**columns):
    """Return two trials of two sizes, one model and three radii; MCC is best at the second."""
    rows = []
    for trial, n, radius in itertools.product((0, 1), (10, 20), (0.1, 1.0, 10.0)):
        far = abs(np.log10(radius))
        rows.append({
            "trial": trial, "n": n, "model": "ball", "eta": 0.3, "radius": radius,
            "mcc": n / 100 + 0.1 * trial - 0.1 * far, "dog": 0.5 - 0.1 * np.log10(radius),
            "held_out_risk": -radius, "reliability": radius / 20, **columns,
        })  # fmt: skip
    return pd.DataFrame(rows)


def cells(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def test_models_are_compared_by_both_choices():
    found = cells(compared_models(records(), "n", "N", ["ball", "absent"], (20, 99)))
    # By the truth the radius is 1, by the held-out risk 10.
    assert found == [
        ["20", "ball", "0.250 ± 0.050", "0.500 ± 0.000", "0.150 ± 0.050", "0.400 ± 0.000"]
    ]


def test_the_best_radius_has_the_largest_mcc_and_the_smallest_dog():
    found = cells(best_radii(records(), ["ball"]))
    assert found[0] == ["ball", "10", "1", "0.150 ± 0.050", "10", "0.400 ± 0.000"]
    assert [row[1] for row in found] == ["10", "20"]


def test_reliability_is_told_at_every_third_radius():
    assert cells(reliabilities(records(), ["ball"])) == [["ball", "0.1", "0.005 ± 0.000"]]
