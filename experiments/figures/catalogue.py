"""The experiments: their figures, captions, and what the paper says of them.

The comparison of priors is not in the paper. Every model gets the same ladder of strengths, eta or
the root of alpha·beta, and the robust ones the same radii. Graphs are scaled to trace d before
their edges are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.graphs import draw_edges, match_labels
from experiments.drawing.style import (
    COLOURS,
    MARKERS,
    draw_band,
    label_line,
    legend_below,
    panels,
    plain_ticks,
)
from experiments.figures.chosen import Chosen, beside, choose_by_truth, choose_fairly, told
from experiments.figures.learning import (
    BLOCKS,
    GAUSSIAN,
    GENERAL,
    NORMS,
    PLANTED,
    PRINTED,
    SAA,
    SIMILARITY,
    TABLE_2_SIZES,
    TABLE_3_SIZES,
    TUNED,
    D,
)
from experiments.figures.statements import table_scores
from experiments.figures.tables import best_radii, compared_models, reliabilities
from experiments.figures.trials import (
    GRAPHS,
    MODELS,
    PRIOR_MODELS,
    PRIOR_RADII,
    RADIUS_MODELS,
    STRENGTHS,
    TRUE,
)
from experiments.measuring.text import markdown_table
from experiments.propositions.figures import gamma_figure
from solvers.learned.drawing import spread_out
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.validation import Array

STYLES = {SAA: 7, TUNED: 6, GAUSSIAN: 0, GENERAL: 1}
_TICKS = (0.1, 1, 10)
_NOISES = (0.1, 0.5, 1.0)  # that the report tells
_PLAIN, _LOGS, _ROBUST_PLAIN, _ROBUST_LOGS = PRIOR_MODELS
_PAIRS = (
    (_LOGS, _PLAIN), (_ROBUST_LOGS, _ROBUST_PLAIN), (_ROBUST_PLAIN, _PLAIN), (_ROBUST_LOGS, _LOGS),
)  # fmt: skip


@dataclass(frozen=True)
class Experiment:
    """How an experiment's table is drawn, captioned and printed.

    ``{trials}`` in the caption stands for their number. ``tables`` returns Markdown.
    """

    title: str
    figure: Callable[[pd.DataFrame], Figure]
    caption: str
    tables: Callable[[pd.DataFrame], str] | None = None


def band(
    axes: Axes, places: Sequence[float], scores: Sequence[Array], style: int, label: str = ""
) -> Array:
    """Draw means over graphs with a band of one standard error; return the means."""
    means = np.array([values.mean() for values in scores])
    errors = np.array([values.std(ddof=1) / np.sqrt(values.size) for values in scores])
    draw_band(axes, places, means, errors, COLOURS[style], MARKERS[style], label)
    return means


def bands(
    axes: Axes, table: pd.DataFrame, by: str, score: str, styles: Mapping[str, int] = STYLES
) -> None:
    """Draw a band for every model in a table, with labels for a legend."""
    for model, style in styles.items():
        groups = table[table["model"] == model].groupby(by)[score]
        places = groups.mean().index.to_numpy(float).tolist()
        band(axes, places, [values.to_numpy(float) for _, values in groups], style, model)


def compare_models(table: pd.DataFrame, by: str, xlabel: str, log: bool) -> Figure:
    """Draw MCC and DOG of every model against a setting, for both choices of the radius."""
    figure, axes = panels(2, rows=2)
    choices = ((choose_by_truth, "by the truth, for MCC"), (choose_fairly, "by held-out risk"))
    for row, (choice, note) in enumerate(choices):
        chosen = choice(table, [by])
        for panel, score in zip(axes[2 * row : 2 * row + 2], ("mcc", "dog"), strict=True):
            bands(panel, chosen, by, score)
            panel.set(ylabel=score.upper(), title=f"chosen {note}", xlabel=xlabel if row else "")
            if log:
                panel.set_xscale("log")
                plain_ticks(panel, (10, 100, 1000))
    legend_below(axes[0])
    return figure


def gamma_curve(table: pd.DataFrame) -> Figure:
    """Draw the curve with its pole, its asymptote and its minimum."""
    return gamma_figure(np.random.default_rng(int(table["seed"].iloc[0])))


def radius_figure(table: pd.DataFrame) -> Figure:
    """Draw MCC and DOG against the radius for every N, the best radius marked."""
    figure, axes = panels(2, rows=2)
    chosen = Chosen(table)
    for row, model in enumerate(RADIUS_MODELS):
        for panel, score in zip(axes[2 * row : 2 * row + 2], ("mcc", "dog"), strict=True):
            for index, n in enumerate(chosen.sizes):
                radii, scores = chosen.curve(model, n, score)
                means = band(panel, radii, list(scores.T), index, f"N = {n}")
                best = int((means if score == "mcc" else -means).argmax())
                spot = [radii[best]], [means[best]]
                panel.plot(*spot, "*", markersize=9, color=COLOURS[index], markeredgecolor="k")
            panel.set(xscale="log", ylabel=score.upper(), title=model)
            panel.set_xlabel("radius ε" if row else "")
            plain_ticks(panel, _TICKS)
    legend_below(axes[1])
    return figure


def reliability_figure(table: pd.DataFrame) -> Figure:
    """Draw the reliability of both scenarios against the radius."""
    figure, (panel,) = panels(1)
    bands(panel, table, "radius", "reliability", {m: STYLES[m] for m in RADIUS_MODELS})
    panel.set(xscale="log", xlabel="radius ε", ylabel="reliability", ylim=(0, 1.02))
    plain_ticks(panel, _TICKS)
    legend_below(panel, 2)
    return figure


def norm_figure(table: pd.DataFrame) -> Figure:
    """Draw Table 2, MCC against the norm, ours and the paper's."""
    figure, (panel,) = panels(1)
    labels = {name: name.removeprefix("p = ") for name in NORMS} | {SAA: "∞"}
    curves = [
        (f"N = {n}", style, [(n, model) for model in labels])
        for style, n in enumerate(TABLE_2_SIZES)
    ]
    _beside_printed(panel, Chosen(table), SIMILARITY, range(len(labels)), curves)
    panel.set_xticks(range(len(labels)), list(labels.values()))
    panel.set(xlabel="norm p", ylabel="MCC", title="Table 2 (dotted: printed)")
    panel.set_xlim(-0.2, len(labels) + 0.6)
    return figure


