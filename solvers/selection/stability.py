"""Measure how much edges depend on the observed signals, by refits to resampled signals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from solvers.selection.bootstrap import Seed, checked_block, draw_counts, generator
from solvers.selection.signals import Signals
from solvers.solve import solve
from wdro_cvx import GraphProblem, Solution, Status
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.validation import Array, whole_number

# A rough solution suffices: the last digits of the value do not change the set of edges.
_TOLERANCE = 1e-4


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
    for counts in draw_counts(len(signals), block, generator(seed), resamples):
        drawn = signals.take(np.repeat(np.arange(len(signals)), counts))
        nominal, _ = drawn.nominal()
        answer = solve(replace(problem, nominal=nominal), _TOLERANCE, start=start)
        if answer.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        appears = (answer.adjacency >= EDGE_THRESHOLD).astype(float)
        found = appears if found is None else found + appears
    assert found is not None
    return found / resamples
