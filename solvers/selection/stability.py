"""Measure how much edges depend on the observed signals, by refits to resampled signals."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from solvers.selection.parallel import in_processes
from solvers.selection.resampling import Seed, checked_block, draw_counts, generator
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
    n_jobs: int | None = None,
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
    n_jobs : int, optional
        The number of processes for the refits.
    """
    resamples = whole_number("resamples", resamples, 1)
    block = checked_block(block, len(signals))
    calls = (
        (signals, counts, problem, start)
        for counts in draw_counts(len(signals), block, generator(seed), resamples)
    )
    found: Array | sparse.csr_array = reduce(add, in_processes(_refit, calls, n_jobs))
    return found / resamples


def _refit(
    signals: Signals, counts: NDArray[np.int64], problem: GraphProblem, start: Solution
) -> Array | sparse.csr_array:
    """Return 1 for every edge of the graph of rows that are drawn ``counts`` times, else 0."""
    drawn = signals.take(np.repeat(np.arange(len(signals)), counts))
    nominal, _ = drawn.nominal()
    answer = solve(replace(problem, nominal=nominal), _TOLERANCE, start=start)
    if answer.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return (answer.adjacency >= EDGE_THRESHOLD).astype(float)
