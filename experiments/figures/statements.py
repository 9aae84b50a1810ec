"""Test the paper's statements about Figures 3 to 6 and Tables 2 and 3 for any way of choosing.

The graph is the unit of every test. Differences are paired and averaged over a graph's conditions;
standard errors are over graphs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from experiments.figures.learning import (
    BLOCKS,
    GAUSSIAN,
    GENERAL,
    NOISE_N,
    NORMS,
    PRINTED,
    RELIABILITY_N,
    SAA,
    SIMILARITY,
    TABLE_2_SIZES,
    TABLE_3_SIZES,
    Condition,
)
from experiments.measuring.text import markdown_table
from wdro_cvx.validation import Array

HOLDS, FAILS, OPEN, SAME, NOT_TRIED = "holds", "fails", "open", "the same", "–"
#: A difference counts when it is this many standard errors from zero.
SIGNIFICANT = 2.0
_RELIABLE = 0.99
_PAPER_TRIALS = 20
_RESAMPLES = 500
_CERTAIN = 0.975  # share of resamples in which a best radius must fall or rise
_LOW_NOISE = 0.4  # the paper: below 0.5
#: Numbers of samples up to which N is small, and from which it is large, by kind of graph.
_SMALL_LARGE = {SIMILARITY: (50, 500), BLOCKS: (150, 500)}
ROBUST = (GAUSSIAN, GENERAL)


class NotTriedError(Exception):
    """A way of choosing does not have the scores that a statement needs."""


class Choice(ABC):
    """A way to choose eta and radius, and the resulting score of every graph.

    Attributes
    ----------
    name : str
    any_eta : bool
        Whether SAA may use any eta. If so, the general scenario with p = 2 *is* SAA: its graphs are
        those of SAA with a larger eta (`wdro propositions`).
    sizes, noises : sequences
        Numbers of samples and levels of noise for which similarity graphs were learned.
    """

    name: str
    any_eta: bool
    sizes: Sequence[int]
    noises: Sequence[float]

    @abstractmethod
    def scores(self, kind: str, condition: Condition, model: str, metric: str) -> Array:
        """Return one score for every graph."""

    def redrawn(self) -> list[Choice]:
        """Return the same choice made on other draws of the graphs that it uses, if it uses any."""
        return []

    def by_norm(self, condition: Condition, model: str) -> Array:
        """Return MCC with only the norm varied, as in Table 2; SAA stands for p = ∞."""
        raise NotTriedError

    def curve(self, model: str, n: int, metric: str) -> tuple[Sequence[float], Array]:
        """Return radii, and scores as an array of graphs by radii, at one eta."""
        raise NotTriedError


@dataclass(frozen=True)
class Finding:
    """A verdict and the numbers behind it.

    ``value`` and ``error`` are the difference that was judged, if there is one. ``parts`` are named
    findings that were judged together. ``words`` is further evidence.
    """

    verdict: str
    words: str = ""
    value: float = math.nan
    error: float = math.nan
    parts: Mapping[str, Finding] = field(default_factory=dict)

    @property
    def evidence(self) -> str:
        """The numbers in words."""
        told = [f"{name}: {part.evidence}" for name, part in self.parts.items()]
        if math.isfinite(self.value):
            told.append(f"{self.value:+.3f} ± {self.error:.3f}")
        return "; ".join([*told, *([self.words] if self.words else [])])


@dataclass(frozen=True)
class Check:
    """A statement of the paper with its test.

    ``model`` is the model that the statement compares with SAA, empty for other statements.
    """

    place: str
    text: str
    test: Callable[..., Finding]
    model: str = ""

    @property
    def name(self) -> str:
        """The place and the text of the statement."""
        return f"{self.place}: {self.text}"

    def on(self, choice: Choice) -> Finding:
        """Return the verdict under a way of choosing."""
        if self.model == GENERAL and choice.any_eta:
            return Finding(SAME, "p = 2 is SAA with a larger η")
        try:
            found = self.test(choice)
        except NotTriedError:
            return Finding(NOT_TRIED)
        return widened(found, [self.test(other) for other in choice.redrawn()])


def judged(difference: Array, words: str = "") -> Finding:
    """Return whether a difference is positive, as the paper states, by two standard errors."""
    error = difference.std(ddof=1) / np.sqrt(difference.size)
    return _ruled(float(difference.mean()), float(error), words)


def _ruled(value: float, error: float, words: str) -> Finding:
    signed = HOLDS if value > 0 else FAILS
    return Finding(signed if abs(value) > SIGNIFICANT * error else OPEN, words, value, error)


def all_of(parts: Mapping[str, Finding], words: str = "") -> Finding:
    """Return whether all differences are positive; one negative difference refutes this."""
    verdicts = {finding.verdict for finding in parts.values()}
    verdict = FAILS if FAILS in verdicts else HOLDS if verdicts == {HOLDS} else OPEN
    return Finding(verdict, words, parts=parts)


def widened(found: Finding, others: Sequence[Finding]) -> Finding:
    """Return a finding whose errors include how its value varies over other draws."""
    if not others:
        return found
    if found.parts:
        parts = {
            name: widened(part, [other.parts[name] for other in others])
            for name, part in found.parts.items()
        }
        return all_of(parts, found.words)
    if not math.isfinite(found.value):
        return found
    spread = float(np.std([other.value for other in others], ddof=1))
    return _ruled(found.value, math.hypot(found.error, spread), found.words)


def gain(choice: Choice, kind: str, model: str, metric: str, conditions: list[Condition]) -> Array:
    """Return a model's improvement over SAA for every graph, averaged over conditions."""
    sign = -1.0 if metric == "dog" else 1.0
    parts = []
    for condition in conditions:
        ours, theirs = (choice.scores(kind, condition, name, metric) for name in (model, SAA))
        parts.append(sign * (ours - theirs))
    return np.asarray(np.mean(parts, axis=0))


