"""The paper's sentences about Figures 3 to 6 and Tables 2 and 3, put to a way of choosing.

A graph is the unit: differences are paired, averaged over a graph's conditions first, and their
standard error is that over graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from experiments.studies.explain.columns import Column, Fitted
from experiments.studies.explain.grid import (
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
from experiments.studies.explain.settings import table_2_cells, table_3_cells
from experiments.studies.explain.verdicts import (
    FAILS,
    HOLDS,
    NOT_ASKED,
    OPEN,
    SAME,
    SIGNIFICANT,
    Finding,
    all_of,
    judged,
)
from wdro_cvx.validation import Array

_RELIABLE = 0.99
_PAPER_TRIALS = 20
_SMALL_N, _LARGE_N = (20, 50), (1000,)
_FEW, _MANY = (80, 100, 150), (500, 1000)
_NAMES = {GAUSSIAN: "WDRO Gaussian", GENERAL: "WDRO general"}


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper with its test."""

    place: str
    text: str
    test: Callable[[Column], Finding]

    @property
    def name(self) -> str:
        """Return place and text."""
        return f"{self.place}: {self.text}"


def gain(
    column: Column, kind: str, model: str, metric: str, conditions: Sequence[Condition]
) -> Array:
    """Return by how much a model is better than SAA, per graph, a mean over conditions."""
    sign = -1.0 if metric == "dog" else 1.0
    parts = []
    for condition in conditions:
        ours, theirs = (column.scores(kind, condition, name, metric) for name in (model, SAA))
        parts.append(sign * (ours - theirs))
    return np.asarray(np.mean(parts, axis=0))


def _sizes(sizes: Sequence[int]) -> list[Condition]:
    return [Condition(n) for n in sizes]


def _better(column: Column, kind: str, model: str, metric: str, sizes: Sequence[int]) -> Finding:
    return judged(gain(column, kind, model, metric, _sizes(sizes)))


def _shrinks(
    column: Column, kind: str, model: str, metric: str, small: Sequence[int], large: Sequence[int]
) -> Finding:
    few, many = (gain(column, kind, model, metric, _sizes(sizes)) for sizes in (small, large))
    found = judged(few - many)
    return Finding(found.verdict, f"{few.mean():+.3f} → {many.mean():+.3f}")


def _saa_improves(column: Column) -> Finding:
    first, last = (
        column.scores(SIMILARITY, Condition(n), SAA, "mcc") for n in (min(SIZES), max(SIZES))
    )
    return judged(last - first)


def _drop(column: Column, model: str, metric: str, noise: float) -> tuple[Array, Array]:
    """Return how far a score falls by a level of noise, and what it falls from."""
    before = column.scores(SIMILARITY, Condition(NOISE_N), model, metric)
    after = column.scores(SIMILARITY, Condition(NOISE_N, noise), model, metric)
    return before - after, before


def _milder(column: Column, model: str) -> Finding:
    ours, theirs = (_drop(column, name, "mcc", NOISES[0])[0] for name in (model, SAA))
    found = judged(theirs - 2 * ours)
    return Finding(found.verdict, f"falls by {ours.mean():.3f}, SAA by {theirs.mean():.3f}")


def _better_in_noise(column: Column, model: str) -> Finding:
    levels = [Condition(NOISE_N), *(Condition(NOISE_N, noise) for noise in NOISES)]
    found = [judged(gain(column, SIMILARITY, model, "mcc", [level])) for level in levels]
    return all_of(found, [f"σ = {level.noise:g}" for level in levels])


def _dog_suffers_less(column: Column) -> Finding:
    harm = {}
    for metric, sign in (("mcc", 1.0), ("dog", -1.0)):  # DOG is worse where it is larger
        fall, before = _drop(column, GAUSSIAN, metric, NOISES[-1])
        harm[metric] = sign * fall / before.mean()
    found = judged(harm["mcc"] - harm["dog"])
    return Finding(
        found.verdict, f"MCC worse by {harm['mcc'].mean():.0%}, DOG by {harm['dog'].mean():.0%}"
    )


