"""Decide which edges of a learned graph are drawn.

The certificate of a graph is about the solve. Which of its edges are selected is an estimate: the
cut of the ranking if the table has structure, false-discovery control otherwise or on request.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from solvers.selection.edges import REFIT_UP_TO, Candidates, debias, rank_and_cut, refit, refits
from solvers.selection.partial import partial_z_scores
from solvers.selection.preparation import Prepared
from solvers.selection.signals import Signals
from solvers.selection.structure import discoveries, find_structure
from solvers.selection.tables import moving_columns
from wdro_cvx import GraphProblem, ProblemError, Solution
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.graphs.listed_bounds import ListedBounds
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.validation import Array, real_number

EDGES = ("auto", "all")
#: The false-discovery rate of edges in a table without structure.
NOISE_RATE = 0.1


@dataclass(frozen=True, eq=False)
class Selection:
    """The selected edges.

    Attributes
    ----------
    d : int
        The number of vertices.
    heads, tails : arrays (m,) of int
        Every head is smaller than its tail.
    z_scores : array (m,)
        How many standard errors each partial correlation or, if the table does not allow them,
        each debiased weight is above zero; in a table without structure, how far the correlation is
        above the mean.
    q_values : array (m,)
        The smallest false-discovery rate at which an edge would be selected.
    structure : float
        The score of the test for structure, in standard deviations.
    found : bool
        Whether the table has structure.
    further : array (k,)
        The weights of the edges that have a q-value of at most ``NOISE_RATE`` and are not selected.
    as_fdr : bool
        Whether the q-values are those that ``fdr`` compares with its rate.
    lag : float
        The correlation of neighbouring rows that the columns share.
    """

    d: int
    heads: NDArray[np.intp]
    tails: NDArray[np.intp]
    z_scores: Array
    q_values: Array
    structure: float
    found: bool
    further: Array = field(default_factory=lambda: np.zeros(0))
    as_fdr: bool = True
    lag: float = 0.0

    @property
    def support(self) -> sparse.csr_array:
        """The selected pairs as a symmetric boolean array."""
        ends = np.concatenate([self.heads, self.tails]), np.concatenate([self.tails, self.heads])
        return sparse.csr_array((np.ones(2 * len(self.heads), bool), ends), (self.d, self.d))


def check_selection(edges: str, fdr: float | None, neighbours: float | None = None) -> None:
    """Check the options that select edges.

    Raises
    ------
    ProblemError
        If one is not allowed, or the two contradict each other.
    """
    if not (isinstance(edges, str) and edges in EDGES):
        raise ProblemError(f"edges must be one of {', '.join(EDGES)}; it is {edges!r}.")
    if fdr is None:
        return
    if real_number("fdr", fdr, 0.0, strict=True) >= 1.0:
        raise ProblemError(f"fdr is the share of false edges and must be below 1; it is {fdr:g}.")
    if edges == "all":
        raise ProblemError(
            f"edges='all' selects every edge, and fdr={fdr:g} selects some; give one of them."
        )
    if neighbours is not None:
        raise ProblemError(
            f"neighbours={neighbours!r} says how many edges there are, and so does fdr={fdr:g}; "
            "give one of them."
        )


def select_edges(
    problem: GraphProblem,
    solution: Solution,
    prepared: Prepared,
    fdr: float | None,
    rng: np.random.Generator,
) -> Selection:
    """Select edges of the optimal graph.

    Parameters
    ----------
    problem : GraphProblem
    solution : Solution
    prepared : Prepared
        The signals of the problem, in any unit.
    fdr : float, optional
        The false-discovery rate; by default the ranking is cut where the joint evidence is largest.
    rng : numpy.random.Generator
        For the test of structure.

    Returns
    -------
    Selection

    Raises
    ------
    ProblemError
        If ``fdr`` is given for more than 1000 vertices.
    """
    if fdr is not None and problem.d > REFIT_UP_TO:
        raise ProblemError(
            f"fdr needs a refit of all edges, which takes minutes for {problem.d} vertices; use "
            f"edges='auto' without it, or at most {REFIT_UP_TO} vertices."
        )
    candidates = _candidates(problem, solution, prepared)
    entries = prepared.entries
    present = None if entries.complete else entries.present
    structure = find_structure(entries.filled, prepared.clipped, rng, present)
    pairs = problem.d * (problem.d - 1) // 2
    partial = _partial(entries, candidates)
    if not structure.found:  # the pilot of independent columns is a complete graph
        z_scores = structure.z_scores(candidates.heads, candidates.tails)
        q_values = discoveries(z_scores, pairs)
        keep = q_values <= (NOISE_RATE if fdr is None else fdr)
    elif fdr is not None:
        if partial is None:
            pilot = debias(candidates, *refit(candidates, candidates.of_likelihood_scale()))
        z_scores = pilot.z_scores if partial is None else partial
        q_values = discoveries(z_scores, pairs)
        keep = q_values <= fdr
    else:
        keep, pilot = rank_and_cut(candidates)
        z_scores = pilot.z_scores if partial is None else partial
        q_values = discoveries(z_scores, pairs)
    keep |= _required(problem, candidates)
    return Selection(
        problem.d, candidates.heads[keep], candidates.tails[keep], z_scores[keep], q_values[keep],
        structure.score, structure.found, candidates.weights[~keep & (q_values <= NOISE_RATE)],
        fdr is not None or not structure.found or partial is not None or refits(candidates),
        structure.lag,
    )  # fmt: skip


def describe_selection(selection: Selection, samples: int) -> list[str]:
    """Return a remark on a table in which no structure was found."""
    if selection.found:
        return []
    kept = len(selection.heads)
    one = samples == 1
    found = {0: "No edge is selected.", 1: "1 edge is selected; it may be chance."}.get(
        kept, f"{kept} edges are selected; they may be chance."
    )
    return [
        f"No structure found: {samples} {'signal does' if one else 'signals do'} not show that "
        f"neighbours predict better than the mean. {found} More signals may help; edges='all' "
        "draws the optimal graph all the same."
    ]


def _partial(entries: Signals, candidates: Candidates) -> Array | None:
    """Return z-scores of partial correlations, if the table allows them.

    Rows that were clipped have no level, so the table is taken from before that.
    """
    if not entries.complete or candidates.d > REFIT_UP_TO:
        return None
    return partial_z_scores(entries, candidates.heads, candidates.tails)


def _candidates(problem: GraphProblem, solution: Solution, prepared: Prepared) -> Candidates:
    """Return the edges of the optimal graph between columns that change."""
    signals, edges = prepared.signals.divided(prepared.signals.unit()), solution.edges
    moving = moving_columns(prepared.entries)
    least = EDGE_THRESHOLD * 2.0 * float(edges.weights.sum()) / problem.d
    listed = (edges.weights >= least) & moving[edges.heads] & moving[edges.tails]
    if signals.complete:
        rows = signals.centred * np.sqrt(signals.shares)[:, np.newaxis]
        samples = 1.0 / float(np.sum(signals.shares**2))
    else:
        rows = np.asarray(problem.nominal.factor)
        rows = rows - rows.mean(axis=1, keepdims=True)
        samples = float(np.mean(signals.overlaps[np.triu_indices(problem.d, 1)]))
    heads, tails = edges.heads[listed].astype(np.intp), edges.tails[listed].astype(np.intp)
    incomplete = None if signals.complete else problem.nominal
    return Candidates(
        heads, tails, edges.weights[listed], rows, samples, signals.complete, incomplete
    )


def _required(problem: GraphProblem, candidates: Candidates) -> NDArray[np.bool_]:
    """Return which candidates the bounds require."""
    if problem.bounds is None:
        return np.zeros(len(candidates.heads), dtype=bool)
    bounds, d = problem.bounds, problem.d
    if isinstance(bounds, ListedBounds):
        pairs, least = bounds.heads.astype(np.int64) * d + bounds.tails, bounds.least
    else:
        heads, tails = edge_index(d)
        pairs, least = heads.astype(np.int64) * d + tails, bounds.lower
    return np.isin(candidates.heads.astype(np.int64) * d + candidates.tails, pairs[least > 0.0])
