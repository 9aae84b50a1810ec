"""The scores of many graphs, stacked: by condition, model and metric, over graph, eta, radius."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from experiments.measuring.store import Row
from experiments.studies.explain.grid import ETAS, Condition
from wdro_cvx.validation import Array


@dataclass(frozen=True)
class Stack:
    """What one kind of graph scored at one scale."""

    rows: Sequence[Row]
    _arrays: dict[tuple[Condition, str, str], Array] = field(default_factory=dict, repr=False)

    def of(self, condition: Condition, model: str, metric: str) -> Array:
        """Return scores, one axis each for graphs, etas and radii."""
        key = condition, model, metric
        if key not in self._arrays:  # a search asks for each of them a thousand times
            lines = [row["scores"][condition.key][model][metric] for row in self.rows]
            self._arrays[key] = np.array(lines, dtype=float)
        return self._arrays[key]

    def at(self, condition: Condition, model: str, metric: str, eta: float) -> Array:
        """Return scores at one eta, one axis each for graphs and radii."""
        return self.of(condition, model, metric)[:, ETAS.index(eta)]

    @property
    def graphs(self) -> int:
        """How many graphs there are."""
        return len(self.rows)

    @property
    def unsolved(self) -> int:
        """How many answers the judge did not call solved."""
        return int(sum(row["unsolved"] for row in self.rows))
