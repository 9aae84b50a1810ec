"""Not in the paper: its prior against the log-degree prior, robust and not, each tuned alike.

Every model gets the same ladder of strengths, eta or the root of alpha·beta, and the robust ones
the same radii; graphs are scaled to trace d before their edges are counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.drawing.style import plain_ticks
from experiments.figures.drawing import band, panels
from experiments.figures.experiment import Experiment, Record, Setting
from experiments.figures.learning import NOISE, D, choose_by_truth
from experiments.figures.statistics import advantage, mean
from experiments.measuring.text import markdown_table
from solvers import solve
from wdro_cvx import GaussianBall, GraphProblem, LogDegree, Nominal
from wdro_cvx.generators import rbf_graph, sbm_graph, smooth_signals
from wdro_cvx.metrics import dog, mcc
from wdro_cvx.solution import Solution

_STRENGTHS = tuple(float(f"{value:.2g}") for value in np.geomspace(0.01, 10.0, 13))
_RADII = tuple(float(f"{value:.2g}") for value in np.geomspace(0.1, 1.6, 5))
_SIZES = (20, 50, 200, 1000)
_BLOCKS = (10, 10, 10)
_GRAPHS = ("RBF", "block model")


@dataclass(frozen=True)
class _Model:
    logarithms: bool
    radii: tuple[float, ...]

    def problem(self, nominal: Nominal, strength: float, radius: float) -> GraphProblem:
        """Return the problem of a candidate; a strength is in units of the data squared."""
        ball = GaussianBall(radius)
        if self.logarithms:
            return GraphProblem(nominal, ball, prior=LogDegree(strength, strength))
        return GraphProblem(nominal, ball, eta=strength)


_PLAIN, _LOGS = "Frobenius", "log-degree"
_ROBUST_PLAIN, _ROBUST_LOGS = f"{_PLAIN}, Gaussian ball", f"{_LOGS}, Gaussian ball"
_MODELS = {
    _PLAIN: _Model(False, (0.0,)),
    _LOGS: _Model(True, (0.0,)),
    _ROBUST_PLAIN: _Model(False, _RADII),
    _ROBUST_LOGS: _Model(True, _RADII),
}
_PAIRS = (
    (_LOGS, _PLAIN),
    (_ROBUST_LOGS, _ROBUST_PLAIN),
    (_ROBUST_PLAIN, _PLAIN),
    (_ROBUST_LOGS, _LOGS),
)


def trial(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Learn with both priors, at every strength and radius."""
    truth = rbf_graph(D, rng) if setting["truth"] == "RBF" else sbm_graph(_BLOCKS, rng)[0]
    samples = smooth_signals(truth, setting["n"], rng, noise=NOISE)
    nominal = Nominal.from_samples(samples)
    records = []
    for name, model in _MODELS.items():
        for radius in model.radii:
            answer: Solution | None = None
            for strength in _STRENGTHS:
                warm = None if radius == 0.0 else answer  # a sample average is one step anyway
                answer = solve(model.problem(nominal, strength, radius), start=warm)
                graph = answer.laplacian * (len(truth) / float(np.trace(answer.laplacian)))
                records.append({
                    "model": name, "parameter": f"{strength:g}, ε = {radius:g}",
                    "strength": strength, "radius": radius,
                    "mcc": mcc(graph, truth), "dog": dog(graph, truth),
                })  # fmt: skip
    return records


def figure(table: pd.DataFrame) -> Figure:
    """Draw MCC against N for both kinds of graph."""
    chosen = choose_by_truth(table, ["truth", "n"])
    figure, axes = panels(2)
    for panel, graph in zip(axes, _GRAPHS, strict=True):
        rows = chosen[chosen["truth"] == graph]
        for style, name in enumerate(_MODELS):
            band(panel, rows[rows["model"] == name], "n", "mcc", name, style)
        panel.set(xscale="log", xlabel="number of samples N", ylabel="MCC", title=f"{graph} graphs")
        plain_ticks(panel, _SIZES)
    axes[1].legend(loc="lower right")
    return figure


def tables(table: pd.DataFrame) -> str:
    """Return MCC of every model, and the differences between them, paired by trial."""
    chosen = choose_by_truth(table, ["truth", "n"])
    scores: list[list[object]] = []
    differences: list[list[object]] = []
    for graph in _GRAPHS:
        rows = chosen[chosen["truth"] == graph]
        for name in _MODELS:
            mine = rows[rows["model"] == name]
            by_size = [mine[mine["n"] == n] for n in _SIZES]
            taken = "; ".join(str(part["parameter"].iloc[0]) for part in by_size)
            scores.append([graph, name, *(mean(part["mcc"]) for part in by_size), taken])
        for first, second in _PAIRS:
            gains = [advantage(rows[rows["n"] == n], first, second, "mcc") for n in _SIZES]
            differences.append([graph, f"{first} − {second}", *gains])
    sizes = [f"N = {n}" for n in _SIZES]
    return "\n\n".join([
        f"MCC, d = {D} (RBF) and {sum(_BLOCKS)} (three blocks). Strengths from {_STRENGTHS[0]:g} "
        f"to {_STRENGTHS[-1]:g} ({len(_STRENGTHS)}: η, or α = β), radii from {_RADII[0]:g} to "
        f"{_RADII[-1]:g} ({len(_RADII)}); of the pairs, the one with the largest mean MCC.",
        markdown_table(["graph", "model", *sizes, "strength and radius taken"], scores),
        "Differences, paired by trial; from two standard errors on they count.",
        markdown_table(["graph", "difference", *sizes], differences),
    ])  # fmt: skip


_CAPTION = (
    "MCC against N with either prior, robust and not, strength and radius by the truth ({trials} "
    "graphs; bands are one standard error)."
)
EXPERIMENT = Experiment(
    "prior",
    "Priors: Frobenius and log-degree",
    [{"truth": graph, "n": n} for graph in _GRAPHS for n in _SIZES],
    trial,
    figure,
    lambda _: [],  # the paper claims nothing of this
    _CAPTION,
    tables,
)
