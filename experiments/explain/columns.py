"""Three ways to choose eta and radius: as the paper may have, on other graphs, without truth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from experiments.explain.grid import COMPARED, THRESHOLDS, Condition
from experiments.explain.scores import Stack
from experiments.explain.settings import Setting, chosen
from wdro_cvx.validation import Array

#: Metric of a sentence → what is stored; learned graphs are compared at their own scale.
_FAIR = {"mcc": f"mcc {THRESHOLDS[0]:g}", "dog": "shape", "nmi": "nmi"}
_SIGN = {"mcc": 1.0, "dog": -1.0, "nmi": 1.0}
#: Trials by kind of graph, at one scale.
ByKind = Mapping[str, Stack]


class Column(ABC):
    """A way to choose; gives the score of every fresh graph."""

    name: ClassVar[str]

    @abstractmethod
    def scores(self, kind: str, condition: Condition, model: str, metric: str) -> Array | None:
        """Return one score for every graph, None where this way of choosing was not tried."""


@dataclass(frozen=True)
class Fitted(Column):
    """The paper's own way at the best-fitting setting: by the truth of the graphs it is scored on.

    Everything has the same eta, SAA too.
    """

    name: ClassVar[str] = "fitted setting"
    stacks: ByKind
    setting: Setting

    def scores(self, kind: str, condition: Condition, model: str, metric: str) -> Array:
        """Return the scores at the radius with the largest MCC, or NMI for Table 3's setting."""
        tuned = self.setting.tuned if metric == "nmi" else "mcc"
        return chosen(self.stacks[kind], self.setting, condition, model, metric, tuned)


@dataclass(frozen=True)
class Tuned(Column):
    """Eta and radius of every model tuned on other graphs, by the metric that is scored."""

    name: ClassVar[str] = "tuned on other graphs"
    training: ByKind
    stacks: ByKind

    def scores(self, kind: str, condition: Condition, model: str, metric: str) -> Array:
        """Return the scores at the pair that was best on the training graphs."""
        place, found = self.choose(kind, condition, model, metric)
        return found[:, place[0], place[1]]

    def choose(
        self, kind: str, condition: Condition, model: str, metric: str
    ) -> tuple[tuple[int, int], Array]:
        """Return the places of eta and radius, and the scores that they are chosen from."""
        name = _FAIR[metric]
        found = self.stacks[kind].of(condition, model, name)
        before = self.training[kind].of(condition, model, name).mean(axis=0)
        signed = np.where(np.isnan(found[0]), -np.inf, _SIGN[metric] * before)
        row, column = np.unravel_index(int(signed.argmax()), signed.shape)
        return (int(row), int(column)), found


@dataclass(frozen=True)
class Blind(Column):
    """Eta and radius chosen for every graph by its neighbour error on signals left out."""

    name: ClassVar[str] = "without truth"
    stacks: ByKind

    def scores(self, kind: str, condition: Condition, model: str, metric: str) -> Array | None:
        """Return the scores at the pair with the smallest error."""
        if model not in COMPARED:
            return None
        stack = self.stacks[kind]
        graphs = np.arange(stack.graphs)
        errors = stack.of(condition, model, "blind").reshape(stack.graphs, -1)
        found = stack.of(condition, model, _FAIR[metric]).reshape(stack.graphs, -1)
        return np.asarray(found[graphs, np.nanargmin(errors, axis=1)])