def _sizes(choice: Choice, kind: str) -> tuple[list[Condition], list[Condition]]:
    """Return the conditions with few samples and those with many."""
    small, large = _SMALL_LARGE[kind]
    sizes = choice.sizes if kind == SIMILARITY else TABLE_3_SIZES
    return [Condition(n) for n in sizes if n <= small], [Condition(n) for n in sizes if n >= large]


def _better(choice: Choice, kind: str, model: str, metric: str) -> Finding:
    return judged(gain(choice, kind, model, metric, _sizes(choice, kind)[0]))


def _shrinks(choice: Choice, kind: str, model: str, metric: str) -> Finding:
    few, many = (gain(choice, kind, model, metric, part) for part in _sizes(choice, kind))
    return judged(few - many, f"{few.mean():+.3f} → {many.mean():+.3f}")


def _saa_improves(choice: Choice) -> Finding:
    sizes = (min(choice.sizes), max(choice.sizes))
    first, last = (choice.scores(SIMILARITY, Condition(n), SAA, "mcc") for n in sizes)
    return judged(last - first)


def _drop(choice: Choice, model: str, metric: str, noise: float) -> tuple[Array, Array]:
    """Return by how much noise lowers a score, and the score without noise."""
    before = choice.scores(SIMILARITY, Condition(NOISE_N), model, metric)
    after = choice.scores(SIMILARITY, Condition(NOISE_N, noise), model, metric)
    return before - after, before


def _milder(choice: Choice, model: str) -> Finding:
    ours, theirs = (_drop(choice, name, "mcc", _LOW_NOISE)[0] for name in (model, SAA))
    return judged(theirs - ours, f"falls by {ours.mean():.3f}, SAA by {theirs.mean():.3f}")


def _better_in_noise(choice: Choice, model: str) -> Finding:
    levels = [Condition(NOISE_N, noise) for noise in choice.noises]
    return all_of({
        f"σ = {level.noise:g}": judged(gain(choice, SIMILARITY, model, "mcc", [level]))
        for level in levels
    })  # fmt: skip


