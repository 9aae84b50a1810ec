"""``wdro bench``: our solver against the strongest opponents, at equal judged accuracy."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pandas as pd

from experiments.campaign import run_campaign
from experiments.cell import Cell
from experiments.growth import draw_panels, fit_exponent
from experiments.instances import Instance
from experiments.isolate import Limits
from experiments.provenance import provenance_line, write_provenance
from experiments.report import markdown_table, seconds
from experiments.store import Store, write_atomically, write_table

_RADIUS, _ETA = 0.5, 0.3


@dataclass(frozen=True)
class Contest:
    """One kind of work: who does it, at which sizes, to which judged gap, and who is to win."""

    title: str
    instance: Instance
    ours: str
    target: float
    sizes: dict[str, tuple[int, ...]]

    def cells(self) -> list[Cell]:
        """Return the measurements."""
        return [
            Cell(replace(self.instance, d=d, n=2 * d), method, self.target)
            for method, sizes in self.sizes.items()
            for d in sizes
        ]


_AVERAGE = Instance("average", 0, 0, 0.0, _ETA, seed=0)
_GAUSSIAN = Instance("gaussian", 0, 0, _RADIUS, _ETA, seed=0)
_MOMENT = Instance("moment", 0, 0, _RADIUS, _ETA, seed=0)

CONTESTS = (
    Contest(
        "sample average, gap ≤ 1e-9",
        _AVERAGE,
        "CertifiedSolver",
        1e-9,
        {
            "CertifiedSolver": (20, 50, 100, 200, 500, 1000, 2000),
            "PIQP": (20, 50, 100, 200, 500, 1000),
            "ProjectedGradient": (20, 50, 100, 200, 500),
            "SampleAverage:CLARABEL": (20, 50, 100, 200),
        },
    ),
    Contest(
        "Gaussian/Wasserstein, gap ≤ 1e-6",
        _GAUSSIAN,
        "CertifiedSolver",
        1e-6,
        {
            "CertifiedSolver": (20, 40, 60, 100, 150, 200, 500, 1000, 2000),
            "ProjectedGradient": (20, 40, 60, 100, 150, 200, 500),
            "BlockDescent": (20, 40, 60, 100, 150, 200),
            "RobustPremium:SCS": (20, 40, 60, 100, 150),
            "GaussianSDP:SCS": (20, 40, 60, 100, 150),
            "RobustPremium:CLARABEL": (10, 20, 30, 40),
            "GaussianSDP:CLARABEL": (10, 20, 30, 40),
        },
    ),
    Contest(
        "general p = 2, gap ≤ 1e-6",
        _MOMENT,
        "MomentNewton",
        1e-6,
        {
            "MomentNewton": (20, 50, 100, 200, 500, 1000),
            "ProjectedGradient": (20, 50, 100, 200, 500),
            "GeneralRegularized:CLARABEL": (20, 50, 100, 200),
        },
    ),
)


def run_bench(output: Path, fresh: bool, limits: Limits) -> pd.DataFrame:
    """Run all contests and write table, figure and report below ``output``."""
    store = Store(output)
    if fresh:
        store.clear()
    cells = [cell for contest in CONTESTS for cell in contest.cells()]
    rows = run_campaign(cells, store, limits, "bench")
    write_table(output / "runs.csv", rows)
    write_provenance(output, asdict(limits))
    panels = {contest.title: _rows_of(contest, rows) for contest in CONTESTS}
    draw_panels(panels, output / "bench")
    write_atomically(output / "report.md", _report(panels))
    return rows


def _rows_of(contest: Contest, rows: pd.DataFrame) -> pd.DataFrame:
    return rows[(rows["model"] == contest.instance.model) & (rows["target"] == contest.target)]


def _report(panels: dict[str, pd.DataFrame]) -> str:
    parts = [
        "# Bench",
        "Made by `make bench`. Every time is a median of runs in one process with one BLAS thread; "
        "every method runs at the loosest of its tolerances whose answer the judge accepts. "
        "`ratio` is against our solver at the same d. Memory is the peak of the whole process, of "
        "which Python and the libraries take about 200 MiB.",
        "![time against d](bench.png)",
    ]
    for contest in CONTESTS:
        rows = panels[contest.title]
        ours = rows[rows["method"] == contest.ours].set_index("d")["total_s"]
        lines = []
        for _, row in rows.sort_values(["d", "total_s"]).iterrows():
            if row["outcome"] != "ok":
                cells = [row["d"], row["method"], row["outcome"], "", "", "", "", row["message"]]
                lines.append(cells)
                continue
            base = ours.get(row["d"], float("nan"))
            spread = f"{seconds(row['fastest_s'])} to {seconds(row['slowest_s'])}"
            lines.append(
                [
                    row["d"], row["method"], seconds(row["total_s"]), spread,
                    _ratio(row["total_s"], base), f"{row['peak_mb']:.0f} MiB",
                    f"{row['gap']:.0e}", "" if row["is_solved"] else "not solved",
                ]
            )  # fmt: skip
        header = ["d", "method", "median", "spread", "ratio", "memory", "judged gap", ""]
        parts += [f"## {contest.title}", markdown_table(header, lines), _exponents(rows)]
    parts.append(f"Made with {provenance_line()}.")
    return "\n\n".join(parts) + "\n"


def _ratio(value: float, base: float) -> str:
    return "" if base != base else f"{value / base:.3g}×"


def _exponents(rows: pd.DataFrame) -> str:
    found = []
    for method, group in rows[rows["is_solved"]].groupby("method", sort=False):
        k = fit_exponent(group["d"].to_numpy(float), group["total_s"].to_numpy(float))
        found.append(f"{method} d^{k:.1f}")
    return "Growth, fitted to the larger half of the sizes: " + ", ".join(found) + "."
