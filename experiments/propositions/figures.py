"""The figures of the ledger: values against the radius, worst-case samples, the γ-curve."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.style import COLOURS, COLUMN, GREY, MARKERS, PAGE
from experiments.propositions.drawn import Drawn
from experiments.propositions.gaussian import printed_objective
from formulations import (
    GaussianClosedForm,
    GaussianSDP,
    GeneralRegularized,
    GeneralSDP,
    RobustPremium,
)
from solvers import solve
from wdro_cvx import (
    Discrete,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    Singleton,
    WassersteinBall,
)
from wdro_cvx.generators import rbf_graph, smooth_signals

_RADII = np.linspace(0.1, 2.0, 14)


def draw_figures(seed: int) -> dict[str, Figure]:
    """Return all figures by name."""
    rng = np.random.default_rng(seed)
    return {
        "values": _values(rng), "worst-case": _worst_case(rng), "gamma": gamma_figure(rng),
    }  # fmt: skip


def _instance(rng: np.random.Generator, d: int, n: int) -> Drawn:
    graph = rbf_graph(d, rng)
    return Drawn(Nominal.from_samples(smooth_signals(graph, n, rng, noise=0.1)), graph, 0.5, 0.1)


def _values(rng: np.random.Generator) -> Figure:
    """Draw the optimum of every formulation against the radius: three curves, not one."""
    drawn = _instance(rng, 8, 12)
    gaussian = drawn.problem(GaussianBall)
    curves = [
        ("Theorem 1", GaussianClosedForm(gaussian), "-", 9),
        ("Proposition 2", GaussianSDP(gaussian), "-", 7),
        ("Proposition 3", GeneralSDP(drawn.problem(WassersteinBall)), "-", 5),
        ("premium form", RobustPremium(gaussian), "-", 3),
        ("Theorem 3, p = 2", GeneralRegularized(drawn.problem(MomentBall)), "-", 3),
        ("penalised, β = 2", GaussianSDP(drawn.problem(GaussianBall, 2.0)), "--", 3),
    ]  # fmt: skip
    figure, axes = plt.subplots(figsize=(COLUMN, 3.6), layout="constrained")
    nominal = solve(GraphProblem(drawn.nominal, Singleton(), drawn.eta)).value
    axes.axhline(nominal, color=GREY, linewidth=1, label="SAA")
    for index, (name, form, line, size) in enumerate(curves):
        # Four forms share one curve; markers of decreasing size leave each of them visible.
        values = [form.at(radius=float(radius)).solve().value for radius in _RADII]
        axes.plot(
            _RADII, values, label=name, color=COLOURS[index], marker=MARKERS[index],
            markersize=size, markerfacecolor="none", linestyle=line, linewidth=1,
        )  # fmt: skip
    axes.set(xlabel="radius ε", ylabel="optimal value", ylim=(0, None))
    figure.legend(loc="outside lower center", ncols=2, handlelength=1.5)
    return figure


def _worst_case(rng: np.random.Generator) -> Figure:
    """Draw nominal and worst-case samples of a graph with one edge, for three radii."""
    samples = rng.multivariate_normal([0.4, 0.0], [[1.0, 0.7], [0.7, 1.0]], size=25)
    nominal = Nominal.from_samples(samples)
    laplacian = np.array([[1.0, -1.0], [-1.0, 1.0]])
    figure, panels = plt.subplots(
        1, 3, figsize=(PAGE, 2.6), sharex=True, sharey=True, layout="constrained"
    )
    for axes, radius in zip(panels, (0.2, 0.5, 1.0), strict=True):
        worst = WassersteinBall(radius).worst_case(nominal, laplacian)
        moved = worst.distribution
        assert isinstance(moved, Discrete)
        assert nominal.samples is not None
        # The nominal samples lack their level, which affects no graph and does not move.
        ends = samples + moved.points[: len(samples)] - nominal.samples
        for start, end in zip(samples, ends, strict=True):
            axes.plot(*zip(start, end, strict=True), color=GREY, linewidth=0.7, zorder=1)
        axes.scatter(*samples.T, s=14, color=COLOURS[0], label="samples", zorder=2)
        axes.scatter(*ends.T, s=14, color=COLOURS[1], marker="D", label="worst case", zorder=2)
        axes.set_title(f"ε = {radius:g}: risk {worst.risk:.2f}")
        axes.set(xlabel="signal at vertex 1", aspect="equal")
    panels[0].set_ylabel("signal at vertex 2")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def gamma_figure(rng: np.random.Generator) -> Figure:
    """Draw the paper's Figure 2, with the pole, the asymptote and the minimum."""
    drawn = _instance(rng, 10, 40)
    worst = drawn.worst(GaussianBall)
    top, gamma = drawn.top, worst.multiplier
    grid = top + np.geomspace(0.02, 6.0, 300) * (gamma - top)
    curve = [printed_objective(drawn, point, drawn.laplacian) for point in grid]
    rest = drawn.eta * float(np.sum(drawn.laplacian**2))
    line = grid * drawn.radius**2 + np.vdot(drawn.theta, drawn.laplacian) + rest
    minimum = float(worst.risk + rest)
    figure, axes = plt.subplots(figsize=(COLUMN, 2.8), layout="constrained")
    axes.plot(grid, curve, color=COLOURS[0], label="g(γ)")
    axes.plot(grid, line, "--", color=COLOURS[1], linewidth=1, label="γε² + ⟨Θ, L⟩ + η‖L‖²")
    axes.axvline(top, color=GREY, linewidth=1, linestyle=":", label="λmax")
    axes.plot([gamma], [minimum], "o", color=COLOURS[2], label="minimum")
    axes.set(xlabel="γ", ylabel="g(γ)", ylim=(0, 3 * minimum))
    figure.legend(loc="outside lower center", ncols=2)
    return figure