def _dog_suffers_less(choice: Choice) -> Finding:
    harm = {}
    for metric, sign in (("mcc", 1.0), ("dog", -1.0)):  # a larger DOG is worse
        fall, before = _drop(choice, GAUSSIAN, metric, choice.noises[-1])
        harm[metric] = sign * fall / before.mean()
    evidence = f"MCC worse by {harm['mcc'].mean():.0%}, DOG by {harm['dog'].mean():.0%}"
    return judged(harm["mcc"] - harm["dog"], evidence)


def _larger_norm_better(choice: Choice) -> Finding:
    known = {model: _over_sizes(choice, model) for model in NORMS}
    best = max(known, key=lambda model: float(known[model].mean()))
    others = {"p = 4 over 1": "p = 1", "over 3/2": "p = 3/2", "over 2": "p = 2"}
    parts = {name: judged(known["p = 4"] - known[other]) for name, other in others.items()}
    return all_of(parts, f"best: {best}")


def _infinity_worse(choice: Choice) -> Finding:
    return judged(_over_sizes(choice, "p = 4") - _over_sizes(choice, SAA))


def _over_sizes(choice: Choice, model: str) -> Array:
    """Return the MCC of every graph, averaged over the sample sizes of Table 2."""
    found = [choice.by_norm(Condition(n), model) for n in TABLE_2_SIZES]
    return np.asarray(np.mean(found, axis=0))


def _values(choice: Choice, kind: str) -> Finding:
    """Compare a table with its printed values, allowing for the sampling errors of both."""
    if choice.any_eta:  # the paper had one
        raise NotTriedError
    squares, chance = [], []
    for (n, model), printed in PRINTED[kind].items():
        scores = table_scores(choice, kind, n, model)
        squares.append((scores.mean() - printed) ** 2)
        chance.append(scores.var(ddof=1) * (1 / scores.size + 1 / _PAPER_TRIALS))
    off, expected = float(np.sqrt(np.mean(squares))), float(np.sqrt(np.mean(chance)))
    verdict = HOLDS if off <= SIGNIFICANT * expected else FAILS
    return Finding(verdict, f"root mean square {off:.3f}; {expected:.3f} by chance alone")


def table_scores(choice: Choice, kind: str, n: int, model: str) -> Array:
    """Return the scores of every graph in a cell of Table 2 (MCC) or Table 3 (NMI)."""
    if kind == SIMILARITY:
        return choice.by_norm(Condition(n), model)
    return choice.scores(kind, Condition(n), model, "nmi")


def _rises_and_falls(choice: Choice, model: str) -> Finding:
    found = []
    for n in choice.sizes:
        curve = choice.curve(model, n, "mcc")[1]
        best = curve[:, int(curve.mean(axis=0).argmax())]
        found.append(all(judged(best - curve[:, end]).verdict == HOLDS for end in (0, -1)))
    verdict = HOLDS if all(found) else FAILS if not any(found) else OPEN
    return Finding(verdict, f"at {sum(found)} of {len(found)} sample sizes")


def _best_radius_decreases(choice: Choice, model: str) -> Finding:
    """Compare the best radii of the fewest and the most samples, over resampled graphs."""
    rng, ends, best = np.random.default_rng(0), [], []
    for n in choice.sizes:
        radii, curve = choice.curve(model, n, "mcc")
        best.append(radii[int(curve.mean(axis=0).argmax())])
        if n in (choice.sizes[0], choice.sizes[-1]):
            ends.append(curve)
    draws = rng.integers(len(ends[0]), size=(_RESAMPLES, len(ends[0])))
    first, last = (end[draws].mean(axis=1).argmax(axis=1) for end in ends)
    falls, rises = float(np.mean(last < first)), float(np.mean(last > first))
    verdict = HOLDS if falls >= _CERTAIN else FAILS if rises >= _CERTAIN else OPEN
    places = ", ".join(f"{r:.3g} at N = {n}" for r, n in zip(best, choice.sizes, strict=True))
    return Finding(verdict, f"{places}; falls in {falls:.0%} of resamples")


