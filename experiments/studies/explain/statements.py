"""Test the paper's statements about Figures 3 to 6 and Tables 2 and 3 under each way of choosing.

The graph is the unit of every test. Differences are paired and averaged over a graph's conditions;
standard errors are over graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Concatenate, ParamSpec

import numpy as np

from experiments.studies.explain.choices import Choice, Fitted
from experiments.studies.explain.settings import table_2_cells, table_3_cells
from experiments.studies.explain.trial import (
    BLOCKS,
    GAUSSIAN,
    GENERAL,
    NOISE_N,
    NOISES,
    NORMS,
    RELIABILITY_N,
    SAA,
    SIMILARITY,
    SIZES,
    TABLE_2_SIZES,
    Condition,
    radii,
)
from experiments.study import Statement
from wdro_cvx.validation import Array

HOLDS, FAILS, OPEN, SAME, NOT_TRIED = "holds", "fails", "open", "the same", "–"
#: A difference counts when it is this many standard errors from zero.
SIGNIFICANT = 2.0
_RELIABLE = 0.99
_PAPER_TRIALS = 20
_SMALL_N, _LARGE_N = (20, 50), (1000,)
_FEW, _MANY = (80, 100, 150), (500, 1000)
_NAMES = {GAUSSIAN: "WDRO Gaussian", GENERAL: "WDRO general"}
P = ParamSpec("P")


@dataclass(frozen=True)
class Finding:
    """A verdict and the numbers behind it."""

    verdict: str
    evidence: str = ""


@dataclass(frozen=True)
class Check:
    """A statement of the paper with its test.

    ``model`` is the model that the statement compares with SAA, empty for other statements.
    """

    place: str
    text: str
    test: Callable[[Choice], Finding]
    model: str = ""

    @property
    def name(self) -> str:
        """The place and the text of the statement."""
        return f"{self.place}: {self.text}"

    def on(self, choice: Choice) -> Statement:
        """Return the verdict under a way of choosing."""
        if self.model == GENERAL and choice.any_eta:
            found = Finding(SAME, "p = 2 is SAA with a larger η")
        else:
            found = self.test(choice)
        return Statement(self.place, self.text, found.verdict, found.evidence)


def judged(difference: Array) -> Finding:
    """Return whether a difference is positive, as the paper states, by two standard errors."""
    value, error = difference.mean(), difference.std(ddof=1) / np.sqrt(difference.size)
    signed = HOLDS if value > 0 else FAILS
    verdict = signed if abs(value) > SIGNIFICANT * error else OPEN
    return Finding(verdict, f"{value:+.3f} ± {error:.3f}")


def all_of(findings: Sequence[Finding], names: Sequence[str]) -> Finding:
    """Return whether all differences are positive; one negative difference refutes this."""
    verdicts = [finding.verdict for finding in findings]
    verdict = FAILS if FAILS in verdicts else HOLDS if set(verdicts) == {HOLDS} else OPEN
    parts = [f"{name}: {found.evidence}" for name, found in zip(names, findings, strict=True)]
    return Finding(verdict, "; ".join(parts))


def gain(choice: Choice, kind: str, model: str, metric: str, conditions: list[Condition]) -> Array:
    """Return a model's improvement over SAA for every graph, averaged over conditions."""
    sign = -1.0 if metric == "dog" else 1.0
    parts = []
    for condition in conditions:
        ours, theirs = (choice.scores(kind, condition, name, metric) for name in (model, SAA))
        parts.append(sign * (ours - theirs))
    return np.asarray(np.mean(parts, axis=0))


def _fitted_only(
    test: Callable[Concatenate[Fitted, P], Finding],
) -> Callable[Concatenate[Choice, P], Finding]:
    """Restrict a test to the fitted setting; other ways of choosing count as not tried."""

    def tested(choice: Choice, /, *args: P.args, **kwargs: P.kwargs) -> Finding:
        return test(choice, *args, **kwargs) if isinstance(choice, Fitted) else Finding(NOT_TRIED)

    return tested


def _better(choice: Choice, kind: str, model: str, metric: str, sizes: Sequence[int]) -> Finding:
    return judged(gain(choice, kind, model, metric, [Condition(n) for n in sizes]))


