"""Say what the data tell about the selected edges, as against what the solver proves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvers.selection.support import NOISE_RATE

if TYPE_CHECKING:
    from solvers.learned.graph import LearnedGraph


def edge_evidence(graph: LearnedGraph) -> list[tuple[str, str]]:
    """Return labels and sentences: structure, error rate, stability and held-out score.

    Parameters
    ----------
    graph : LearnedGraph

    Returns
    -------
    list of pairs of str
        Only what was computed.
    """
    edges, rows = graph.edges, []
    if graph.selection is None:
        rows.append(("selection", "none; all edges of the optimal graph are shown, untested"))
    else:
        found = "" if graph.selection.found else ": none found"
        rows.append(("structure", f"{graph.selection.structure:.1f} sd{found}"))
    if "z_score" in edges and len(edges):
        scores, rates = edges["z_score"], edges["q_value"]
        share = f"{(rates <= NOISE_RATE).sum()} of {len(rates)} edges"
        rows += [
            ("false discoveries", f"{share} have a q-value of at most {NOISE_RATE:g}"),
            ("z-scores of the edges", f"median {scores.median():.1f}, least {scores.min():.1f}"),
        ]
    if "stability" in edges and len(edges):
        shares = edges["stability"]
        rows.append((
            "stability",
            f"median {shares.median():.0%}, least {shares.min():.0%} of refits have the edge",
        ))  # fmt: skip
    if graph.held_out is not None:
        text = f"{graph.held_out:.2f}; 1 is perfect, 0 is as good as the mean of all others"
        rows.append(("held-out prediction", text))
    return rows
