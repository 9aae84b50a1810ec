"""Figures 4 and 5: the learned graph and its reliability against the radius."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.style import COLOURS, plain_ticks
from experiments.figures.drawing import LABELS, STYLES, band, panels
from experiments.figures.experiment import ClaimFinding, Experiment, Record, Setting
from experiments.figures.learning import GAUSSIAN, GENERAL, NOISE, D, Model, learn
from experiments.figures.statistics import mean, outcome
from wdro_cvx import GaussianBall, MomentBall
from wdro_cvx.generators import rbf_graph, smooth_signals

_SIZES = (20, 50, 100, 1000)
_TESTS = 1000
_MODELS = {
    GAUSSIAN: Model(GaussianBall(1.0), tuple(np.geomspace(0.02, 8.0, 21))),
    GENERAL: Model(MomentBall(1.0), tuple(np.geomspace(0.02, 32.0, 21))),
}
_TICKS = (0.1, 1, 10)
_RELIABLE = 0.99
_RELIABILITY_N = 50


def trial(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Learn along a fine path of radii; test on signals that were not seen."""
    truth = rbf_graph(D, rng)
    samples = smooth_signals(truth, setting["n"], rng, noise=NOISE)
    tests = smooth_signals(truth, _TESTS, rng, noise=NOISE)
    return learn(samples, truth, _MODELS, tests, held_out=False)


def figure(table: pd.DataFrame) -> Figure:
    """Draw MCC and DOG against the radius for every N, the best radius marked."""
    figure, axes = panels(2, rows=2)
    for row, model in enumerate(_MODELS):
        for panel, score in zip(axes[2 * row : 2 * row + 2], ("mcc", "dog"), strict=True):
            for index, n in enumerate(_SIZES):
                rows = table[(table["model"] == model) & (table["n"] == n)]
                band(panel, rows, "parameter", score, f"N = {n}", index)
                _mark_best(panel, rows, score, index)
            panel.set(xscale="log", xlabel="radius ε", ylabel=LABELS[score], title=model)
            plain_ticks(panel, _TICKS)
    axes[1].legend(loc="lower left", ncols=2)
    return figure


def _mark_best(panel: Axes, rows: pd.DataFrame, score: str, index: int) -> None:
    best = _best(rows, score)
    height = rows[rows["parameter"] == best][score].mean()
    panel.plot([best], [height], "*", markersize=9, color=COLOURS[index], markeredgecolor="k")


def _best(rows: pd.DataFrame, score: str) -> float:
    means = rows.groupby("parameter")[score].mean()
    place = means.to_numpy().argmax() if score == "mcc" else means.to_numpy().argmin()
    return float(means.index.to_numpy()[place])


def claims(table: pd.DataFrame) -> list[ClaimFinding]:
    """Check what the paper says of its Figure 4."""
    findings = []
    for model in _MODELS:
        rows = table[table["model"] == model]
        inner, shape = 0, []
        for n in _SIZES:
            means = rows[rows["n"] == n].groupby("parameter")["mcc"].mean()
            first, best, last = means.iloc[0], means.max(), means.iloc[-1]
            inner += int(best > first + 0.01 and best > last + 0.01)
            shape.append(f"N = {n}: {first:.3f}, {best:.3f}, {last:.3f}")
        findings.append(
            ClaimFinding(
                f"{model}: MCC first rises with ε, then falls.",
                outcome(inner == len(_SIZES)),
                "MCC at the smallest, best, largest ε: " + "; ".join(shape),
            )
        )
        radii = [_best(rows[rows["n"] == n], "mcc") for n in _SIZES]
        findings.append(
            ClaimFinding(
                f"{model}: the best ε decreases with N.",
                outcome(bool(np.all(np.diff(radii) <= 0)) and radii[-1] < radii[0]),
                ", ".join(f"{r:.2g} at N = {n}" for r, n in zip(radii, _SIZES, strict=True)),
            )
        )
    return findings


def reliability_figure(table: pd.DataFrame) -> Figure:
    """Draw the reliability of both scenarios against the radius."""
    figure, (panel,) = panels(1)
    for model in _MODELS:
        rows = table[(table["model"] == model) & (table["n"] == _RELIABILITY_N)]
        band(panel, rows, "parameter", "reliability", model, STYLES[model])
    panel.set(xscale="log", xlabel="radius ε", ylabel="reliability", ylim=(0, 1.02))
    plain_ticks(panel, _TICKS)
    panel.legend()
    return figure


def reliability_claims(table: pd.DataFrame) -> list[ClaimFinding]:
    """Check what the paper says of its Figure 5."""
    rows = table[table["n"] == _RELIABILITY_N]
    last, needed = {}, {}
    for model in _MODELS:
        group = rows[rows["model"] == model]
        last[model] = mean(group.groupby("trial")["reliability"].last())
        means = group.groupby("parameter")["reliability"].mean()
        enough = means[means >= _RELIABLE]
        needed[model] = float(enough.index[0]) if len(enough) else float("inf")
    return [
        ClaimFinding(
            "Reliability approaches 1 as ε grows, in both scenarios.",
            outcome(all(value.value >= _RELIABLE for value in last.values())),
            "; ".join(f"{model}: {value} at the largest ε" for model, value in last.items()),
        ),
        ClaimFinding(
            "The Gaussian scenario needs a smaller ε for it.",
            outcome(needed[GAUSSIAN] < needed[GENERAL]),
            f"{_RELIABLE:.0%} is reached at ε = {needed[GAUSSIAN]:.2g} (Gaussian) and "
            f"{needed[GENERAL]:.2g} (general); the first is a distance of signals, the second of "
            "their second moments, so the two numbers have different units",
        ),
    ]


_SETTINGS = [{"n": n} for n in _SIZES]
_CAPTION = (
    "MCC and DOG along the radius (d = 20, σ = 0.1, {trials} graphs; bands are one standard "
    "error), one curve for each N, stars at the best radius. The general scenario's curve rises "
    "and falls, the Gaussian scenario's is flat until it falls."
)
_RELIABILITY_CAPTION = (
    "Share of unseen signals whose own risk is below the worst-case value, along the radius "
    "(d = 20, N = 50, {trials} graphs; bands are one standard error). The two radii are distances "
    "of different things. Reliability starts at more than a third, not at 0, where the ball is all "
    "but a point."
)
EXPERIMENT = Experiment("radius", "Figure 4: radius", _SETTINGS, trial, figure, claims, _CAPTION)
RELIABILITY = Experiment(
    "reliability", "Figure 5: reliability", [{"n": _RELIABILITY_N}], trial, reliability_figure,
    reliability_claims, _RELIABILITY_CAPTION,
)  # fmt: skip
