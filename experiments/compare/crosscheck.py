"""Compare the answers to the same problem: values, Laplacians, and what the judge says of both."""

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

_INSTANCE = ["model", "d", "n", "radius", "eta", "seed", "p", "trace_penalty"]


def cross_check(rows: pd.DataFrame, planned: Sequence[Planned], store: Store) -> pd.DataFrame:
    """Return the rows with the distance of each answer from the best one to the same problem.

    Every answer is judged with the best bound that any method's certificate proved, so ``gap`` and
    ``is_solved`` do not depend on which method had a certificate. Added columns: ``excess``, that
    gap; ``misstated``, the relative difference of the method's own value from the judged one;
    ``distance``, of the Laplacian from the best one; and ``allowed``, the distance that the gap
    permits, since strong convexity implies ``η‖ΔL‖² ≤ 2·target·value``.
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


def outliers(rows: pd.DataFrame, target: float) -> pd.DataFrame:
    """Return the rows that say solved and are not, or that disagree with the others."""
    done = rows[rows["outcome"] == Outcome.OK]
    # Comparisons with NaN are false, so that a row with NaN is an outlier.
    right = (
        done["is_solved"]
        & (done["excess"] <= 2 * target)
        & (done["misstated"] <= VALUE_SLACK * target)
        & ~(done["distance"] > 2 * done["allowed"])
    )
    return done[done["said_solved"].astype(bool) & ~right.astype(bool)]
