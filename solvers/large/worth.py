"""Decide whether the sparse path is worth it; the dense one is faster if graphs are not sparse."""

from __future__ import annotations

from wdro_cvx import GraphProblem
from wdro_cvx.ambiguity import Atoms, Transport
from wdro_cvx.graphs.listed_bounds import ListedBounds

NEIGHBOURS = 16  # nearest neighbours of every vertex that become its first candidates
# The sparse path costs about candidates · r, the dense one d³. They break even at a ratio of about
# 1/100, and of 1/160 for the sample average, which needs no worst case.
_WORTHWHILE, _WORTHWHILE_AVERAGE = 100, 160
# Reweighed signals: a dense interior-point step costs d² times the squared number of signals.
_WORTHWHILE_WEIGHTS = 10

# The worst cases of a dense run, and the time of a sparse multiplication relative to a dense one.
_DENSE_WORST_CASES, _SPARSE_COST = 40, 12


class NotWorthwhileError(Exception):
    """The dense path would be faster, or would prove more."""


def worthwhile(problem: GraphProblem, candidates: int | None = None) -> bool:
    """Return whether the sparse path is faster with this many candidates (default: the first)."""
    d, samples = problem.d, problem.nominal.samples
    rank = d if samples is None else min(d, len(samples))
    if candidates is None:
        bounds = problem.prior.bounds
        candidates = NEIGHBOURS * d // 2
        if isinstance(bounds, ListedBounds):
            candidates = bounds.heads.size
    if isinstance(problem.structure, Atoms):  # with more signals the dense proximal steps are fast
        signals = len(problem.structure.signals)
        return signals <= d and _WORTHWHILE_WEIGHTS * candidates * signals <= d**3
    average = problem.ambiguity.radius == 0.0 or not isinstance(problem.structure, Transport)
    return (_WORTHWHILE_AVERAGE if average else _WORTHWHILE) * candidates * rank <= d**3


def most_work(problem: GraphProblem) -> float:
    """Return how many sparse multiplications take as long as all worst cases of the dense path.

    Next to λmax, conjugate gradients take many products, and the dense path is faster.
    """
    d, rank = problem.d, len(problem.nominal.factor)
    return _DENSE_WORST_CASES * (d**3 / 6 + 3 * d**2 * rank) / _SPARSE_COST
