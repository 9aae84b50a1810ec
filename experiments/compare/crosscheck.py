"""Do the methods that claim the same problem agree? In value, in Laplacian, before the judge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiments.measuring.campaign import Planned
from experiments.measuring.measurement import VALUE_SLACK
from experiments.measuring.outcome import Outcome
from experiments.measuring.store import Store, key_of
from wdro_cvx.judge import ORACLE_TOLERANCE
from wdro_cvx.solution import relative_gap
from wdro_cvx.validation import Array

_INSTANCE = ["model", "d", "n", "radius", "eta", "seed", "p", "trace_penalty"]


def cross_check(rows: pd.DataFrame, planned: Sequence[Planned], store: Store) -> pd.DataFrame:
    """Return the rows with what separates each from the best answer to the same problem.

    Every answer is judged with the best bound that any method's certificate proved, so
    ``is_solved`` and ``gap`` do not depend on who had a certificate. Adds ``excess``, that gap;
    ``misstated``, the relative distance of the claimed value to the judged one; ``distance``, that
    of the Laplacian to the best one, and ``allowed``, the distance that the gap permits: the
    objective is strongly convex, so ``η‖ΔL‖² ≤ 2·target·value``.
    """
    laplacians = {key_of(item.cell): store.array(item.cell) for item in planned}
    parts = [_check(group, laplacians) for _, group in rows.groupby(_INSTANCE, dropna=False)]
    return pd.concat(parts).sort_index()


def _check(group: pd.DataFrame, laplacians: dict[str, Array | None]) -> pd.DataFrame:
    """Judge the answers to one problem against each other."""
    group = group.assign(excess=np.nan, misstated=np.nan, distance=np.nan, allowed=np.nan)
    answered = group["outcome"] == Outcome.OK
    done = group[answered]
    if done.empty:
        return group
    values, target = done["judged_value"], done["target"]
    bound = float(done["bound"].max())
    gaps = pd.Series(
        [relative_gap(v, bound, c) for v, c in zip(values, done["constant"], strict=True)],
        done.index,
    )
    confirmed = (
        gaps.between(0.0, target)
        & (done["residual"] <= target)
        & (done["oracle_error"] <= ORACLE_TOLERANCE)
    )
    reference = laplacians[str(done["key"].iloc[int(values.argmin())])]
    assert reference is not None  # a row without one is not reused
    size = float(np.linalg.norm(reference))
    found = [laplacians[str(key)] for key in done["key"]]
    group.loc[answered, "excess"] = gaps
    group.loc[answered, "gap"] = gaps
    group.loc[answered, "is_solved"] = done["is_solved"].astype(bool) | confirmed
    group.loc[answered, "misstated"] = (done["value"] - values).abs() / values.abs()
    group.loc[answered, "distance"] = [
        np.nan if one is None else float(np.linalg.norm(one - reference)) / size for one in found
    ]
    group.loc[answered, "allowed"] = np.sqrt(2 * target * values.abs() / done["eta"]) / size
    return group


def outliers(rows: pd.DataFrame, target: float) -> pd.DataFrame:
    """Return the rows that claim to be solved and are not, or that disagree with the others."""
    done = rows[rows["outcome"] == Outcome.OK]
    # Written so that a value that is no number is an outlier too.
    right = (
        done["is_solved"]
        & (done["excess"] <= 2 * target)
        & (done["misstated"] <= VALUE_SLACK * target)
        & ~(done["distance"] > 2 * done["allowed"])
    )
    return done[done["said_solved"].astype(bool) & ~right.astype(bool)]
