"""Whether the sparse path is worth it: the dense one is faster where graphs are not sparse."""

from __future__ import annotations

from wdro_cvx import GraphProblem
from wdro_cvx.graphs.listed_bounds import ListedBounds

NEIGHBOURS = 16  # of every vertex, which are its first candidates
# Costs of candidates are to d × d algebra as (candidates · r) to d³. Measured: even at 1/40, and
# where no worst case has to be found at 1/160.
_WORTHWHILE, _WORTHWHILE_AVERAGE = 40, 160


class NotWorthwhileError(Exception):
    """The dense path would be faster, or would prove more."""


def worthwhile(problem: GraphProblem, candidates: int | None = None) -> bool:
    """Say whether so many candidates, at the start if none are named, beat the dense path."""
    d, samples = problem.d, problem.nominal.samples
    rank = d if samples is None else min(d, len(samples))
    if candidates is None:
        bounds = problem.prior.bounds
        candidates = NEIGHBOURS * d // 2
        if isinstance(bounds, ListedBounds):
            candidates = bounds.heads.size
    average = problem.ambiguity.radius == 0.0
    return (_WORTHWHILE_AVERAGE if average else _WORTHWHILE) * candidates * rank <= d**3
