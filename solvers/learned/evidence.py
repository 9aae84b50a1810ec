"""Say what the data show about the selected edges, in contrast to what the solver proves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solvers.selection.support import NOISE_RATE

if TYPE_CHECKING:
    from solvers.learned.graph import LearnedGraph

# The number of clear edges is worth a remark if at least _SEVERAL edges are selected and less than
# _HALF of them are clear. The correlation of neighbouring rows is worth a remark if it exceeds
# _ALIKE by more than a standard error.
_SEVERAL, _HALF, _ALIKE = 5, 0.5, 0.3
_CLEAR = f"q-value of at most {NOISE_RATE:g}"


def edge_evidence(graph: LearnedGraph) -> list[tuple[str, str]]:
    """Return labels and sentences: structure, q-values, stability and held-out score.

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
        found = "more than 2: structure" if graph.selection.found else "at most 2: none found"
        above = f"{graph.selection.structure:.1f} standard deviations above shuffled tables"
        rows.append(("structure", f"{above} ({found})"))
    if "z_score" in edges and len(edges):
        scores, rates = edges["z_score"], edges["q_value"]
        share = f"{(rates <= NOISE_RATE).sum()} of {len(rates)} selected edges"
        rows.append(("clearly shown", f"{share} have a {_CLEAR}"))
    if graph.selection is not None:
        rows += _passed_over(graph)
    if "z_score" in edges and len(edges):
        rows.append(
            ("z-scores of the edges", f"median {scores.median():.1f}, least {scores.min():.1f}")
        )
    if "stability" in edges and len(edges):
        shares = edges["stability"]
        rows.append((
            "stability",
            f"median {shares.median():.0%}, least {shares.min():.0%} of refits have the edge",
        ))  # fmt: skip
    if isinstance(graph.held_out, str):
        rows.append(("held-out prediction", f"not computed: {graph.held_out}"))
    elif graph.held_out is not None:
        text = f"{graph.held_out:.2f}; 1 is perfect, 0 is as good as the mean of all others"
        worse = "; below 0, neighbours predict worse than that mean"
        rows.append(("held-out prediction", text + (worse if graph.held_out < 0.0 else "")))
    return rows


def describe_evidence(graph: LearnedGraph) -> list[str]:
    """Return remarks on edges that are less certain than they seem.

    Parameters
    ----------
    graph : LearnedGraph

    Returns
    -------
    list of str
    """
    if graph.selection is None:
        return []
    notes, rates = [], graph.q_values
    clear = int(np.count_nonzero(rates <= NOISE_RATE))
    if len(rates) >= _SEVERAL and clear < _HALF * len(rates):
        few = f"Only {clear} of {len(rates)}" if clear else f"None of {len(rates)}"
        notes.append(
            f"{few} selected edges {'is' if clear < 2 else 'are'} shown clearly by the data "
            f"({_CLEAR}). Groups of columns may be right, single edges may not be. "
            + (f"Try fdr={NOISE_RATE:g}, or " if graph.selection.as_fdr else "Try ")
            + "more observations."
        )
    lag = graph.selection.lag
    if graph.selection.found and lag > _ALIKE + 1.0 / np.sqrt(graph.samples):
        notes.append(
            f"Neighbouring rows are alike (lag-1 correlation {lag:.2f}). If the rows are a time "
            "series, z-scores and q-values are too confident. If the values drift, as prices do, "
            "learn the graph from their changes from row to row."
        )
    return notes


def _passed_over(graph: LearnedGraph) -> list[tuple[str, str]]:
    """Return a row with the number of edges that are clear but not selected, unless it is zero."""
    assert graph.selection is not None
    count = int(np.count_nonzero(graph.selection.further >= graph.threshold))
    if not count:
        return []
    one = count == 1
    many = "1 further edge of the optimal graph has" if one else (
        f"{count} further edges of the optimal graph have"
    )  # fmt: skip
    text = f"{many} a {_CLEAR}"
    if graph.selection.as_fdr:
        them = "it" if one else "them"
        text += f"; a false-discovery rate (fdr) of {NOISE_RATE:g} selects {them}"
    return [("not selected", text)]