def nmi_figure(table: pd.DataFrame) -> Figure:
    """Draw Table 3, NMI of every model against N, ours and the paper's."""
    figure, (panel,) = panels(1)
    curves = [(model, STYLES[model], [(n, model) for n in TABLE_3_SIZES]) for model in MODELS]
    _beside_printed(panel, Chosen(table), BLOCKS, TABLE_3_SIZES, curves)
    panel.set(xscale="log", xlabel="samples N", ylabel="NMI", title="Table 3 (dotted: printed)")
    panel.set_xlim(70, 2300)
    plain_ticks(panel, (100, 300, 1000))
    return figure


def _beside_printed(
    axes: Axes, chosen: Chosen, kind: str, places: Sequence[float],
    curves: Sequence[tuple[str, int, Sequence[tuple[int, str]]]],
) -> None:  # fmt: skip
    """Draw curves, given by label, style and cells of a table, and dotted their printed values."""
    for label, style, cells in curves:
        means = band(axes, places, [table_scores(chosen, kind, *cell) for cell in cells], style)
        label_line(axes, places[-1], float(means[-1]), label, COLOURS[style])
        printed = [PRINTED[kind].get(cell, np.nan) for cell in cells]
        axes.plot(places, printed, ":", color=COLOURS[style], linewidth=0.9)