def _shrinks(
    choice: Choice, kind: str, model: str, metric: str, small: Sequence[int], large: Sequence[int]
) -> Finding:
    few, many = (
        gain(choice, kind, model, metric, [Condition(n) for n in sizes]) for sizes in (small, large)
    )
    return Finding(judged(few - many).verdict, f"{few.mean():+.3f} → {many.mean():+.3f}")


def _saa_improves(choice: Choice) -> Finding:
    sizes = (min(SIZES), max(SIZES))
    first, last = (choice.scores(SIMILARITY, Condition(n), SAA, "mcc") for n in sizes)
    return judged(last - first)


def _drop(choice: Choice, model: str, metric: str, noise: float) -> tuple[Array, Array]:
    """Return by how much noise lowers a score, and the score without noise."""
    before = choice.scores(SIMILARITY, Condition(NOISE_N), model, metric)
    after = choice.scores(SIMILARITY, Condition(NOISE_N, noise), model, metric)
    return before - after, before


def _milder(choice: Choice, model: str) -> Finding:
    ours, theirs = (_drop(choice, name, "mcc", NOISES[0])[0] for name in (model, SAA))
    evidence = f"falls by {ours.mean():.3f}, SAA by {theirs.mean():.3f}"
    return Finding(judged(theirs - 2 * ours).verdict, evidence)


def _better_in_noise(choice: Choice, model: str) -> Finding:
    levels = [Condition(NOISE_N), *(Condition(NOISE_N, noise) for noise in NOISES)]
    found = [judged(gain(choice, SIMILARITY, model, "mcc", [level])) for level in levels]
    return all_of(found, [f"σ = {level.noise:g}" for level in levels])


def _dog_suffers_less(choice: Choice) -> Finding:
    harm = {}
    for metric, sign in (("mcc", 1.0), ("dog", -1.0)):  # a larger DOG is worse
        fall, before = _drop(choice, GAUSSIAN, metric, NOISES[-1])
        harm[metric] = sign * fall / before.mean()
    evidence = f"MCC worse by {harm['mcc'].mean():.0%}, DOG by {harm['dog'].mean():.0%}"
    return Finding(judged(harm["mcc"] - harm["dog"]).verdict, evidence)


def _larger_norm_better(choice: Choice) -> Finding:
    known = {model: found for model in NORMS if (found := _over_sizes(choice, model)) is not None}
    if len(known) < len(NORMS):
        return Finding(NOT_TRIED)
    best = max(known, key=lambda model: float(known[model].mean()))
    parts = [judged(known["p = 4"] - known[other]) for other in ("p = 1", "p = 3/2", "p = 2")]
    together = all_of(parts, ["p = 4 over 1", "over 3/2", "over 2"])
    return Finding(together.verdict, f"{together.evidence}; best: {best}")


def _infinity_worse(choice: Choice) -> Finding:
    largest, infinite = (_over_sizes(choice, model) for model in ("p = 4", SAA))
    if largest is None or infinite is None:
        return Finding(NOT_TRIED)
    return judged(largest - infinite)


def _over_sizes(choice: Choice, model: str) -> Array | None:
    """Return the MCC of every graph, averaged over the sample sizes of Table 2."""
    found = [choice.by_norm(Condition(n), model) for n in TABLE_2_SIZES]
    known = [part for part in found if part is not None]
    return np.asarray(np.mean(known, axis=0)) if len(known) == len(found) else None


@_fitted_only
def _values(choice: Fitted, kind: str, metric: str) -> Finding:
    """Compare a table with its printed values, allowing for the sampling errors of both."""
    squares, chance = [], []
    for n, model, printed in table_2_cells() if kind == SIMILARITY else table_3_cells():
        scores = choice.scores(kind, Condition(n), model, metric)
        squares.append((scores.mean() - printed) ** 2)
        chance.append(scores.var(ddof=1) * (1 / scores.size + 1 / _PAPER_TRIALS))
    off, expected = float(np.sqrt(np.mean(squares))), float(np.sqrt(np.mean(chance)))
    verdict = HOLDS if off <= SIGNIFICANT * expected else FAILS
    return Finding(verdict, f"root mean square {off:.3f}; {expected:.3f} by chance alone")


@_fitted_only
def _rises_and_falls(choice: Fitted, model: str) -> Finding:
    found = []
    for n in SIZES:
        curve = choice.curve(model, n, "mcc")
        best = curve[:, int(curve.mean(axis=0).argmax())]
        found.append(all(judged(best - curve[:, end]).verdict == HOLDS for end in (0, -1)))
    verdict = HOLDS if all(found) else FAILS if not any(found) else OPEN
    return Finding(verdict, f"at {sum(found)} of {len(found)} sample sizes")