def _larger_norm_better(column: Column) -> Finding:
    scores = {model: _over_sizes(column, model) for model in NORMS}
    if any(found is None for found in scores.values()):
        return Finding(NOT_ASKED)
    known = {model: found for model, found in scores.items() if found is not None}
    best = max(known, key=lambda model: float(known[model].mean()))
    parts = [judged(known["p = 4"] - known[other]) for other in ("p = 1", "p = 3/2", "p = 2")]
    together = all_of(parts, ["p = 4 over 1", "over 3/2", "over 2"])
    return Finding(together.verdict, f"{together.evidence}; best: {best}")


def _infinity_worse(column: Column) -> Finding:
    largest, infinite = (_over_sizes(column, model) for model in ("p = 4", SAA))
    if largest is None or infinite is None:
        return Finding(NOT_ASKED)
    return judged(largest - infinite)


def _over_sizes(column: Column, model: str) -> Array | None:
    """Return MCC of every graph by norm, a mean over Table 2's sample sizes."""
    found = [column.by_norm(Condition(n), model) for n in TABLE_2_SIZES]
    known = [part for part in found if part is not None]
    return np.asarray(np.mean(known, axis=0)) if len(known) == len(found) else None


def _values(column: Column, kind: str, metric: str) -> Finding:
    """Compare a table with its printed values; both have the error of their own graphs."""
    if not isinstance(column, Fitted):
        return Finding(NOT_ASKED)
    squares, chance = [], []
    for n, model, printed in table_2_cells() if kind == SIMILARITY else table_3_cells():
        scores = column.scores(kind, Condition(n), model, metric)
        squares.append((scores.mean() - printed) ** 2)
        chance.append(scores.var(ddof=1) * (1 / scores.size + 1 / _PAPER_TRIALS))
    off, expected = float(np.sqrt(np.mean(squares))), float(np.sqrt(np.mean(chance)))
    verdict = HOLDS if off <= SIGNIFICANT * expected else FAILS
    return Finding(verdict, f"root mean square {off:.3f}; chance alone makes {expected:.3f}")


def _curve(column: Fitted, model: str, n: int, metric: str) -> Array:
    """Return a score of every graph along all radii, at the fitted eta."""
    stored = f"mcc {column.setting.threshold:g}" if metric == "mcc" else metric
    return column.stacks[SIMILARITY].at(Condition(n), model, stored, column.setting.eta)


def _rises_and_falls(column: Column, model: str) -> Finding:
    if not isinstance(column, Fitted):
        return Finding(NOT_ASKED)
    found = []
    for n in SIZES:
        curve = _curve(column, model, n, "mcc")
        best = curve[:, int(curve.mean(axis=0).argmax())]
        ends = [judged(best - curve[:, end]).verdict for end in (0, -1)]
        found.append(ends == [HOLDS, HOLDS])
    verdict = HOLDS if all(found) else FAILS if not any(found) else OPEN
    return Finding(verdict, f"at {sum(found)} of {len(found)} sample sizes")


def _best_radius_decreases(column: Column, model: str) -> Finding:
    if not isinstance(column, Fitted):
        return Finding(NOT_ASKED)
    means = [_curve(column, model, n, "mcc").mean(axis=0) for n in SIZES]
    best = [radii(model)[int(mean.argmax())] for mean in means]
    steps = np.diff(best)
    verdict = HOLDS if (steps <= 0).all() and best[-1] < best[0] else FAILS
    return Finding(
        verdict, ", ".join(f"{r:g} at N = {n}" for r, n in zip(best, SIZES, strict=True))
    )


def _reliable(column: Column) -> Finding:
    if not isinstance(column, Fitted):
        return Finding(NOT_ASKED)
    last = {
        name: float(_curve(column, model, RELIABILITY_N, "reliability")[:, -1].mean())
        for model, name in _NAMES.items()
    }
    verdict = HOLDS if min(last.values()) >= _RELIABLE else FAILS
    return Finding(verdict, ", ".join(f"{name}: {value:.3f}" for name, value in last.items()))


