"""
A first graph
=============

Two graphs are learned from sixty noisy signals on a graph of twenty vertices: one that trusts the
data (radius 0) and one that is robust. Each is certified to be optimal for its own problem. Which
of them is nearer to the true graph depends on the data. MCC compares the edges with the true ones
(1 is perfect), and DOG compares the weights (0 is perfect).
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from experiments.drawing.style import BLUE, GREY, PAGE, VERMILION
from solvers import RobustGraph
from solvers.learned.drawing import spread_out
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.metrics import dog, mcc

rng = np.random.default_rng(0)
truth = rbf_graph(20, rng)
signals = smooth_signals(truth, n=60, rng=rng, noise=0.1)

learned = {"the truth": truth}
for radius in (0.0, 0.5):
    graph = RobustGraph(radius, 0.3, prior="frobenius", standardise=False, edges="all").fit(signals)
    score = mcc(graph.laplacian_, truth)
    print(
        f"radius {graph.radius_:.3f}: {graph.to_networkx().number_of_edges()} edges, "
        f"MCC {score:.3f}, DOG {dog(graph.laplacian_, truth):.3f}, "
        f"certified gap {graph.gap_:.0e}"
    )
    learned[f"radius {radius:g}: MCC {score:.2f}"] = graph.laplacian_

# %%
# Edges of the true graph are blue, others vermilion.

pairs = np.triu_indices(20, 1)
ends = np.column_stack(pairs)
places = spread_out(np.diag(np.diagonal(truth)) - truth)
true_edges = truth[pairs] < 0.0

figure, panels = plt.subplots(1, 3, figsize=(PAGE, 2.5), layout="constrained")
for axes, (title, laplacian) in zip(panels, learned.items(), strict=True):
    weights = -laplacian[pairs]
    shown = weights > 1e-4
    colours = np.where(true_edges, BLUE, VERMILION)[shown]
    widths = 0.4 + 2.6 * weights[shown] / weights.max()
    axes.add_collection(
        LineCollection(places[ends[shown]], linewidths=widths, colors=colours, alpha=0.75)
    )
    axes.scatter(*places.T, s=22, color="white", edgecolor=GREY, zorder=3)
    axes.set_title(title)
    axes.set_aspect("equal")
    axes.set_axis_off()
figure.savefig("quick_start.png")
