"""Table 2 (norms), Table 3 (communities), Figure 1 (an example), and two priors compared.

The comparison of priors is not in the paper. Every model gets the same ladder of strengths, eta or
the root of alpha·beta, and the robust ones the same radii. Graphs are scaled to trace d before
their edges are counted.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.drawing.graphs import draw_edges, match_labels
from experiments.drawing.style import COLOURS, MARKERS, label_line, plain_ticks
from experiments.figures.comparison import (
    STYLES,
    Experiment,
    advantage,
    bands,
    beside,
    choose_by_truth,
    chosen_scores,
    closeness,
    mean,
    outcome,
    panels,
    small_and_large,
)
from experiments.figures.learning import GAUSSIAN, GENERAL, SAA, TABLE_2, TABLE_3
from experiments.figures.trials import (
    BLOCKS,
    GRAPHS,
    NORM_MODELS,
    NORMS,
    PRIOR_MODELS,
    PRIOR_RADII,
    STRENGTHS,
    TRUE,
    D,
    values,
)
from experiments.measuring.text import markdown_table
from experiments.study import Statement
from solvers.learned.drawing import spread_out
from wdro_cvx.judging.edges import EDGE_THRESHOLD

_NEARLY = 0.005
_NORM_SIZES = values("norm", "n")
_SIZES = values("nmi", "n")
_PRIOR_SIZES = values("prior", "n")
_PLAIN, _LOGS, _ROBUST_PLAIN, _ROBUST_LOGS = PRIOR_MODELS
_PAIRS = (
    (_LOGS, _PLAIN), (_ROBUST_LOGS, _ROBUST_PLAIN), (_ROBUST_PLAIN, _PLAIN), (_ROBUST_LOGS, _LOGS),
)  # fmt: skip


def norm_figure(table: pd.DataFrame) -> Figure:
    """Draw MCC against p, ours and the paper's."""
    scores = chosen_scores(table, "mcc")
    figure, (panel,) = panels(1)
    places = np.arange(len(NORMS))
    for index, n in enumerate(_NORM_SIZES):
        ours = [scores[n, model] for model in NORM_MODELS]
        means, errors = [score.value for score in ours], [score.error for score in ours]
        panel.errorbar(
            places, means, yerr=errors, capsize=2, color=COLOURS[index], marker=MARKERS[index]
        )
        theirs = [TABLE_2[n, model] for model in NORM_MODELS]
        panel.plot(places, theirs, ":", color=COLOURS[index], linewidth=0.9)
        label_line(panel, float(places[-1]), means[-1], f"N = {n}", COLOURS[index])
    panel.set(xlabel="norm p", ylabel="MCC", xlim=(-0.3, len(NORMS) + 0.7))
    panel.set_xticks(places, list(NORMS))
    return figure


def norm_statements(table: pd.DataFrame) -> list[Statement]:
    """Check what the paper says of its Table 2."""
    scores = chosen_scores(table, "mcc")
    rising, behind, best = [], [], []
    for n in _NORM_SIZES:
        means = {model: scores[n, model].value for model in NORM_MODELS}
        best.append(f"{max(means, key=lambda model: means[model])} at N = {n}")
        behind.append(means["p = 4"] - means.pop("p = ∞"))
        rising.append(bool(np.all(np.diff(list(means.values())) >= -_NEARLY)))
    return [
        Statement(
            "Table 2",
            "Larger p is better, except p = ∞.",
            outcome(all(rising)),
            f"MCC rises from p = 1 to 4 at {sum(rising)} of {len(rising)} sample sizes; best: "
            + ", ".join(best),
        ),
        Statement(
            "Table 2",
            "p = ∞ is the exception: worse than p = 4.",
            outcome(min(behind) > 0.0),
            f"MCC lower by {min(behind):.3f} to {max(behind):.3f}; p = ∞ is SAA, whatever ε",
        ),
        closeness(scores, TABLE_2, "Table 2"),
    ]


def nmi_figure(table: pd.DataFrame) -> Figure:
    """Draw NMI against N, ours and the paper's."""
    figure, (panel,) = panels(1)
    chosen = choose_by_truth(table, ["n"], "nmi")
    bands(panel, chosen, "n", "nmi")
    for model in (SAA, GAUSSIAN, GENERAL):
        theirs = [TABLE_3[n, model] for n in _SIZES]
        panel.plot(_SIZES, theirs, ":", color=COLOURS[STYLES[model]], linewidth=0.9)
    panel.set(xscale="log", xlabel="number of samples N", ylabel="NMI")
    plain_ticks(panel, (100, 200, 500, 1000))
    panel.legend()
    return figure


def nmi_statements(table: pd.DataFrame) -> list[Statement]:
    """Check what the paper says of its Table 3."""
    chosen = choose_by_truth(table, ["n"], "nmi")
    return [
        *small_and_large("Table 3", chosen, 150, 500, ("nmi",)),
        closeness(chosen_scores(table, "nmi"), TABLE_3, "Table 3"),
    ]


