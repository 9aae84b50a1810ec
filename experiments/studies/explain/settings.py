"""Search the settings that the paper leaves open for those that fit its tables best."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.figures.learning import BLOCKS, PRINTED, SIMILARITY, Condition
from experiments.measuring.store import Row
from experiments.studies.explain.trial import CAPS, ETAS, MODELS, SCALES, stored
from wdro_cvx.validation import Array

Draw = NDArray[np.intp] | slice
_RESAMPLES = 100


@dataclass(frozen=True)
class Stack:
    """The scores of all graphs of one kind at one scale."""

    rows: Sequence[Row]
    _arrays: dict[tuple[Condition, str, str], Array] = field(default_factory=dict, repr=False)

    def of(self, condition: Condition, model: str, metric: str) -> Array:
        """Return an array of graphs by etas by radii."""
        key = condition, model, metric
        if key not in self._arrays:  # a search reads each array a thousand times
            lines = [row["scores"][condition.key][stored(model)][metric] for row in self.rows]
            self._arrays[key] = np.array(lines, dtype=float)
        return self._arrays[key]

    def at(self, condition: Condition, model: str, metric: str, eta: float) -> Array:
        """Return an array of graphs by radii at one eta."""
        return self.of(condition, model, metric)[:, ETAS.index(eta)]

    def resampled(self, rng: np.random.Generator) -> Stack:
        """Return a bootstrap sample of the graphs."""
        return Stack([self.rows[place] for place in rng.integers(self.graphs, size=self.graphs)])

    @property
    def graphs(self) -> int:
        """The number of graphs."""
        return len(self.rows)

    @property
    def unsolved(self) -> int:
        """The number of answers that the judge did not certify."""
        return int(sum(row["unsolved"] for row in self.rows))


#: Trials by kind of graph and scale.
Stacks = Mapping[tuple[str, str], Stack]


@dataclass(frozen=True)
class Setting:
    """Values of the settings that the paper does not state.

    Attributes
    ----------
    scale : str
        The scale of the true graph from which signals are drawn.
    eta : float
    cap : float
        The largest candidate for ε, the same for all norms.
    per : str
        Whether ε is chosen once for all trials (``setting``) or for each ``trial``.
    tuned : str
        The metric by which ε is chosen for Table 3.
    """

    scale: str
    eta: float
    cap: float
    per: str
    tuned: str

    def __str__(self) -> str:
        """Return the setting in words."""
        reach = "each norm at its own scale" if np.isinf(self.cap) else f"up to {self.cap:g}"
        truth = "scaled to Tr L = d" if self.scale == "scaled" else "with raw weights"
        return (
            f"η = {self.eta:g}, true graphs {truth}, candidates for ε {reach}, ε chosen for each "
            f"{self.per}, Table 3 tuned by {self.tuned.upper()}"
        )


@dataclass(frozen=True)
class Fit:
    """The root mean square distance of a setting from the printed values, and its standard error.

    ``behind`` is the difference from the best setting and ``doubt`` its standard error over
    resampled graphs.
    """

    setting: Setting
    table_2: float
    table_3: float
    both: float
    error: float
    behind: float
    doubt: float


def all_settings() -> list[Setting]:
    """Return every combination of values."""
    choices = (SCALES, ETAS, CAPS, ("setting", "trial"), ("mcc", "nmi"))
    return [Setting(*values) for values in itertools.product(*choices)]


def pick(tune: Array, score: Array, per: str) -> Array:
    """Return the score of every graph at the radius where ``tune`` is largest."""
    if per == "trial":
        return score[np.arange(len(score)), tune.argmax(axis=1)]
    return np.asarray(score[:, int(tune.mean(axis=0).argmax())])


def chosen(
    stack: Stack, setting: Setting, condition: Condition, model: str, score: str, tuned: str
) -> Array:
    """Return the score of every graph as the paper would report it at the given setting."""
    return pick(*_tuned_and_scored(stack, setting, condition, model, score, tuned), setting.per)


def _tuned_and_scored(
    stack: Stack, setting: Setting, condition: Condition, model: str, score: str, tuned: str
) -> tuple[Array, Array]:
    """Return the tuning metric and the scored one, both as arrays of graphs by allowed radii."""
    allowed = np.array(MODELS[stored(model)].radii) <= setting.cap
    tune, found = (
        stack.at(condition, model, name, setting.eta)[:, allowed] for name in (tuned, score)
    )
    return tune, found


def search(stacks: Stacks, rng: np.random.Generator) -> list[Fit]:
    """Return the fits of all settings, best first."""
    draws: dict[str, list[Draw]] = {}
    for kind in (SIMILARITY, BLOCKS):
        graphs = stacks[kind, SCALES[0]].graphs
        draws[kind] = [slice(None), *rng.integers(0, graphs, (_RESAMPLES, graphs))]
    first: dict[Setting, Array] = {}
    second: dict[Setting, Array] = {}
    settings = all_settings()
    for setting in settings:
        one = replace(setting, tuned="mcc")  # Table 2 does not depend on the tuning of Table 3
        if one not in first:
            stack = stacks[SIMILARITY, setting.scale]
            first[one] = _squares(stack, one, SIMILARITY, "mcc", "mcc", draws[SIMILARITY])
        stack = stacks[BLOCKS, setting.scale]
        second[setting] = _squares(stack, setting, BLOCKS, "nmi", setting.tuned, draws[BLOCKS])
        first[setting] = first[one]
    weights = [len(PRINTED[kind]) for kind in (SIMILARITY, BLOCKS)]
    both = {
        s: np.sqrt(np.average([first[s], second[s]], axis=0, weights=weights)) for s in settings
    }
    best = min(settings, key=lambda setting: float(both[setting][0]))
    fits = []
    for setting in settings:
        behind = both[setting] - both[best]
        fits.append(
            Fit(
                setting, float(np.sqrt(first[setting][0])), float(np.sqrt(second[setting][0])),
                float(both[setting][0]), float(both[setting][1:].std()),
                float(behind[0]), float(behind[1:].std()),
            )
        )  # fmt: skip
    return sorted(fits, key=lambda fit: fit.both)


def identified(settings: Sequence[Setting]) -> dict[str, list[Any]]:
    """Return the values that settings have for every choice that the paper leaves open."""
    names = [option.name for option in fields(Setting)]
    return {name: sorted({getattr(setting, name) for setting in settings}) for name in names}


def _squares(
    stack: Stack, setting: Setting, kind: str, score: str, tuned: str, draws: Sequence[Draw]
) -> Array:
    """Return the mean squared difference from the printed cells, for every draw of graphs."""
    total = np.zeros(len(draws))
    for (n, model), value in PRINTED[kind].items():
        tune, found = _tuned_and_scored(stack, setting, Condition(n), model, score, tuned)
        means = [float(pick(tune[draw], found[draw], setting.per).mean()) for draw in draws]
        total += (np.array(means) - value) ** 2
    return total / len(PRINTED[kind])