def example_figure(table: pd.DataFrame) -> Figure:
    """Draw the graphs of one trial with their communities.

    It is the first trial in which Louvain's method finds the planted number in the true graph.
    """
    clear = table[(table["model"] == TRUE) & (table["clusters"] == len(PLANTED))]["trial"]
    shown = table[table["trial"] == (clear if len(clear) else table["trial"]).min()]
    figure, axes = panels(len(shown))
    points, first = None, None
    for panel, (_, row) in zip(axes, shown.iterrows(), strict=True):
        laplacian = np.array(row["graph"])
        adjacency = np.diag(np.diagonal(laplacian)) - laplacian
        adjacency = np.where(adjacency >= EDGE_THRESHOLD, adjacency, 0.0)
        labels = np.array(row["communities"])
        if points is None or first is None:
            points, first = spread_out(adjacency), labels
        draw_edges(panel, adjacency, match_labels(labels, first), points)
        panel.set_title(f"{row['model']}: {row['clusters']} communities, NMI {row['nmi']:.2f}")
        panel.set_axis_off()
    inside = [(panel, legend) for panel in axes if (legend := panel.get_legend())]
    if inside:
        legend_below(inside[0][0])
    for _, legend in inside:
        legend.remove()
    return figure


def community_counts(table: pd.DataFrame) -> str:
    """Return how many communities Louvain's method finds in each graph, over all trials."""
    groups = table.groupby("model", sort=False)["clusters"]
    rows = [[model, told(found.to_numpy(float))] for model, found in groups]
    return markdown_table(["graph", "communities"], rows)


