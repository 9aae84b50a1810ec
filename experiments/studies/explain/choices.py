"""Choose eta and radius in three ways: as in the paper, on other graphs, without the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from experiments.figures.learning import GENERAL, SAA, SIMILARITY, Condition
from experiments.figures.statements import Choice
from experiments.studies.explain.settings import Setting, Stack, chosen
from experiments.studies.explain.trial import MODELS, NOISES, SIZES
from wdro_cvx.validation import Array

#: Metric of a statement → metric of a trial, which compares learned graphs at their own scale.
_FAIR = {"mcc": "mcc", "dog": "shape", "nmi": "nmi"}
_SIGN = {"mcc": 1.0, "dog": -1.0, "nmi": 1.0}
_REDRAWS = 50
#: Trials by kind of graph, at one scale.
ByKind = Mapping[str, Stack]


class OnStacks(Choice):
    """A way to choose among the candidates of stored trials."""

    any_eta = True
    sizes = SIZES
    noises = NOISES


@dataclass(frozen=True)
class Fitted(OnStacks):
    """Choose as the paper does, at one setting: one eta, the radius by the scored graphs' truth."""

    name = "fitted setting"
    any_eta = False
    stacks: ByKind
    setting: Setting

    def scores(self, kind: str, condition: Condition, model: str, metric: str) -> Array:
        """Return the scores at the radius that is best by the setting's metric."""
        tuned = self.setting.tuned if metric == "nmi" else "mcc"
        return chosen(self.stacks[kind], self.setting, condition, model, metric, tuned)

    def by_norm(self, condition: Condition, model: str) -> Array:
        """Return MCC as in Table 2."""
        return self.scores(SIMILARITY, condition, model, "mcc")

    def curve(self, model: str, n: int, metric: str) -> tuple[Sequence[float], Array]:
        """Return radii and scores at the fitted eta."""
        found = self.stacks[SIMILARITY].at(Condition(n), model, metric, self.setting.eta)
        return MODELS[model].radii, found


@dataclass(frozen=True)
class Tuned(OnStacks):
    """Choose eta and radius of every model on other graphs, by the metric that is scored.

    Norms are compared at one ``eta``, each at its own radius.
    """

    name = "tuned on other graphs"
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

    def redrawn(self) -> list[Choice]:
        """Return the same choice made on resampled training graphs."""
        rng = np.random.default_rng(0)
        return [
            replace(self, training={kind: s.resampled(rng) for kind, s in self.training.items()})
            for _ in range(_REDRAWS)
        ]

    def by_norm(self, condition: Condition, model: str) -> Array:
        """Return MCC at the radius that was best on the training graphs, at one eta."""
        fresh, before = (
            group[SIMILARITY].at(condition, model, _FAIR["mcc"], self.eta)
            for group in (self.stacks, self.training)
        )
        return np.asarray(fresh[:, int(before.mean(axis=0).argmax())])


@dataclass(frozen=True)
class Blind(OnStacks):
    """Choose eta and radius for every graph by its neighbour error on held-out signals."""

    name = "without truth"
    stacks: ByKind

    def scores(self, kind: str, condition: Condition, model: str, metric: str) -> Array:
        """Return the scores at the candidate with the smallest error."""
        stack = self.stacks[kind]
        errors = candidates(stack, condition, model, "blind")
        found = candidates(stack, condition, model, _FAIR[metric])
        return np.asarray(found[np.arange(stack.graphs), np.nanargmin(errors, axis=1)])


def candidates(stack: Stack, condition: Condition, model: str, metric: str) -> Array:
    """Return an array of graphs by candidates (etas and radii).

    SAA's candidates include p = 2, which is SAA with larger etas.
    """
    models = (SAA, GENERAL) if model in (SAA, GENERAL) else (model,)
    parts = [stack.of(condition, name, metric).reshape(stack.graphs, -1) for name in models]
    return np.concatenate(parts, axis=1)