@_fitted_only
def _best_radius_decreases(choice: Fitted, model: str) -> Finding:
    means = [choice.curve(model, n, "mcc").mean(axis=0) for n in SIZES]
    best = [radii(model)[int(mean.argmax())] for mean in means]
    verdict = HOLDS if (np.diff(best) <= 0).all() and best[-1] < best[0] else FAILS
    places = [f"{r:g} at N = {n}" for r, n in zip(best, SIZES, strict=True)]
    return Finding(verdict, ", ".join(places))


@_fitted_only
def _reliable(choice: Fitted) -> Finding:
    last = {
        name: float(choice.curve(model, RELIABILITY_N, "reliability")[:, -1].mean())
        for model, name in _NAMES.items()
    }
    verdict = HOLDS if min(last.values()) >= _RELIABLE else FAILS
    return Finding(verdict, ", ".join(f"{name}: {value:.3f}" for name, value in last.items()))


@_fitted_only
def _gaussian_reliable_first(choice: Fitted) -> Finding:
    needed = {}
    for model in _NAMES:
        means = choice.curve(model, RELIABILITY_N, "reliability").mean(axis=0)
        enough = np.flatnonzero(means >= _RELIABLE)
        needed[model] = radii(model)[enough[0]] if enough.size else np.inf
    verdict = HOLDS if needed[GAUSSIAN] < needed[GENERAL] else FAILS
    evidence = f"{needed[GAUSSIAN]:g} (of signals) against {needed[GENERAL]:g} (of moments)"
    return Finding(verdict, evidence)


def checks() -> list[Check]:
    """Return all statements with their tests, in the paper's order."""
    found: list[Check] = []

    def add(
        place: str, text: str, test: Callable[..., Finding], versus_saa: bool = False, **fixed: Any
    ) -> None:
        model = fixed["model"] if versus_saa else ""
        found.append(Check(place, text, partial(test, **fixed), model))

    for model, name in _NAMES.items():
        mcc = {"kind": SIMILARITY, "model": model, "metric": "mcc"}
        dog = mcc | {"metric": "dog"}
        add("Figure 3", f"{name} beats SAA for small N, MCC", _better, True, **mcc, sizes=_SMALL_N)
        add("Figure 3", f"{name} beats SAA for small N, DOG", _better, True, **dog, sizes=_SMALL_N)
        text = f"{name}: the improvement is smaller for large N"
        add("Figure 3", text, _shrinks, True, **mcc, small=_SMALL_N, large=_LARGE_N)
    add("Figure 3", "SAA improves with N", _saa_improves)
    for model, name in _NAMES.items():
        add("Figure 4", f"{name}: MCC rises with ε, then falls", _rises_and_falls, model=model)
        add("Figure 4", f"{name}: the best ε decreases with N", _best_radius_decreases, model=model)
    add("Figure 5", "Reliability approaches 1 as ε grows", _reliable)
    add("Figure 5", "The Gaussian scenario needs the smaller ε", _gaussian_reliable_first)
    for model, name in _NAMES.items():
        text = f"Noise below 0.5 hurts {name} half as much as SAA"
        add("Figure 6", text, _milder, True, model=model)
        text = f"{name} beats SAA at every level of noise"
        add("Figure 6", text, _better_in_noise, True, model=model)
    add("Figure 6", "Noise changes DOG less than MCC", _dog_suffers_less)
    add("Table 2", "Larger p is better", _larger_norm_better)
    add("Table 2", "except p = ∞, worse than p = 4", _infinity_worse)
    add("Table 2", "The values", _values, kind=SIMILARITY, metric="mcc")
    for model, name in _NAMES.items():
        nmi = {"kind": BLOCKS, "model": model, "metric": "nmi"}
        text = f"{name} finds communities better for small N"
        add("Table 3", text, _better, True, **nmi, sizes=_FEW)
        add(
            "Table 3",
            f"{name}: less so for large N",
            _shrinks,
            True,
            **nmi,
            small=_FEW,
            large=_MANY,
        )
    add("Table 3", "The values", _values, kind=BLOCKS, metric="nmi")
    return found
