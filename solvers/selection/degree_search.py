"""Search the strength of a prior at which a graph has a given number of neighbours."""

from __future__ import annotations

import math

# "About k" means within this share of k, or within half an edge of the whole graph.
_ABOUT = 0.01
_NARROW = 1e-4  # a bracket this narrow, in logarithms, contains a jump of the count
_FIRST_STEP = math.log(4.0)
_LONGEST_STEP = math.log(256.0)
_FARTHEST = math.log(1e12)  # from the first guess
# Robust graphs keep edges however weak the prior is. The search ends after a step this long that
# removes less than this share of them: weaker priors give similar graphs and harder problems.
_LONG_STEP, _SHED = math.log(100.0), 0.01


class DegreeSearch:
    """False position in the logarithms of strength and count, safeguarded by bisection.

    Attributes
    ----------
    place : float
        The logarithm of the strength to try next.
    seen : list of (place, count)
    done : bool
        Whether nothing is left to try.
    stuck : bool
        Whether the search ended because the target is out of reach.
    """

    def __init__(self, target: float, place: float, half_edge: float) -> None:
        self.target, self.place = target, place
        self.slack = max(_ABOUT * target, half_edge)
        self.seen: list[tuple[float, float]] = []
        self.done = self.stuck = False
        self._below: tuple[float, float] | None = None
        self._above: tuple[float, float] | None = None
        self._step, self._turns = _FIRST_STEP, 0

    def tell(self, count: float) -> None:
        """Record the number of neighbours at ``place``, and choose the next place."""
        self.seen.append((self.place, count))
        if abs(count - self.target) <= self.slack:
            self.done = True
            return
        if count < self.target:
            self._below = self.place, count
        else:
            self._above = self.place, count
        if self._below is not None and self._above is not None:
            self._inside(self._below, self._above)
        else:
            self._outside()

    def _inside(self, below: tuple[float, float], above: tuple[float, float]) -> None:
        low, high = below[0], above[0]
        self._turns += 1
        if abs(high - low) <= _NARROW:
            self.done = True
            return
        share = 0.5
        if self._turns % 3:  # every third step bisects, so the bracket shrinks
            counts = (max(below[1], 1e-3 * self.target), above[1])
            share = math.log(self.target / counts[0]) / math.log(counts[1] / counts[0])
        self.place = low + min(max(share, 0.05), 0.95) * (high - low)

    def _outside(self) -> None:
        place, count = self.seen[-1]
        if len(self.seen) > 1:
            before, more = self.seen[-2]
            shed = before - place > _LONG_STEP and more - count <= _SHED * count
            if shed or abs(place - self.seen[0][0]) > _FARTHEST:
                self.done = self.stuck = True
                return
        self.place += self._step if self._below is not None else -self._step
        self._step = min(2 * self._step, _LONGEST_STEP)
