"""Do the methods that claim the same problem agree? In value, in Laplacian, before the judge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiments.cell import VALUE_SLACK, Cell
from experiments.store import Store

_INSTANCE = ["model", "d", "n", "radius", "eta", "seed", "p", "trace_penalty"]


def cross_check(rows: pd.DataFrame, cells: Sequence[Cell], store: Store) -> pd.DataFrame:
    """Return the rows with what separates each from the best answer to the same problem.

    Adds ``excess``, the relative distance of the judged value to the best bound that any method
    proved; ``misstated``, that of the claimed value to the judged one; ``distance``, that of the
    Laplacian to the best one, and ``allowed``, the distance that the gap permits: the objective is
    strongly convex, so ``η‖ΔL‖² ≤ 2·target·value``.
    """
    ordered = sorted(cells, key=lambda cell: cell.instance.d)
    laplacians: dict[object, np.ndarray | None] = {
        index: store.laplacian(cell) for index, cell in enumerate(ordered)
    }
    extra = pd.DataFrame(
        np.nan, index=rows.index, columns=["excess", "misstated", "distance", "allowed"]
    )
    for _, group in rows.groupby(_INSTANCE, dropna=False):
        done = group[group["outcome"] == "ok"]
        if done.empty:
            continue
        bound = done["bound"].max()
        best = done["judged_value"].idxmin()
        reference = laplacians[best]
        for index, row in done.iterrows():
            value = row["judged_value"]
            extra.loc[index, "excess"] = (value - bound) / abs(value)
            extra.loc[index, "misstated"] = abs(row["value"] - value) / abs(value)
            found = laplacians[index]
            if found is not None and reference is not None:
                size = float(np.linalg.norm(reference))
                extra.loc[index, "distance"] = float(np.linalg.norm(found - reference)) / size
                allowed = np.sqrt(2 * row["target"] * value / row["eta"])
                extra.loc[index, "allowed"] = allowed / size
    return pd.concat([rows, extra], axis=1)


def outliers(rows: pd.DataFrame, target: float) -> pd.DataFrame:
    """Return the rows that claim to be solved and are not, or that disagree with the others."""
    done = rows[rows["outcome"] == "ok"]
    wrong = (
        ~done["is_solved"]
        | (done["excess"] > 2 * target)
        | (done["misstated"] > VALUE_SLACK * target)
        | (done["distance"] > 2 * done["allowed"])
    )
    return done[done["said_solved"] & wrong]
