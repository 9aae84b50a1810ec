"""``wdro robustness``: whether ``solve`` keeps its word at the corners of its domain.

A grid over dimension, number of samples, radius, eta and unit of the data, for every ambiguity set;
each answer is judged. Measurements of accuracy, not of time, so they share the machine.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from tqdm import tqdm

from experiments.provenance import provenance_line
from experiments.report import markdown_table
from experiments.store import write_atomically, write_table
from solvers import solve
from wdro_cvx import AmbiguitySet, GaussianBall, GraphProblem, MomentBall, Nominal, Status, judge
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.laplacian import complete_graph

DIMENSIONS = (2, 3, 20, 100)
RADII = (1e-3, 0.1, 1.0, 20.0)
ETAS = (1e-3, 0.1, 10.0)
UNITS = (1e-3, 1.0, 1e3)
SETS = ("Gaussian", "p = 1", "p = 4/3", "p = 3/2", "p = 2", "p = 3", "p = 4", "p = ∞")
_P = dict(zip(SETS[1:], (1.0, 4 / 3, 1.5, 2.0, 3.0, 4.0, np.inf), strict=True))


def run_robustness(output: Path, fresh: bool, dimensions: tuple[int, ...] = DIMENSIONS) -> bool:
    """Run the grid, resume by set and dimension; say whether no claim was wrong."""
    output.mkdir(parents=True, exist_ok=True)
    tables = []
    for d, name in tqdm(list(itertools.product(dimensions, SETS)), desc="robustness", unit="part"):
        path = output / "cells" / f"{d}-{SETS.index(name)}.csv"
        path.parent.mkdir(exist_ok=True)
        if fresh or not path.exists():
            write_table(path, _part(d, name))
        tables.append(pd.read_csv(path))
    rows = pd.concat(tables, ignore_index=True)
    write_table(output / "runs.csv", rows)
    write_atomically(output / "report.md", _report(rows))
    return not bool(rows["wrong_claim"].any())


def _part(d: int, name: str) -> pd.DataFrame:
    cells = itertools.product(sorted({1, 10, 2 * d}), RADII, ETAS, UNITS)
    with joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=1):
        rows = joblib.Parallel()(joblib.delayed(_cell)(d, name, *cell) for cell in cells)
    return pd.DataFrame(rows)


def _cell(d: int, name: str, n: int, radius: float, eta: float, unit: float) -> dict[str, Any]:
    rng = np.random.default_rng([d, n])
    graph = rbf_graph(d, rng) if d > 3 else complete_graph(d, float(d))
    nominal = Nominal.from_samples(unit * smooth_signals(graph, n, rng, noise=0.1))
    problem = GraphProblem(nominal, _ambiguity(name, radius), eta)
    answer = solve(problem, tol=1e-6)
    verdict = judge(problem, answer.laplacian, answer.certificate)
    solved = verdict.solved(1e-6)
    return {
        "set": name, "d": d, "n": n, "radius": radius, "eta": eta, "unit": unit,
        "status": answer.status.value, "gap": verdict.gap, "iterations": answer.iterations,
        "seconds": answer.solve_s, "solved": solved,
        "wrong_claim": answer.status is Status.SOLVED and not solved,
    }  # fmt: skip


def _ambiguity(name: str, radius: float) -> AmbiguitySet:
    return GaussianBall(radius) if name == "Gaussian" else MomentBall(radius, p=_P[name])


def _report(rows: pd.DataFrame) -> str:
    lines = []
    for name, group in rows.groupby("set", sort=False):
        within = [f"{(group['gap'] <= limit).mean():.2%}" for limit in (1e-6, 1e-4)]
        worst = f"{group['gap'].max():.0e}"
        lines.append([name, len(group), *within, worst, int(group["wrong_claim"].sum())])
    header = ["set", "cells", "gap ≤ 1e-6", "gap ≤ 1e-4", "worst gap", "wrong claims"]
    missed = rows[rows["gap"] > 1e-6]
    names = ["set", "d", "n", "radius", "eta", "unit", "status", "gap", "iterations"]
    misses = [[row[name] for name in names] for _, row in missed.iterrows()]
    parts = [
        "# Robustness",
        "Made by `wdro robustness`: `solve(problem, tol=1e-6)` on every combination of "
        f"d in {sorted(int(d) for d in rows['d'].unique())}, N in 1, 10 and 2d, radius in "
        f"{list(RADII)}, eta in {list(ETAS)} and data in units of {list(UNITS)}; gaps are the "
        "judge's. The Wasserstein ball has the Gaussian ball's worst case, and so its row.",
        markdown_table(header, lines),
        f"All cells together: {(rows['gap'] <= 1e-6).mean():.2%} within 1e-6, worst gap "
        f"{rows['gap'].max():.0e}, {int(rows['wrong_claim'].sum())} wrong claims.",
    ]
    if misses:
        parts += ["Cells that miss 1e-6:", markdown_table(names, misses)]
    return "\n\n".join([*parts, f"Made with {provenance_line()}."]) + "\n"
