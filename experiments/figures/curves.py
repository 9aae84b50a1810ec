"""Figures 2 to 6: g(γ), and the learned graph against sample size, radius and noise."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.drawing.style import COLOURS, plain_ticks
from experiments.figures.comparison import (
    NOT_REPRODUCED,
    ONLY_UNTUNED,
    REPRODUCED,
    STYLES,
    Experiment,
    against_baselines,
    band,
    bands,
    choose_by_truth,
    compare_models,
    gains,
    mean,
    outcome,
    panels,
    small_and_large,
)
from experiments.figures.learning import GAUSSIAN, GENERAL, MODELS, SAA, TUNED
from experiments.figures.trials import RADIUS_MODELS, values
from experiments.propositions.figures import gamma_figure
from experiments.propositions.proposition import PROPOSITIONS
from experiments.study import Statement

_SIZES = values("sample-size", "n")
_RADIUS_SIZES = values("radius", "n")
_LEVELS = values("noise", "noise")
_LOW = 0.4  # the paper: lower than 0.5
_TICKS = (0.1, 1, 10)
_RELIABLE = 0.99


def curve_figure(table: pd.DataFrame) -> Figure:
    """Draw the curve with its pole, its asymptote and its minimum."""
    return gamma_figure(np.random.default_rng(int(table["seed"].iloc[0])))


def curve_statements(table: pd.DataFrame) -> list[Statement]:
    """Check that the curve is convex, with a pole at λmax and a linear asymptote."""
    tried = PROPOSITIONS["gamma-curve"]
    worst = float(table["deviation"].max())
    evidence = f"worst deviation {worst:.0e} in {len(table)} instances"
    return [Statement("Figure 2", tried.says, outcome(worst <= tried.within[0]), evidence)]


def sample_size_statements(table: pd.DataFrame) -> list[Statement]:
    """Check what the paper says of its Figure 3."""
    chosen = choose_by_truth(table, ["n"])
    saa = chosen[chosen["model"] == SAA]
    first, last = (mean(saa[saa["n"] == n]["mcc"]) for n in (_SIZES[0], _SIZES[-1]))
    return [
        *small_and_large("Figure 3", chosen, 50, 500, ("mcc", "dog")),
        Statement(
            "Figure 3",
            "SAA improves with the number of samples.",
            outcome(last.value - first.value > 2 * (first.error + last.error)),
            f"MCC {first} at N = {_SIZES[0]}, {last} at N = {_SIZES[-1]}",
        ),
    ]


def radius_figure(table: pd.DataFrame) -> Figure:
    """Draw MCC and DOG against the radius for every N, the best radius marked."""
    figure, axes = panels(2, rows=2)
    for row, model in enumerate(RADIUS_MODELS):
        for panel, score in zip(axes[2 * row : 2 * row + 2], ("mcc", "dog"), strict=True):
            for index, n in enumerate(_RADIUS_SIZES):
                rows = table[(table["model"] == model) & (table["n"] == n)]
                band(panel, rows, "parameter", score, f"N = {n}", index)
                means = rows.groupby("parameter")[score].mean()
                best = int((means if score == "mcc" else -means).to_numpy().argmax())
                spot = [float(means.index[best])], [float(means.iloc[best])]
                panel.plot(*spot, "*", markersize=9, color=COLOURS[index], markeredgecolor="k")
            panel.set(xscale="log", xlabel="radius ε", ylabel=score.upper(), title=model)
            plain_ticks(panel, _TICKS)
    axes[1].legend(loc="lower left", ncols=2)
    return figure


def radius_statements(table: pd.DataFrame) -> list[Statement]:
    """Check what the paper says of its Figure 4."""
    say = partial(Statement, "Figure 4")
    found = []
    for model in RADIUS_MODELS:
        inner, shape, radii = 0, [], []
        for n in _RADIUS_SIZES:
            rows = table[(table["model"] == model) & (table["n"] == n)]
            means = rows.groupby("parameter")["mcc"].mean()
            first, best, last = means.iloc[0], means.max(), means.iloc[-1]
            inner += int(best > first + 0.01 and best > last + 0.01)
            shape.append(f"N = {n}: {first:.3f}, {best:.3f}, {last:.3f}")
            radii.append(float(means.idxmax()))
        found += [
            say(
                f"{model}: MCC first rises with ε, then falls.",
                outcome(inner == len(_RADIUS_SIZES)),
                "MCC at the smallest, best, largest ε: " + "; ".join(shape),
            ),
            say(
                f"{model}: the best ε decreases with N.",
                outcome(bool(np.all(np.diff(radii) <= 0)) and radii[-1] < radii[0]),
                ", ".join(f"{r:.2g} at N = {n}" for r, n in zip(radii, _RADIUS_SIZES, strict=True)),
            ),
        ]
    return found


def reliability_figure(table: pd.DataFrame) -> Figure:
    """Draw the reliability of both scenarios against the radius."""
    figure, (panel,) = panels(1)
    bands(panel, table, "parameter", "reliability", {m: STYLES[m] for m in RADIUS_MODELS})
    panel.set(xscale="log", xlabel="radius ε", ylabel="reliability", ylim=(0, 1.02))
    plain_ticks(panel, _TICKS)
    panel.legend()
    return figure


def reliability_statements(table: pd.DataFrame) -> list[Statement]:
    """Check what the paper says of its Figure 5."""
    say = partial(Statement, "Figure 5")
    last, needed = {}, {}
    for model in RADIUS_MODELS:
        rows = table[table["model"] == model]
        last[model] = mean(rows.groupby("trial")["reliability"].last())
        means = rows.groupby("parameter")["reliability"].mean()
        enough = means[means >= _RELIABLE]
        needed[model] = float(enough.index[0]) if len(enough) else float("inf")
    return [
        say(
            "Reliability approaches 1 as ε grows, in both scenarios.",
            outcome(all(value.value >= _RELIABLE for value in last.values())),
            "; ".join(f"{model}: {value} at the largest ε" for model, value in last.items()),
        ),
        say(
            "The Gaussian scenario needs a smaller ε for it.",
            outcome(needed[GAUSSIAN] < needed[GENERAL]),
            f"{_RELIABLE:.0%} is reached at ε = {needed[GAUSSIAN]:.2g} (Gaussian) and "
            f"{needed[GENERAL]:.2g} (general); the first is a distance of signals, the second of "
            "their second moments, so the two numbers have different units",
        ),
    ]


def noise_statements(table: pd.DataFrame) -> list[Statement]:
    """Check what the paper says of its Figure 6."""
    say = partial(Statement, "Figure 6")
    chosen = choose_by_truth(table, ["noise"])
    low, high = _LEVELS[0], _LEVELS[-1]

    def at(model: str, noise: float, score: str = "mcc") -> float:
        rows = chosen[(chosen["model"] == model) & (chosen["noise"] == noise)]
        return float(rows[score].mean())

    drop = {model: at(model, low) - at(model, _LOW) for model in MODELS}
    found = []
    for model in (GAUSSIAN, GENERAL):
        milder = drop[model] < 0.5 * drop[SAA]
        than_tuned = model != GENERAL and drop[model] < 0.5 * drop[TUNED]
        found.append(say(
            f"Noise up to {_LOW:g} has little impact on {model} (less than half of its impact on "
            "SAA).",
            outcome(milder) if not milder or than_tuned else ONLY_UNTUNED,
            f"MCC falls by {drop[model]:.3f}; SAA's by {drop[SAA]:.3f}, with tuned η by "
            f"{drop[TUNED]:.3f}",
        ))  # fmt: skip
        words = [
            against_baselines(model, *gains(part, model, "mcc"))
            for _, part in chosen.groupby("noise")
        ]
        both, lost = words.count(REPRODUCED), words.count(NOT_REPRODUCED)
        word = REPRODUCED if both == len(words) else NOT_REPRODUCED if lost else ONLY_UNTUNED
        found.append(say(
            f"{model} is better than SAA in MCC at every level of noise.",
            word,
            f"{both} of {len(words)} levels against both baselines, {len(words) - lost} against "
            "untuned SAA",
        ))  # fmt: skip
    change = {
        score: abs(at(GAUSSIAN, low, score) - at(GAUSSIAN, high, score)) / at(GAUSSIAN, low, score)
        for score in ("mcc", "dog")
    }
    found.append(say(
        "Noise has less impact on DOG than on MCC.",
        outcome(change["dog"] < change["mcc"]),
        f"{GAUSSIAN}, from σ = {low} to {high}: MCC changes by {change['mcc']:.0%}, DOG by "
        f"{change['dog']:.0%}",
    ))  # fmt: skip
    return found


GAMMA = Experiment(
    "Figure 2: g(γ)", curve_figure, curve_statements,
    "g(γ) of one similarity graph (d = 10, N = 40, ε = 0.5): a pole at λmax (dotted), a linear "
    "asymptote (dashed), and one minimum between them.",
)  # fmt: skip
SAMPLE_SIZE = Experiment(
    "Figure 3: sample size",
    partial(compare_models, by="n", xlabel="number of samples N", log=True),
    sample_size_statements,
    "MCC and DOG against N (d = 20, σ = 0.1, {trials} graphs; bands are one standard error). "
    "Top: candidates chosen by the truth, for MCC, one for all graphs. Bottom: by the risk on "
    "held-out signals, for each graph. The general scenario is SAA with another η; its curve "
    "follows SAA with tuned η.",
)
RADIUS = Experiment(
    "Figure 4: radius", radius_figure, radius_statements,
    "MCC and DOG along the radius (d = 20, σ = 0.1, {trials} graphs; bands are one standard "
    "error), one curve for each N, stars at the best radius. The general scenario's curve rises "
    "and falls, the Gaussian scenario's is flat until it falls.",
)  # fmt: skip
RELIABILITY = Experiment(
    "Figure 5: reliability", reliability_figure, reliability_statements,
    "Share of unseen signals whose own risk is below the worst-case value, along the radius "
    "(d = 20, N = 50, {trials} graphs; bands are one standard error). The two radii measure "
    "different distances. For the smallest radii, almost a point, reliability is above one third, "
    "not 0.",
)  # fmt: skip
NOISE = Experiment(
    "Figure 6: noise",
    partial(compare_models, by="noise", xlabel="standard deviation σ of the noise", log=False),
    noise_statements,
    "MCC and DOG against the noise (d = 20, N = 100, {trials} graphs; bands are one standard "
    "error). Top: candidates chosen by the truth, for MCC. Bottom: by the risk on held-out "
    "signals. Noise hurts SAA at a fixed η most; with a tuned η, SAA suffers no more than the "
    "robust models.",
)
