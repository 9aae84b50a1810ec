"""The paper's reading of its maps, in numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from experiments.running.provenance import provenance_line
from experiments.running.text import markdown_table
from experiments.temperature.directions import explained_by
from experiments.temperature.reading import Reading


def describe(readings: Sequence[Reading], maps: Sequence[str], eta: float, seed: int) -> str:
    """Return the report."""
    rows = [_row(reading) for reading in readings]
    header = [
        "graph", "radius", "gap", "edges", "mean latitude difference", "on shuffled places", "p",
        "mean bearing", "pairs of equal length", "p", "communities",
        "latitude explained by them",
    ]  # fmt: skip
    parts = [
        "# Temperature graphs",
        f"Made by `wdro temperature --seed {seed}` (`make temperature`): weekly means of 2025 at "
        "NOAA stations, both scenarios, raw temperatures, η = "
        f"{eta:g}, the radius chosen by held-out risk. Hollow vertices have no edge; colours are "
        "Louvain's communities.",
        *(f"![{country}]({country}.png)" for country in maps),
        "## Do edges run along latitudes?",
        markdown_table(header, rows),
        "Latitude differences are in degrees, bearings in degrees from the parallel (0 is "
        "east-west, 90 north-south), both weighted by the edges. *Shuffled places* keeps the graph "
        "and deals its places anew; *pairs of equal length* replaces every edge by a random pair "
        "of about its length, which leaves the direction alone to differ. p is the share of 2,000 "
        "random graphs with a mean as small.",
        "![bearings](directions.png)",
        "## Who is alone, and how high",
        markdown_table(
            ["graph", "isolated vertices", "their median elevation", "that of the others", "p",
             "rank correlation of degree and elevation"],
            [_isolated_row(reading) for reading in readings],
        ),
        "p is that of a rank-sum test that isolated stations lie higher.",
    ]  # fmt: skip
    return "\n\n".join([*parts, f"Made with {provenance_line()}."]) + "\n"


def _row(reading: Reading) -> list[object]:
    graph = reading.graph
    kept = ~reading.alone
    labels = graph.communities[kept]
    return [
        reading.title, f"{graph.radius:.3g}", f"{graph.gap:.0e}",
        int(np.count_nonzero(np.triu(graph.adjacency))),
        f"{reading.latitude.observed:.2f}", f"{reading.latitude.expected:.2f}",
        f"{reading.latitude.p:.4f}", f"{reading.bearing.observed:.1f}",
        f"{reading.bearing.expected:.1f}", f"{reading.bearing.p:.4f}", len(np.unique(labels)),
        f"{explained_by(labels, reading.places.latitude[kept]):.0%}",
    ]  # fmt: skip


def _isolated_row(reading: Reading) -> list[object]:
    alone, height = reading.alone, reading.elevation
    names = ", ".join(reading.graph.isolated) or "none"
    if height is None:
        return [reading.title, names, "", "", "", ""]
    degree = reading.graph.adjacency.sum(axis=1)
    correlation = f"{float(stats.spearmanr(degree, height).statistic):+.2f}"
    if not alone.any():
        return [reading.title, names, "", f"{np.median(height):.0f} m", "", correlation]
    test = stats.mannwhitneyu(height[alone], height[~alone], alternative="greater")
    return [
        reading.title, names, f"{np.median(height[alone]):.0f} m",
        f"{np.median(height[~alone]):.0f} m", f"{float(test.pvalue):.3f}", correlation,
    ]  # fmt: skip