def example_figure(table: pd.DataFrame) -> Figure:
    """Draw the graphs of one trial with their communities.

    It is the first trial in which Louvain's method finds the planted number in the true graph.
    """
    clear = table[(table["model"] == TRUE) & (table["clusters"] == len(BLOCKS))]["trial"]
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
    return figure


def example_statements(table: pd.DataFrame) -> list[Statement]:
    """Check what the paper says of its Figure 1."""
    counts = {str(m): mean(rows["clusters"]) for m, rows in table.groupby("model")}
    return [
        Statement(
            "Figure 1",
            "From 50 noisy signals SAA's graph has more communities than the true one.",
            outcome(counts[SAA].value > counts[TRUE].value + 2 * counts[SAA].error),
            "; ".join(f"{model}: {count} communities" for model, count in counts.items()),
        )
    ]


def prior_figure(table: pd.DataFrame) -> Figure:
    """Draw MCC against N for both kinds of graph."""
    chosen = choose_by_truth(table, ["truth", "n"])
    figure, axes = panels(2)
    for panel, graph in zip(axes, GRAPHS, strict=True):
        styles = {name: style for style, name in enumerate(PRIOR_MODELS)}
        bands(panel, chosen[chosen["truth"] == graph], "n", "mcc", styles)
        panel.set(xscale="log", xlabel="number of samples N", ylabel="MCC", title=f"{graph} graphs")
        plain_ticks(panel, _PRIOR_SIZES)
    axes[1].legend(loc="lower right")
    return figure


def prior_tables(table: pd.DataFrame) -> str:
    """Return MCC of every model, and the differences between them, paired by trial."""
    chosen = choose_by_truth(table, ["truth", "n"])
    scores: list[list[object]] = []
    differences: list[list[object]] = []
    for graph in GRAPHS:
        rows = chosen[chosen["truth"] == graph]
        for name in PRIOR_MODELS:
            mine = rows[rows["model"] == name]
            by_size = [mine[mine["n"] == n] for n in _PRIOR_SIZES]
            taken = "; ".join(str(part["parameter"].iloc[0]) for part in by_size)
            scores.append([graph, name, *(mean(part["mcc"]) for part in by_size), taken])
        for first, second in _PAIRS:
            ahead = [advantage(rows[rows["n"] == n], first, second, "mcc") for n in _PRIOR_SIZES]
            differences.append([graph, f"{first} − {second}", *ahead])
    sizes = [f"N = {n}" for n in _PRIOR_SIZES]
    return "\n\n".join([
        f"MCC, d = {D} (RBF) and 30 (three blocks). Strengths (η, or α = β) range "
        f"from {STRENGTHS[0]:g} to {STRENGTHS[-1]:g} ({len(STRENGTHS)} values), radii from "
        f"{PRIOR_RADII[0]:g} to {PRIOR_RADII[-1]:g} ({len(PRIOR_RADII)} values). The pair with the "
        "largest mean MCC is taken.",
        markdown_table(["graph", "model", *sizes, "strength and radius taken"], scores),
        "Differences, paired by trial. A difference counts if it exceeds two standard errors.",
        markdown_table(["graph", "difference", *sizes], differences),
    ])  # fmt: skip


NORM = Experiment(
    "Table 2: norm type p", norm_figure, norm_statements,
    "MCC against p with candidates at each norm's own scale (d = 20, σ = 0.1, {trials} graphs; "
    "bars are one standard error); dotted, the paper's Table 2. Here p between 4/3 and 2 is best; "
    "with one list of candidates for all norms it is p = 4 (wdro study explain).",
    lambda table: beside(chosen_scores(table, "mcc"), TABLE_2),
)  # fmt: skip
NMI = Experiment(
    "Table 3: community detection", nmi_figure, nmi_statements,
    "NMI of Louvain's communities with the planted ones (block models, d = 45, σ = 0.1, {trials} "
    "graphs; bands are one standard error), every model tuned by NMI itself; dotted, the paper's "
    "Table 3.",
    lambda table: beside(chosen_scores(table, "nmi"), TABLE_3),
)  # fmt: skip
COMMUNITIES = Experiment(
    "Figure 1: communities under uncertainty", example_figure, example_statements,
    "A block model of three communities (d = 45), and graphs learned from N = 50 noisy signals. "
    "Titles give the number of communities that Louvain's method finds and their NMI with the "
    "planted ones. Colours are matched between panels, grey beyond the seventh; hollow vertices "
    "have no edge.",
)  # fmt: skip
PRIOR = Experiment(
    "Priors: Frobenius and log-degree", prior_figure,
    lambda _: [],  # the paper says nothing of this
    "MCC against N with either prior, robust and not; strength and radius are chosen by the truth "
    "({trials} graphs; bands are one standard error).",
    prior_tables,
)  # fmt: skip