def with_radius_0(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with radius 0 for both balls: the candidates of their prior alone."""
    plain = [
        table[table["model"] == name].assign(model=ball)
        for ball, name in ((_ROBUST_PLAIN, _PLAIN), (_ROBUST_LOGS, _LOGS))
    ]
    return pd.concat([table, *plain], ignore_index=True)


def prior_figure(table: pd.DataFrame) -> Figure:
    """Draw MCC against N for both kinds of graph."""
    chosen = choose_by_truth(with_radius_0(table), ["truth", "n"])
    figure, axes = panels(2)
    for panel, graph in zip(axes, GRAPHS, strict=True):
        styles = {name: style for style, name in enumerate(PRIOR_MODELS)}
        bands(panel, chosen[chosen["truth"] == graph], "n", "mcc", styles)
        panel.set(xscale="log", xlabel="number of samples N", ylabel="MCC", title=f"{graph} graphs")
        plain_ticks(panel, sorted(set(chosen["n"])))
    legend_below(axes[1])
    return figure


def prior_tables(table: pd.DataFrame) -> str:
    """Return MCC of every model, and the differences between them, paired by trial."""
    chosen = Chosen(with_radius_0(table))
    scores: list[list[object]] = []
    differences: list[list[object]] = []
    for graph in GRAPHS:
        settings = [{"truth": graph, "n": n} for n in chosen.sizes]
        found = {
            name: [chosen.at(setting, name, "mcc") for setting in settings] for name in PRIOR_MODELS
        }
        for name, parts in found.items():
            taken = [chosen.rows(setting, name).iloc[0] for setting in settings]
            words = "; ".join(f"{row['eta']:g}, ε = {row['radius']:g}" for row in taken)
            scores.append([graph, name, *map(told, parts), words])
        for first, second in _PAIRS:
            ahead = [told(a - b) for a, b in zip(found[first], found[second], strict=True)]
            differences.append([graph, f"{first} − {second}", *ahead])
    sizes = [f"N = {n}" for n in chosen.sizes]
    return "\n\n".join([
        f"MCC, d = {D} (RBF) and 30 (three blocks). Strengths (η, or α = β) range "
        f"from {STRENGTHS[0]:g} to {STRENGTHS[-1]:g} ({len(STRENGTHS)} values). Radii are 0, and "
        f"from {PRIOR_RADII[0]:g} to {PRIOR_RADII[-1]:g} ({len(PRIOR_RADII)} values). The pair "
        "with the largest mean MCC is taken. A ball can choose radius 0, so it cannot be behind.",
        markdown_table(["graph", "model", *sizes, "strength and radius taken"], scores),
        "Differences, paired by trial. A difference counts if it exceeds two standard errors.",
        markdown_table(["graph", "difference", *sizes], differences),
    ])  # fmt: skip


EXPERIMENTS = {
    "communities": Experiment(
        "Figure 1: communities under uncertainty", example_figure,
        "A block model of three communities (d = 45), and graphs learned from N = 50 noisy "
        "signals. Titles give the number of communities that Louvain's method finds and their NMI "
        "with the planted ones. Colours are matched between panels, grey beyond the seventh; "
        "hollow vertices have no edge.",
        tables=community_counts,
    ),
    "gamma": Experiment(
        "Figure 2: g(γ)", gamma_curve,
        "g(γ) of one similarity graph (d = 10, N = 40, ε = 0.5): a pole at λmax (dotted), a linear "
        "asymptote (dashed), and one minimum between them.",
    ),
    "sample-size": Experiment(
        "Figure 3: sample size",
        partial(compare_models, by="n", xlabel="number of samples N", log=True),
        "MCC and DOG against N (d = 20, σ = 0.1, {trials} graphs; bands are one standard error). "
        "Top: candidates chosen by the truth, for MCC, one for all graphs. Bottom: by the risk on "
        "held-out signals, for each graph. The general scenario is SAA with another η; its curve "
        "follows SAA with tuned η.",
        tables=lambda table: compared_models(table, "n", "N", STYLES, (10, 100, 1000)),
    ),
    "radius": Experiment(
        "Figure 4: radius", radius_figure,
        "MCC and DOG along the radius (d = 20, σ = 0.1, {trials} graphs; bands are one standard "
        "error), one curve for each N, stars at the best radius.",
        tables=lambda table: best_radii(table, RADIUS_MODELS),
    ),
    "reliability": Experiment(
        "Figure 5: reliability", reliability_figure,
        "Share of unseen signals whose own risk is below the worst-case value, along the radius "
        "(d = 20, N = 50, {trials} graphs; bands are one standard error). The two radii measure "
        "different distances. For the smallest radii, almost a point, reliability is above one "
        "third, not 0.",
        tables=lambda table: reliabilities(table, RADIUS_MODELS),
    ),
    "noise": Experiment(
        "Figure 6: noise",
        partial(compare_models, by="noise", xlabel="standard deviation σ of the noise", log=False),
        "MCC and DOG against the noise (d = 20, N = 100, {trials} graphs; bands are one standard "
        "error). Top: candidates chosen by the truth, for MCC. Bottom: by the risk on held-out "
        "signals.",
        tables=lambda table: compared_models(table, "noise", "σ", STYLES, _NOISES),
    ),
    "norm": Experiment(
        "Table 2: norm type p", norm_figure,
        "MCC against p with candidates at each norm's own scale (d = 20, σ = 0.1, {trials} graphs; "
        "bands are one standard error); dotted, the paper's Table 2.",
        tables=lambda table: beside(Chosen(table), SIMILARITY, [*NORMS, SAA]),
    ),
    "nmi": Experiment(
        "Table 3: community detection", nmi_figure,
        "NMI of Louvain's communities with the planted ones (block models, d = 45, σ = 0.1, "
        "{trials} graphs; bands are one standard error), every model tuned by NMI itself; dotted, "
        "the paper's Table 3.",
        tables=lambda table: beside(Chosen(table), BLOCKS, list(MODELS)),
    ),
    "prior": Experiment(
        "Priors: Frobenius and log-degree", prior_figure,
        "MCC against N with either prior, robust and not; strength and radius are chosen by the "
        "truth, and radius 0 is among the candidates ({trials} graphs; bands are one standard "
        "error).",
        tables=prior_tables,
    ),
}  # fmt: skip
