"""Measure how much edges depend on the observed signals, by refits to resampled signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from solvers.many import solve_many
from solvers.selection.parallel import in_processes
from solvers.selection.resampling import Seed, checked_block, draw_counts, generator
from solvers.selection.signals import Signals
from wdro_cvx import GraphProblem, Solution
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.validation import Array, whole_number

# A rough solution suffices: the last digits of the value do not change the set of edges.
_TOLERANCE = 1e-4
_NUMBERS = 2**22  # numbers in the tables of resamples that are solved together
# The most resamples that are solved together; other processes solve others. It does not depend on
# the number of processes, so that the answers do not either.
_TOGETHER = 25
_REMEDY = "More rows, or fewer resamples, make this less likely."


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
    drawn = draw_counts(len(signals), block, generator(seed), resamples)
    size = min(max(_NUMBERS // (len(signals) * signals.d), 1), _TOGETHER)
    calls = (
        (signals, drawn[first : first + size], problem, start)
        for first in range(0, resamples, size)
    )
    found: Array | sparse.csr_array = reduce(add, in_processes(_refits, calls, n_jobs))
    return found / resamples


def _refits(
    signals: Signals, draws: Sequence[NDArray[np.int64]], problem: GraphProblem, start: Solution
) -> Array | sparse.csr_array:
    """Return how many of the graphs of redrawn rows contain each edge."""
    problems = [_redrawn(signals, problem, counts) for counts in draws]
    answers = solve_many(problems, _TOLERANCE, starts=[start] * len(problems))
    found: Array | sparse.csr_array = reduce(
        add, ((answer.adjacency >= EDGE_THRESHOLD).astype(float) for answer in answers)
    )
    return found


def _redrawn(signals: Signals, problem: GraphProblem, counts: NDArray[np.int64]) -> GraphProblem:
    """Return the problem of rows that are drawn ``counts`` times."""
    rows = np.repeat(np.arange(len(signals)), counts)
    nominal = signals.nominal_of(
        rows, f"A resample, {np.count_nonzero(counts)} of {len(signals)} rows,", _REMEDY
    )
    return replace(problem, nominal=nominal)
