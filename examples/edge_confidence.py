"""
Would another sample say the same?
==================================

A certificate proves that a graph is optimal for the given signals. It does not say how much the
graph depends on which signals were observed. ``stability`` measures this: it is the share of refits
to resampled signals in which an edge appears. It is not the probability that the edge is true.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from experiments.drawing.style import BLUE, GREY, PAGE, VERMILION
from solvers import RobustGraph
from solvers.learned.drawing import spread_out
from wdro_cvx.generators import rbf_graph, smooth_signals

rng = np.random.default_rng(2)
truth = rbf_graph(18, rng, threshold=0.8)
signals = smooth_signals(truth, n=40, rng=rng, noise=0.2)
graph = RobustGraph(0.3, 0.1, prior="frobenius", edges="all").fit(signals)
shares = graph.stability(signals, resamples=60)

# %%
# Strong edges appear in every refit. Weak edges appear in some.

pairs = np.triu_indices(18, 1)
ends = np.column_stack(pairs)
weights = -graph.laplacian_[pairs]
confidence = shares[pairs]
right = truth[pairs] < 0.0
print(f"{np.sum(weights > 1e-4)} edges, {np.sum(confidence > 0.9)} in nine of ten refits")

figure, (drawn, scatter) = plt.subplots(
    1, 2, figsize=(PAGE, 2.9), layout="constrained", width_ratios=(1.15, 1)
)
places = spread_out(np.diag(np.diagonal(truth)) - truth)
shown = np.flatnonzero(weights > 1e-4)
shown = shown[np.argsort(confidence[shown])]
lines = LineCollection(
    places[ends[shown]], linewidths=0.5 + 3.0 * weights[shown] / weights.max(), cmap="viridis_r"
)
lines.set_array(confidence[shown])
lines.set_clim(0, 1)
drawn.add_collection(lines)
drawn.scatter(*places.T, s=24, color="white", edgecolor=GREY, zorder=3)
drawn.set_aspect("equal")
drawn.set_axis_off()
figure.colorbar(lines, ax=drawn, label="share of refits", shrink=0.8, location="left")
for chosen, colour, marker, label in (
    (right, BLUE, "o", "in the true graph"),
    (~right, VERMILION, "x", "not in it"),
):
    chosen = chosen & ((weights > 1e-4) | (confidence > 0.0))
    scatter.plot(weights[chosen], confidence[chosen], marker, color=colour, label=label, alpha=0.8)
scatter.set(xlabel="weight", ylabel="share of refits", ylim=(-0.03, 1.05))
scatter.legend(loc="lower right")
figure.savefig("edge_confidence.png")
