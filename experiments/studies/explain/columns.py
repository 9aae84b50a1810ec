"""Three ways to choose eta and radius: as the paper may have, on other graphs, without truth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from experiments.studies.explain.grid import GENERAL, SAA, SIMILARITY, THRESHOLDS, Condition
from experiments.studies.explain.scores import Stack
from experiments.studies.explain.settings import Setting, chosen
from wdro_cvx.validation import Array

#: Metric of a sentence → what is stored; learned graphs are compared at their own scale.
_FAIR = {"mcc": f"mcc {THRESHOLDS[0]:g}", "dog": "shape", "nmi": "nmi"}
_SIGN = {"mcc": 1.0, "dog": -1.0, "nmi": 1.0}
#: Trials by kind of graph, at one scale.
ByKind = Mapping[str, Stack]


class Column(ABC):
    """A way to choose; gives the score of every fresh graph."""

    name: ClassVar[str]
    #: Whether SAA may have any eta. Then the general scenario (p = 2) *is* SAA, by the ledger's
    #: claim "p = 2": its graphs are those of SAA with a larger eta.
    any_eta: ClassVar[bool] = True

    @abstractmethod
    def scores(self, kind: str, condition: Condition, model: str, metric: str) -> Array:
        """Return one score for every graph."""

    @abstractmethod
    def by_norm(self, condition: Condition, model: str) -> Array | None:
        """Return MCC where only the norm differs, as in Table 2; None if it was not tried."""


@dataclass(frozen=True)
class Fitted(Column):
    """The paper's own way at the best-fitting setting: by the truth of the graphs it is scored on.

    Everything has the same eta, SAA too.
    """

    name: ClassVar[str] = "fitted setting"
    any_eta: ClassVar[bool] = False
    stacks: ByKind
    setting: Setting

    def scores(self, kind: str, condition: Condition, model: str, metric: str) -> Array:
        """Return the scores at the radius with the largest MCC, or NMI for Table 3's setting."""
        tuned = self.setting.tuned if metric == "nmi" else "mcc"
        return chosen(self.stacks[kind], self.setting, condition, model, metric, tuned)

    def by_norm(self, condition: Condition, model: str) -> Array:
        """Return MCC as Table 2 has it."""
        return self.scores(SIMILARITY, condition, model, "mcc")


@dataclass(frozen=True)
class Tuned(Column):
    """Eta and radius of every model tuned on other graphs, by the metric that is scored.

    Norms are compared at one ``eta``, each at its own radius.
    """

    name: ClassVar[str] = "tuned on other graphs"
    training: ByKind
    stacks: ByKind
    eta: float

    def scores(self, kind: str, condition: Condition, model: str, metric: str) -> Array:
        """Return the scores at the candidate that was best on the training graphs."""
        name = _FAIR[metric]
        fresh = candidates(self.stacks[kind], condition, model, name)
        before = candidates(self.training[kind], condition, model, name).mean(axis=0)
        signed = np.where(np.isnan(fresh[0]), -np.inf, _SIGN[metric] * before)
        return np.asarray(fresh[:, int(signed.argmax())])

    def by_norm(self, condition: Condition, model: str) -> Array:
        """Return MCC at the radius that was best on the training graphs, at one eta."""
        fresh, before = (
            group[SIMILARITY].at(condition, model, _FAIR["mcc"], self.eta)
            for group in (self.stacks, self.training)
        )
        return np.asarray(fresh[:, int(before.mean(axis=0).argmax())])


@dataclass(frozen=True)
class Blind(Column):
    """Eta and radius chosen for every graph by its neighbour error on signals left out."""

    name: ClassVar[str] = "without truth"
    stacks: ByKind

    def scores(self, kind: str, condition: Condition, model: str, metric: str) -> Array:
        """Return the scores at the candidate with the smallest error."""
        stack = self.stacks[kind]
        errors = candidates(stack, condition, model, "blind")
        found = candidates(stack, condition, model, _FAIR[metric])
        return np.asarray(found[np.arange(stack.graphs), np.nanargmin(errors, axis=1)])

    def by_norm(self, condition: Condition, model: str) -> None:
        """Return nothing: norms were not tried without truth."""
        return


def candidates(stack: Stack, condition: Condition, model: str, metric: str) -> Array:
    """Return the scores of all etas and radii of a model, one row for every graph.

    SAA's include those of p = 2, which are SAA's with larger etas than the list has.
    """
    models = (SAA, GENERAL) if model in (SAA, GENERAL) else (model,)
    parts = [stack.of(condition, name, metric).reshape(stack.graphs, -1) for name in models]
    return np.concatenate(parts, axis=1)