def _gaussian_reliable_first(column: Column) -> Finding:
    if not isinstance(column, Fitted):
        return Finding(NOT_ASKED)
    needed = {}
    for model in _NAMES:
        means = _curve(column, model, RELIABILITY_N, "reliability").mean(axis=0)
        enough = np.flatnonzero(means >= _RELIABLE)
        needed[model] = radii(model)[enough[0]] if enough.size else np.inf
    verdict = HOLDS if needed[GAUSSIAN] < needed[GENERAL] else FAILS
    text = f"{needed[GAUSSIAN]:g} against {needed[GENERAL]:g}, a distance of other things"
    return Finding(verdict, text)


def _unless_same(test: Callable[[Column], Finding], model: str) -> Callable[[Column], Finding]:
    """Return the test, or that there is nothing to test where p = 2 is SAA."""

    def tested(column: Column) -> Finding:
        same = model == GENERAL and column.any_eta
        return Finding(SAME, "p = 2 is SAA with a larger η") if same else test(column)

    return tested


def sentences() -> list[Sentence]:
    """Return all sentences, in the paper's order."""
    rows: list[tuple[str, str, Callable[[Column], Finding]]] = []
    for model, name in _NAMES.items():
        for metric in ("mcc", "dog"):
            test = partial(_better, kind=SIMILARITY, model=model, metric=metric, sizes=_SMALL_N)
            rows.append(
                (
                    "Figure 3",
                    f"{name} beats SAA for small N, {metric.upper()}",
                    _unless_same(test, model),
                )
            )
        less = partial(
            _shrinks, kind=SIMILARITY, model=model, metric="mcc", small=_SMALL_N, large=_LARGE_N
        )
        rows.append(
            (
                "Figure 3",
                f"{name}: the improvement is smaller for large N",
                _unless_same(less, model),
            )
        )
    rows.append(("Figure 3", "SAA improves with N", _saa_improves))
    for model, name in _NAMES.items():
        shape, best = (partial(f, model=model) for f in (_rises_and_falls, _best_radius_decreases))
        rows.append(("Figure 4", f"{name}: MCC rises with ε, then falls", shape))
        rows.append(("Figure 4", f"{name}: the best ε decreases with N", best))
    rows.append(("Figure 5", "Reliability approaches 1 as ε grows", _reliable))
    rows.append(("Figure 5", "The Gaussian scenario needs the smaller ε", _gaussian_reliable_first))
    for model, name in _NAMES.items():
        mild, better = (partial(f, model=model) for f in (_milder, _better_in_noise))
        rows.append(
            (
                "Figure 6",
                f"Noise below 0.5 hurts {name} half as much as SAA",
                _unless_same(mild, model),
            )
        )
        rows.append(
            ("Figure 6", f"{name} beats SAA at every level of noise", _unless_same(better, model))
        )
    rows.append(("Figure 6", "Noise changes DOG less than MCC", _dog_suffers_less))
    rows.append(("Table 2", "Larger p is better", _larger_norm_better))
    rows.append(("Table 2", "except p = ∞, worse than p = 4", _infinity_worse))
    rows.append(("Table 2", "The values", partial(_values, kind=SIMILARITY, metric="mcc")))
    for model, name in _NAMES.items():
        test = partial(_better, kind=BLOCKS, model=model, metric="nmi", sizes=_FEW)
        rows.append(
            ("Table 3", f"{name} finds communities better for small N", _unless_same(test, model))
        )
        less = partial(_shrinks, kind=BLOCKS, model=model, metric="nmi", small=_FEW, large=_MANY)
        rows.append(("Table 3", f"{name}: less so for large N", _unless_same(less, model)))
    rows.append(("Table 3", "The values", partial(_values, kind=BLOCKS, metric="nmi")))
    return [Sentence(*row) for row in rows]
