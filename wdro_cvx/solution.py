"""What a formulation or a solver returns: its answer, its claim and the evidence for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from wdro_cvx.validation import Array


class Status(Enum):
    """What a method says of its own answer; whether it is so is for ``judge`` to say."""

    SOLVED = "solved"
    INACCURATE = "inaccurate"
    ITERATION_LIMIT = "iteration limit"
    TIME_LIMIT = "time limit"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, eq=False)
class Certificate:
    """Evidence for a lower bound, which :func:`wdro_cvx.judge` verifies and recomputes.

    Attributes
    ----------
    second_moment : array (d, d)
        A second moment in the ambiguity set: the optimum is at least that of the sample-average
        problem for this moment.
    degree_multipliers : array (d,) or None
        ν of the constraint ``u = Aw``; the judge takes ``2η·deg(L)`` where there is none.
    trace_multiplier : float or None
        τ of the trace constraint, for information: the judge finds the best one itself.
    """

    second_moment: Array
    degree_multipliers: Array | None = None
    trace_multiplier: float | None = None


def relative_gap(value: float, bound: float) -> float:
    """Return ``(value - bound)`` relative to the larger of the two in size."""
    scale = max(abs(value), abs(bound))
    if not np.isfinite(scale):
        return np.inf
    return (value - bound) / scale if scale > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class Solution:
    """An answer.

    Attributes
    ----------
    laplacian : array (d, d)
    value : float
        The objective as the method computed it.
    status : Status
        The method's own claim.
    bound : float
        A lower bound of the optimum, where the method has one; ``-inf`` otherwise.
    iterations : int
    multiplier : float
        γ, the dual variable of the radius; NaN where the method has none.
    certificate : Certificate or None
    build_s, compile_s, solve_s : float
        Seconds spent on stating the model, on turning it into the solver's form, and on solving.
    history : sequence of mappings
        One entry per iteration for methods that record it.
    """

    laplacian: Array
    value: float
    status: Status
    bound: float = -np.inf
    iterations: int = 0
    multiplier: float = np.nan
    certificate: Certificate | None = None
    build_s: float = 0.0
    compile_s: float = 0.0
    solve_s: float = 0.0
    history: Sequence[Mapping[str, float]] = field(default=(), repr=False)

    @property
    def gap(self) -> float:
        """The relative gap between ``value`` and ``bound``; infinite without a bound."""
        return relative_gap(self.value, self.bound)

    @property
    def total_s(self) -> float:
        """Seconds from statement to answer."""
        return self.build_s + self.compile_s + self.solve_s
