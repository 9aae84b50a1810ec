"""The paper's reading of its maps, in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

from experiments.measuring.provenance import provenance_line
from experiments.measuring.text import markdown_table
from experiments.studies.temperature.reading import Reading
from experiments.studies.temperature.states import MONTHS


def describe(readings: Sequence[Reading], maps: Mapping[str, str], eta: float, seed: int) -> str:
    """Return the report."""
    parts = [
        "# Temperature graphs",
        f"Made by `wdro temperature --seed {seed}` (`make temperature`): {MONTHS} monthly means of "
        "the 48 contiguous states (NOAA nClimDiv, to November 2024; the paper's Figure 9 has 60 "
        "weeks of 2019 and 2020), weekly means of 2025 at NOAA stations, both scenarios, raw "
        f"temperatures, η = {eta:g}, the radius chosen by held-out risk.",
        *(f"![{title}]({name}.png)" for name, title in maps.items()),
        "*Left the Gaussian, right the general scenario. Lines are edges, wider and darker with "
        "their weight; colours are Louvain's communities, the same colour for those that share "
        "most vertices in both panels, grey beyond the seventh; hollow vertices have no edge.*",
        "## Do edges run along latitudes?",
        markdown_table(
            ["graph", "radius", "gap", "edges", "mean latitude difference", "on shuffled places",
             "p", "mean bearing", "pairs of equal length", "p"],
            [_edge_row(reading) for reading in readings],
        ),
        "Latitude differences are in degrees, bearings in degrees from the parallel (0 is "
        "east-west, 90 north-south), both weighted by the edges. *Shuffled places* keeps the graph "
        "and deals its places anew; *pairs of equal length* replaces every edge by a random pair "
        "of about its length, which leaves the direction alone to differ. p is the share of 2,000 "
        "random graphs with a mean as small.",
        "![bearings](directions.png)",
        "*Share of the edges' weight by their angle to the parallel; the outline is that of random "
        "pairs of the same lengths.*",
        "## Are communities bands of latitude?",
        markdown_table(
            ["graph", "communities", "latitude explained", "by k-means on places",
             "longitude explained", "by k-means on places"],
            [_band_row(reading) for reading in readings],
        ),
        "Shares of variance; the least to the largest over 20 seeds of Louvain's method, whose "
        "communities depend on it, and of as many k-means clusters of the coordinates alone, "
        "which know no temperatures. Any grouping of neighbours explains latitude; a band is one "
        "that explains little longitude.",
        "## Who is alone, and how high",
        markdown_table(
            ["graph", "isolated vertices", "their median elevation", "that of the others", "p",
             "rank correlation of degree and elevation"],
            [_isolated_row(reading) for reading in readings],
        ),
        "p is that of a rank-sum test that isolated stations lie higher.",
    ]  # fmt: skip
    return "\n\n".join([*parts, f"Made with {provenance_line()}."]) + "\n"


def _edge_row(reading: Reading) -> list[object]:
    graph = reading.graph
    return [
        reading.title, f"{graph.radius:.3g}", f"{graph.gap:.0e}",
        int(np.count_nonzero(np.triu(graph.adjacency))),
        f"{reading.latitude.observed:.2f}", f"{reading.latitude.expected:.2f}",
        f"{reading.latitude.p:.4f}", f"{reading.bearing.observed:.1f}",
        f"{reading.bearing.expected:.1f}", f"{reading.bearing.p:.4f}",
    ]  # fmt: skip


def _band_row(reading: Reading) -> list[object]:
    bands = reading.bands
    shares = (bands.latitude, bands.null_latitude, bands.longitude, bands.null_longitude)
    count = f"{bands.count.low:.0f}–{bands.count.high:.0f}"
    return [reading.title, count, *(f"{s.low:.0%}–{s.high:.0%}" for s in shares)]


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
