"""Measure how much edges depend on the observed signals, by refits to resampled signals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from solvers.many import solve_many
from solvers.selection.bootstrap import Seed, checked_block, draw_counts, generator
from solvers.selection.signals import Signals
from wdro_cvx import GraphProblem, Solution
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.validation import Array, whole_number

# A rough solution suffices: the last digits of the value do not change the set of edges.
_TOLERANCE = 1e-4
_NUMBERS = 2**22  # numbers in the tables of resamples that are solved together


def edge_shares(
    signals: Signals,
    problem: GraphProblem,
    start: Solution,
    resamples: int,
    block: int = 1,
    seed: Seed = 0,
) -> Array | sparse.csr_array:
    """Return, for every edge, the share of resamples whose graph contains it.

    Parameters
    ----------
    signals : Signals
    problem : GraphProblem
        The problem of all signals; refits keep its set, radius and prior.
    start : Solution
        Its solution; all refits start from it.
    resamples : int
    block : int
        Rows are drawn in runs of this length.
    seed : int or generator
    """
    resamples = whole_number("resamples", resamples, 1)
    block = checked_block(block, len(signals))
    found: Array | sparse.csr_array | None = None
    drawn = draw_counts(len(signals), block, generator(seed), resamples)
    size = max(_NUMBERS // (len(signals) * signals.d), 1)
    for first in range(0, resamples, size):
        problems = [_redrawn(signals, problem, counts) for counts in drawn[first : first + size]]
        for answer in solve_many(problems, _TOLERANCE, starts=[start] * len(problems)):
            appears = (answer.adjacency >= EDGE_THRESHOLD).astype(float)
            found = appears if found is None else found + appears
    assert found is not None
    return found / resamples


def _redrawn(signals: Signals, problem: GraphProblem, counts: NDArray[np.int64]) -> GraphProblem:
    """Return the problem of signals that are counted so often."""
    nominal, _ = signals.take(np.repeat(np.arange(len(signals)), counts)).nominal()
    return replace(problem, nominal=nominal)
