"""
Choosing a radius
=================

Two rules choose a radius without knowing the true graph. The first takes the radius at which
neighbours predict each other best on held-out signals. The second takes the radius whose ball
should contain the true second moment for about 95 of 100 tables; it uses resampling. Here both
choose from thirty months of temperatures in 48 states. The next thirty months test the choice.
"""

import matplotlib.pyplot as plt
import numpy as np

from experiments.drawing.style import BLUE, GREEN, PAGE, VERMILION
from experiments.studies.temperature.stations import load_states
from solvers import RobustGraph

months = load_states().table.signals
before, after = months[:30], months[30:]

rules = {"prediction": BLUE, "bootstrap": VERMILION}
paper = {"prior": "frobenius", "standardise": False, "moment": "sample", "edges": "all"}
chosen = {rule: RobustGraph(rule, 0.03, **paper).fit(before).radius_ for rule in rules}
print({rule: round(radius, 3) for rule, radius in chosen.items()})

# %%
# Left: how well neighbours predict each other in the following months (1 is perfect). Right: the
# number of edges. The radius is in units of the signals' size. At the jump, Florida gets its first
# edge; it resembles no other state.

radii = np.geomspace(0.01, 3.0, 18)
graphs = [RobustGraph(float(radius), 0.03, **paper).fit(before) for radius in radii]
curves = {
    "prediction of later months": [graph.score(after) for graph in graphs],
    "number of edges": [np.count_nonzero(graph.adjacency_) // 2 for graph in graphs],
}
florida = load_states().table.names.index("Florida")
first = next(r for r, g in zip(radii, graphs, strict=True) if g.adjacency_[florida].any())
print(f"Florida has an edge from radius {first:.2f} on")
figure, panels = plt.subplots(1, 2, figsize=(PAGE, 2.5), layout="constrained")
for axes, (name, curve) in zip(panels, curves.items(), strict=True):
    axes.plot(radii, curve, color=GREEN, marker=".")
    for rule, colour in rules.items():
        axes.axvline(chosen[rule], color=colour, linestyle="--", linewidth=1.0, label=rule)
    axes.set(xscale="log", xlabel="radius", ylabel=name)
panels[1].legend(title="chosen by")
figure.savefig("choose_radius.png")
