"""
Along the radius
================

A larger radius spreads the weight more evenly. The picture shows all edges of one problem along the
radius. Each graph is solved from the previous one and certified. Edges of the true graph are blue.
"""

import matplotlib.pyplot as plt
import numpy as np

from experiments.drawing.style import BLUE, GREY, PAGE, VERMILION
from solvers import solve_path
from wdro_cvx import GraphProblem, Nominal, WassersteinBall
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.metrics import mcc

rng = np.random.default_rng(3)
truth = rbf_graph(15, rng, threshold=0.75)
signals = smooth_signals(truth, n=25, rng=rng, noise=0.3)
problem = GraphProblem(Nominal.from_samples(signals), WassersteinBall(0.5), eta=0.1)

radii = np.geomspace(0.02, 5.0, 60)
answers = solve_path(problem, radii)
print("largest certified gap", max(answer.gap for answer in answers))

# %%
# At some radius the wrong edges are weakest relative to the right ones. Only the true graph shows
# which radius this is. MCC compares the edges with the true ones (1 is perfect). Without the true
# graph, the rules of :doc:`choose_radius` choose a radius.

pairs = np.triu_indices(problem.d, 1)
weights = np.array([-answer.laplacian[pairs] for answer in answers])
right = truth[pairs] < 0.0
figure, (left, middle) = plt.subplots(
    1, 2, figsize=(PAGE, 2.6), layout="constrained", width_ratios=(1.5, 1)
)
for edge in np.flatnonzero(weights.max(axis=0) > 1e-4):
    style = {"color": BLUE, "zorder": 3} if right[edge] else {"color": VERMILION, "alpha": 0.55}
    left.plot(radii, weights[:, edge], linewidth=0.9, **style)
left.plot([], [], color=BLUE, label="in the true graph")
left.plot([], [], color=VERMILION, label="not in it")
left.set(xscale="log", xlabel="radius", ylabel="weight of an edge", ylim=(0, None))
left.legend()

scores = [mcc(answer.laplacian, truth) for answer in answers]
best = int(np.argmax(scores))
middle.plot(radii, scores, color=BLUE)
middle.axhline(scores[0], color=GREY, linestyle=":")
middle.annotate("trust in the data", (radii[0], scores[0]), (0, -9), textcoords="offset points",
                color="#666666", fontsize=7)  # fmt: skip
middle.plot(radii[best], scores[best], "o", color=BLUE)
middle.set(xscale="log", xlabel="radius", ylabel="agreement with the truth (MCC)")
figure.savefig("radius_path.png")
