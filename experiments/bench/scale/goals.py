"""What the sparse path has to reach, and whether a run shows it.

Ratios are of CPU times of one run of the command; the unit is one dense eigendecomposition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.bench.scale.grid import (
    AT,
    DENSE,
    EIGEN,
    LOG_SPARSE,
    NEIGHBOURS,
    PLANE,
    SPARSE,
    N,
)
from experiments.bench.scale.measure import TOLERANCE
from experiments.measuring.outcome import Outcome

_GIB = 1024.0
_FASTER = 15.0
_UNITS = {10_000: 60.0, 100_000: 250.0}
_MEMORY = {10_000: 1.0, 100_000: 2.0}  # GiB beyond the data
_FROM, _TO, _EXPONENT = 5000, 50_000, 2.0
MET, MISSED, UNKNOWN = "yes", "no", "not measured"


@dataclass(frozen=True)
class Goal:
    """One line: the work, what is asked for, what was measured, and whether that is enough."""

    work: str
    asked: str
    measured: str
    met: str


def goals(table: pd.DataFrame) -> list[Goal]:
    """Compare a run with all goals."""
    found = [_faster(table), *(_large(table, d) for d in _UNITS)]
    found += [_memory(table, d) for d in _MEMORY]
    return [*found, _growth(table), _agreement(table), *_near_pairs(table)]


def _row(table: pd.DataFrame, path: str, d: int) -> pd.Series | None:
    chosen = table[
        (table["path"] == path) & (table["d"] == d) & (table["n"] == N)
        & (table["dimensions"] == PLANE) & (table["outcome"] == Outcome.OK)
    ]  # fmt: skip
    return None if chosen.empty else chosen.iloc[0]


def _goal(
    work: str, asked: str, rows: list[pd.Series | None], tell: Callable[..., tuple[str, bool]]
) -> Goal:
    """Return a line, met only if all rows that it rests on were solved."""
    if any(row is None for row in rows):
        return Goal(work, asked, "–", UNKNOWN)
    measured, enough = tell(*rows)
    solved = all(bool(row["is_solved"]) for row in rows if row is not None)
    return Goal(work, asked, measured, MET if enough and solved else MISSED)


def _faster(table: pd.DataFrame) -> Goal:
    def tell(dense: pd.Series, sparse: pd.Series) -> tuple[str, bool]:
        ratio = dense["total_s"] / sparse["total_s"]
        return f"{ratio:.1f}×", bool(ratio >= _FASTER)

    rows = [_row(table, DENSE, AT), _row(table, SPARSE, AT)]
    return _goal(f"d = {AT}, against the dense path", f"≥ {_FASTER:g}×", rows, tell)


def _large(table: pd.DataFrame, d: int) -> Goal:
    def tell(unit: pd.Series, sparse: pd.Series) -> tuple[str, bool]:
        ratio = sparse["total_s"] / unit["total_s"]
        return f"{ratio:.1f}, gap {sparse['gap']:.0e}", bool(ratio <= _UNITS[d])

    asked = f"≤ {_UNITS[d]:g} eigendecompositions of size {AT}, gap ≤ {TOLERANCE:g}"
    return _goal(f"d = {d:,}", asked, [_row(table, EIGEN, AT), _row(table, SPARSE, d)], tell)


def _memory(table: pd.DataFrame, d: int) -> Goal:
    def tell(sparse: pd.Series) -> tuple[str, bool]:
        size = sparse["beyond_mb"] / _GIB
        return f"{size:.2f} GiB", bool(size < _MEMORY[d])

    asked = f"< {_MEMORY[d]:g} GiB beyond the data"
    return _goal(f"d = {d:,}, memory", asked, [_row(table, SPARSE, d)], tell)


def _growth(table: pd.DataFrame) -> Goal:
    def tell(first: pd.Series, last: pd.Series) -> tuple[str, bool]:
        exponent = np.log(last["total_s"] / first["total_s"]) / np.log(_TO / _FROM)
        return f"d^{exponent:.2f}", bool(exponent <= _EXPONENT)

    rows = [_row(table, SPARSE, d) for d in (_FROM, _TO)]
    return _goal(f"growth, d = {_FROM:,} to {_TO:,}", f"≤ d^{_EXPONENT:g}", rows, tell)


def _agreement(table: pd.DataFrame) -> Goal:
    """Compare the values of both paths wherever both were solved."""
    done = table[table["is_solved"].astype(bool)]
    keys = ["d", "n", "dimensions"]
    values = (done[done["path"] == path].set_index(keys)["value"] for path in (DENSE, SPARSE))
    both = pd.concat(list(values), axis=1, join="inner").to_numpy(float)
    work, asked = f"values, d ≤ {AT}", f"the dense path's to {TOLERANCE:g}"
    if not len(both):
        return Goal(work, asked, "–", UNKNOWN)
    worst = float(np.max(np.abs(both[:, 0] - both[:, 1]) / np.abs(both).max(axis=1)))
    measured = f"{worst:.0e} at the most, of {len(both)} pairs"
    return Goal(work, asked, measured, MET if worst <= TOLERANCE else MISSED)


def _near_pairs(table: pd.DataFrame) -> list[Goal]:
    """Say what near pairs only are worth: a comparison, and no goal."""
    found = []
    for d in sorted(set(table["d"])):
        near, ours = _row(table, NEIGHBOURS, d), _row(table, LOG_SPARSE, d)
        if near is None or ours is None:
            continue
        ratio = ours["total_s"] / near["total_s"]
        found.append(Goal(
            f"log-degree, d = {d:,}: near pairs only, as the field does it",
            "(a comparison)",
            f"gap {near['gap']:.0e}; ours takes {ratio:.1f} times as long, to {ours['gap']:.0e}",
            "",
        ))  # fmt: skip
    return found
