"""Figure 1 and Table 3: communities of a learned stochastic block model."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.drawing.communities import communities
from experiments.drawing.graphs import draw_edges, match_labels, spread_out
from experiments.drawing.style import COLOURS, plain_ticks
from experiments.figures.drawing import STYLES, band, panels
from experiments.figures.experiment import ClaimFinding, Experiment, Record, Setting
from experiments.figures.learning import (
    GAUSSIAN,
    GENERAL,
    MODELS,
    NOISE,
    SAA,
    TUNED,
    choose_by_truth,
    learn,
)
from experiments.figures.statistics import (
    advantage,
    against_baselines,
    against_itself,
    mean,
    outcome,
)
from experiments.figures.tables import beside, chosen_scores, closeness, printed
from wdro_cvx.generators import sbm_graph, smooth_signals
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.metrics import nmi
from wdro_cvx.validation import Array

_BLOCKS = (15, 15, 15)
_TRUE = "true graph"
_SIZES = (80, 100, 150, 200, 500, 1000)
#: The paper's Table 3.
PAPER = printed(
    _SIZES,
    {
        GENERAL: (0.727, 0.756, 0.762, 0.814, 0.787, 0.785),
        GAUSSIAN: (0.737, 0.7734, 0.745, 0.814, 0.776, 0.799),
        SAA: (0.700, 0.699, 0.725, 0.774, 0.779, 0.781),
    },
)
_SMALL, _LARGE = 150, 500


def communities_of(laplacian: Array) -> Array:
    """Return Louvain's community of every vertex of a graph given by its Laplacian."""
    return communities(np.diag(np.diagonal(laplacian)) - laplacian)


def trial(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Learn a block model and compare its communities with the planted ones."""
    truth, planted = sbm_graph(_BLOCKS, rng)
    samples = smooth_signals(truth, setting["n"], rng, noise=NOISE)

    def score(graph: Array) -> Record:
        found = communities_of(graph)
        return {"nmi": nmi(found, planted), "clusters": len(np.unique(found))}

    return learn(samples, truth, score=score)


def figure(table: pd.DataFrame) -> Figure:
    """Draw NMI against N, ours and the paper's."""
    figure, (panel,) = panels(1)
    chosen = choose_by_truth(table, ["n"], "nmi")
    for model, style in STYLES.items():
        band(panel, chosen[chosen["model"] == model], "n", "nmi", model, style)
        if model != TUNED:
            theirs = [PAPER[n, model] for n in _SIZES]
            panel.plot(_SIZES, theirs, ":", color=COLOURS[style], linewidth=0.9)
    panel.set(xscale="log", xlabel="number of samples N", ylabel="NMI")
    plain_ticks(panel, (100, 200, 500, 1000))
    panel.legend()
    return figure


def tables(table: pd.DataFrame) -> str:
    """Return Table 3, paper's and ours."""
    return beside(chosen_scores(table, "nmi"), PAPER)


def claims(table: pd.DataFrame) -> list[ClaimFinding]:
    """Check what the paper says of its Table 3."""
    chosen = choose_by_truth(table, ["n"], "nmi")
    small, large = chosen[chosen["n"] <= _SMALL], chosen[chosen["n"] >= _LARGE]
    findings = []
    for model in (GAUSSIAN, GENERAL):
        untuned, tuned = (advantage(small, model, base, "nmi") for base in (SAA, TUNED))
        word = against_itself(untuned) if model == GENERAL else against_baselines(untuned, tuned)
        findings.append(
            ClaimFinding(
                f"For small N (≤ {_SMALL}) the communities of {model} are better than SAA's.",
                word,
                f"NMI better by {untuned} than SAA, by {tuned} than SAA with tuned η",
            )
        )
    gains = [advantage(part, GAUSSIAN, SAA, "nmi") for part in (small, large)]
    findings.append(
        ClaimFinding(
            "The advantage is less obvious for large N.",
            outcome(gains[1].value < gains[0].value),
            f"{GAUSSIAN}: {gains[0]} for N ≤ {_SMALL}, {gains[1]} for N ≥ {_LARGE}",
        )
    )
    findings.append(closeness(chosen_scores(table, "nmi"), PAPER, "Table 3"))
    return findings


def example_trial(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Return graphs as lists: the truth, and the best of SAA and of the Gaussian scenario."""
    truth, planted = sbm_graph(_BLOCKS, rng)
    samples = smooth_signals(truth, setting["n"], rng, noise=NOISE)
    records: list[Record] = [_drawn(_TRUE, truth, planted)]
    scores = pd.DataFrame(learn(samples, truth, held_out=False))
    for model in (SAA, GAUSSIAN):
        best = int(scores[scores["model"] == model]["mcc"].to_numpy().argmax())
        records.append(_drawn(model, MODELS[model].path(samples)[best].laplacian, planted))
    return records


def _drawn(name: str, laplacian: Array, planted: Array) -> Record:
    found = communities_of(laplacian)
    return {
        "model": name, "graph": laplacian.tolist(), "communities": found.tolist(),
        "clusters": len(np.unique(found)), "nmi": nmi(found, planted),
    }  # fmt: skip


def example_figure(table: pd.DataFrame) -> Figure:
    """Draw the graphs of one trial with their communities.

    It is the first in which Louvain's method finds as many in the true graph as were planted.
    """
    clear = table[(table["model"] == _TRUE) & (table["clusters"] == len(_BLOCKS))]["trial"]
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


def example_claims(table: pd.DataFrame) -> list[ClaimFinding]:
    """Check what the paper says of its Figure 1."""
    counts = {str(m): mean(rows["clusters"]) for m, rows in table.groupby("model")}
    return [
        ClaimFinding(
            "From 50 noisy signals SAA's graph has more communities than the true one.",
            outcome(counts[SAA].value > counts[_TRUE].value + 2 * counts[SAA].error),
            "; ".join(f"{model}: {count} communities" for model, count in counts.items()),
        )
    ]


_CAPTION = (
    "NMI of Louvain's communities with the planted ones (block models, d = 45, σ = 0.1, {trials} "
    "graphs; bands are one standard error), every model tuned by NMI itself; dotted, the paper's "
    "Table 3."
)
_EXAMPLE_CAPTION = (
    "A block model of three communities (d = 45) and what is learned of it from N = 50 noisy "
    "signals; the number of communities that Louvain's method finds, and their NMI with the "
    "planted ones. Colours are matched between panels, grey beyond the seventh; hollow vertices "
    "have no edge."
)
EXPERIMENT = Experiment(
    "nmi", "Table 3: community detection", [{"n": n} for n in _SIZES], trial, figure, claims,
    _CAPTION, tables,
)  # fmt: skip
EXAMPLE = Experiment(
    "communities", "Figure 1: communities under uncertainty", [{"n": 50}], example_trial,
    example_figure, example_claims, _EXAMPLE_CAPTION,
)  # fmt: skip