def _reliable(choice: Choice) -> Finding:
    last = {}
    for model in ROBUST:
        last[model] = float(choice.curve(model, RELIABILITY_N, "reliability")[1][:, -1].mean())
    verdict = HOLDS if min(last.values()) >= _RELIABLE else FAILS
    return Finding(verdict, ", ".join(f"{name}: {value:.3f}" for name, value in last.items()))


def _gaussian_reliable_first(choice: Choice) -> Finding:
    needed = {}
    for model in ROBUST:
        radii, curve = choice.curve(model, RELIABILITY_N, "reliability")
        enough = np.flatnonzero(curve.mean(axis=0) >= _RELIABLE)
        needed[model] = radii[enough[0]] if enough.size else np.inf
    verdict = HOLDS if needed[GAUSSIAN] < needed[GENERAL] else FAILS
    evidence = f"{needed[GAUSSIAN]:.3g} (of signals) against {needed[GENERAL]:.3g} (of moments)"
    return Finding(verdict, evidence)


def checks(place: str = "") -> list[Check]:
    """Return the statements about a place in the paper, or all in its order, with their tests."""
    found: list[Check] = []

    def add(
        place: str, text: str, test: Callable[..., Finding], versus_saa: bool = False, **fixed: Any
    ) -> None:
        model = fixed["model"] if versus_saa else ""
        found.append(Check(place, text, partial(test, **fixed), model))

    for name in ROBUST:
        mcc = {"kind": SIMILARITY, "model": name, "metric": "mcc"}
        dog = mcc | {"metric": "dog"}
        add("Figure 3", f"{name} beats SAA for small N, MCC", _better, True, **mcc)
        add("Figure 3", f"{name} beats SAA for small N, DOG", _better, True, **dog)
        text = f"{name}: the improvement is smaller for large N"
        add("Figure 3", text, _shrinks, True, **mcc)
    add("Figure 3", "SAA improves with N", _saa_improves)
    for name in ROBUST:
        add("Figure 4", f"{name}: MCC rises with ε, then falls", _rises_and_falls, model=name)
        add("Figure 4", f"{name}: the best ε decreases with N", _best_radius_decreases, model=name)
    add("Figure 5", "Reliability approaches 1 as ε grows", _reliable)
    add("Figure 5", "The Gaussian scenario needs the smaller ε", _gaussian_reliable_first)
    for name in ROBUST:
        text = f"Noise below 0.5 lowers the MCC of {name} less than SAA's"
        add("Figure 6", text, _milder, True, model=name)
        text = f"{name} beats SAA at every level of noise"
        add("Figure 6", text, _better_in_noise, True, model=name)
    add("Figure 6", "Noise changes DOG less than MCC", _dog_suffers_less)
    add("Table 2", "Larger p is better", _larger_norm_better)
    add("Table 2", "except p = ∞, worse than p = 4", _infinity_worse)
    add("Table 2", "The values", _values, kind=SIMILARITY)
    for name in ROBUST:
        nmi = {"kind": BLOCKS, "model": name, "metric": "nmi"}
        add("Table 3", f"{name} finds communities better for small N", _better, True, **nmi)
        add("Table 3", f"{name}: less so for large N", _shrinks, True, **nmi)
    add("Table 3", "The values", _values, kind=BLOCKS)
    return [check for check in found if place in ("", check.place)]


def verdict_table(columns: Sequence[str], verdicts: Mapping[Check, Sequence[Finding]]) -> str:
    """Return statements as a Markdown table, with a verdict for every way of choosing."""
    rows = []
    for check, findings in verdicts.items():
        cells = [f"**{f.verdict}** {f.evidence}" if f.evidence else f.verdict for f in findings]
        cells += [NOT_TRIED] * (len(columns) - len(cells))
        rows.append([check.place, check.text, *cells])
    return markdown_table(["", "the paper says", *columns], rows)
