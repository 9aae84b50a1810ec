"""Compare the answers of all methods to the same problem: values, Laplacians and verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiments.measuring.campaign import Planned
from experiments.measuring.measurement import VALUE_SLACK
from experiments.measuring.outcome import Outcome
from experiments.measuring.store import Store, key_of
from wdro_cvx.judge import is_solved
from wdro_cvx.solution import relative_gap
from wdro_cvx.validation import Array

_INSTANCE = ["model", "d", "n", "radius", "eta", "seed", "p", "trace_penalty", "term"]


def cross_check(rows: pd.DataFrame, planned: Sequence[Planned], store: Store) -> pd.DataFrame:
    """Return the rows with columns that compare each answer with the best one to its problem.

    Every answer is judged with the best bound from any method's certificate, so ``gap`` and
    ``is_solved`` do not depend on which method had a certificate. The new columns are ``excess``
    (that gap), ``misstated`` (the relative difference between the method's own value and the judged
    one), ``distance`` (of the Laplacian from the best one) and ``allowed``. ``allowed`` is √2 times
    the largest distance from the optimum at which an answer can have the target gap. Strong
    convexity implies ``η‖L - L*‖² ≤ target·value``.
    """
    laplacians = {key_of(item.cell): store.array(item.cell) for item in planned}
    parts = [_check(group, laplacians) for _, group in rows.groupby(_INSTANCE, dropna=False)]
    return pd.concat(parts).sort_index()


def _check(group: pd.DataFrame, laplacians: dict[str, Array | None]) -> pd.DataFrame:
    """Judge the answers to one problem with the best bound among them."""
    group = group.assign(excess=np.nan, misstated=np.nan, distance=np.nan, allowed=np.nan)
    answered = group["outcome"] == Outcome.OK
    done = group[answered]
    if done.empty:
        return group
    values, bound = done["judged_value"], float(done["bound"].max())
    gaps = [
        relative_gap(value, bound, constant, floor)
        for value, constant, floor in zip(values, done["constant"], done["floor"], strict=True)
    ]
    figures = zip(gaps, done["residual"], done["oracle_error"], done["target"], strict=True)
    reference = laplacians[str(done["key"].iloc[int(values.argmin())])]
    assert reference is not None  # the campaign does not reuse a row without its Laplacian
    size = float(np.linalg.norm(reference))
    found = [laplacians[str(key)] for key in done["key"]]
    group.loc[answered, "excess"] = gaps
    group.loc[answered, "gap"] = gaps
    group.loc[answered, "is_solved"] = [is_solved(*row) for row in figures]
    sizes = np.maximum(values.abs(), done["floor"])
    group.loc[answered, "misstated"] = (done["value"] - values).abs() / sizes
    group.loc[answered, "distance"] = [
        np.nan if one is None else float(np.linalg.norm(one - reference)) / size for one in found
    ]
    group.loc[answered, "allowed"] = np.sqrt(2 * done["target"] * sizes / done["eta"]) / size
    return group


def outliers(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows that are called solved but are not, or that disagree with the other methods."""
    done = rows[rows["outcome"] == Outcome.OK]
    target = done["target"]
    # Comparisons with NaN are false, so a row with a NaN gap or value is an outlier.
    right = (
        done["is_solved"]
        & (done["excess"] <= 2 * target)
        & (done["misstated"] <= VALUE_SLACK * target)
        & ~(done["distance"] > 2 * done["allowed"])
    )
    return done[done["said_solved"].astype(bool) & ~right.astype(bool)]
