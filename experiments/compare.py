"""``wdro compare``: every formulation and solver, cross-checked and timed against d.

It reproduces the paper's runtime figure (interior point against projected gradient, Gaussian and
general scenario) and puts the strong opponents beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pandas as pd

from experiments.campaign import run_campaign
from experiments.cell import Cell
from experiments.compare_report import write_report
from experiments.crosscheck import cross_check
from experiments.growth import draw_panels
from experiments.instances import Instance
from experiments.isolate import Limits
from experiments.methods import find_method
from experiments.provenance import write_provenance
from experiments.store import Store, write_table
from formulations import registered
from wdro_cvx import ProblemError, registered_ambiguities


@dataclass(frozen=True)
class Preset:
    """A grid of dimensions with the limits of each run."""

    dimensions: tuple[int, ...]
    limits: Limits


PRESETS = {
    "quick": Preset((10, 15, 20, 25, 30), Limits(60.0, 4096.0)),
    "paper": Preset((20, 40, 60, 80, 100, 120), Limits(60.0, 16384.0)),
}

#: Panel title → instance. The paper's own problem is the penalised one; ours has the exact trace.
PANELS = {
    "Gaussian scenario": Instance("gaussian", 0, 0, 0.5, 0.3, 0),
    "Gaussian, trace penalised": Instance("gaussian", 0, 0, 0.5, 0.3, 0, trace_penalty=10.0),
    "general scenario, p = 2": Instance("moment", 0, 0, 0.5, 0.3, 0),
    "general, trace penalised": Instance("moment", 0, 0, 0.5, 0.3, 0, trace_penalty=10.0),
    "signal space, N = 10": Instance("wasserstein", 0, 10, 0.5, 0.3, 0),
    "sample average": Instance("average", 0, 0, 0.0, 0.3, 0),
}

METHODS = (
    "GaussianSDP:CLARABEL",
    "GaussianClosedForm:CLARABEL",
    "RobustPremium:CLARABEL",
    "GeneralSDP:CLARABEL",
    "GeneralRegularized:CLARABEL",
    "SampleAverage:CLARABEL",
    "GaussianSDP:SCS",
    "RobustPremium:SCS",
    "GeneralRegularized:SCS",
    "PIQP",
    "BlockDescent",
    "ProjectedGradient",
    "MomentNewton",
    "CertifiedSolver",
)


def methods_for(sets: Sequence[str]) -> tuple[str, ...]:
    """Return the methods to compare on named sets: all formulations that claim one, and ours."""
    known = registered_ambiguities()
    unknown = [name for name in sets if name not in known]
    if unknown:
        raise ProblemError(
            f"there is no ambiguity set {unknown[0]!r}. Registered: {', '.join(sorted(known))}."
        )
    claiming = [
        f"{name}:CLARABEL"
        for name, formulation in registered().items()
        if any(issubclass(known[item], formulation.claims) for item in sets)
    ]
    return (*claiming, "ProjectedGradient", "CertifiedSolver")


@dataclass(frozen=True)
class Grid:
    """What to compare."""

    dimensions: tuple[int, ...]
    methods: tuple[str, ...] = METHODS
    samples_per_vertex: int = 2
    seeds: tuple[int, ...] = (0,)
    target: float = 1e-6
    repeats: int = 3
    sets: tuple[str, ...] = ()

    @property
    def panels(self) -> dict[str, Instance]:
        """The paper's panels, or one for every ambiguity set that was named."""
        if not self.sets:
            return PANELS
        return {name: Instance(name, 0, 0, 0.5, 0.3, 0) for name in self.sets}

    def cells(self) -> list[Cell]:
        """Return a cell for every panel, size, seed and method that claims the problem."""
        methods = [find_method(name) for name in self.methods]
        cells = []
        for base in self.panels.values():
            claiming = [m for m in methods if m.claims(replace(base, d=4, n=4).problem())]
            for d in self.dimensions:
                n = base.n or self.samples_per_vertex * d
                for seed in self.seeds:
                    instance = replace(base, d=d, n=n, seed=seed)
                    cells += [Cell(instance, m.name, self.target, self.repeats) for m in claiming]
        if not cells:
            raise ProblemError("none of the methods named claims any of the problems compared.")
        return cells


def run_compare(
    output: Path, grid: Grid, limits: Limits, fresh: bool, extensions: Sequence[str] = ()
) -> bool:
    """Run the grid, write runs, figure and report below ``output``; say whether all agreed."""
    store = Store(output)
    if fresh:
        store.clear()
    cells = grid.cells()
    rows = run_campaign(cells, store, limits, "compare", tuple(extensions))
    rows = cross_check(rows, cells, store)
    write_table(output / "runs.csv", rows)
    write_provenance(output, asdict(grid) | asdict(limits))
    panels = {title: panel_rows(rows, base) for title, base in grid.panels.items()}
    panels = {title: found for title, found in panels.items() if not found.empty}
    draw_panels(panels, output / "runtime")
    return write_report(output, rows, panels, grid.target)


def panel_rows(rows: pd.DataFrame, base: Instance) -> pd.DataFrame:
    """Return the rows that belong to a panel."""
    if base.trace_penalty is None:
        penalised = rows["trace_penalty"].isna()
    else:
        penalised = rows["trace_penalty"] == base.trace_penalty
    return rows[(rows["model"] == base.model) & penalised]
