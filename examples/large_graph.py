"""
Three thousand vertices
=======================

The graph has four and a half million pairs of vertices, and the certificate covers all of them. The
solver works on a list of candidate edges, and checks for all other pairs that an edge would not
improve the graph. No array of this run has as many entries as there are pairs.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from experiments.drawing.style import BLUE, PAGE, VERMILION
from solvers import solve
from wdro_cvx import GraphProblem, Nominal, WassersteinBall, judge
from wdro_cvx.generators import neighbour_graph, smooth_table

places = np.random.default_rng(0).random((3000, 2))
rng = np.random.default_rng(0)
signals = smooth_table(neighbour_graph(3000, rng), n=200, rng=rng)  # draws the same places
problem = GraphProblem(Nominal.from_samples(signals), WassersteinBall(radius=5.0), eta=0.3)
answer = solve(problem)
verdict = judge(problem, answer)
edges = answer.edges
print(f"{edges.weights.size} edges of {3000 * 2999 // 2} pairs, judged gap {verdict.gap:.0e}")

# %%
# The solver did not know the places of the vertices, but the learned edges are short. Right: how
# weights fall with distance.

ends = np.stack([places[edges.heads], places[edges.tails]], axis=1)
lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(PAGE, 3.6), layout="constrained", width_ratios=(1.25, 1)
)
strength = edges.weights / edges.weights.max()
left.add_collection(LineCollection(ends, linewidths=0.9, colors=BLUE, alpha=strength))
left.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=[], yticks=[])
left.spines[:].set_visible(False)
right.hist(
    lengths, bins=np.linspace(0, 0.3, 60), weights=edges.weights / edges.weights.sum(), color=BLUE
)
strangers = np.linalg.norm(
    places[rng.integers(3000, size=40_000)] - places[rng.integers(3000, size=40_000)], axis=1
)
right.hist(
    strangers,
    bins=np.linspace(0, 0.3, 60),
    weights=np.full(40_000, 1 / 40_000),
    histtype="step",
    color=VERMILION,
)
right.annotate(
    "learned edges", (0.05, 0.9), xycoords="axes fraction", color=BLUE, xytext=(0.4, 0.9)
)
right.annotate(
    "random pairs", (0.05, 0.8), xycoords="axes fraction", color=VERMILION, xytext=(0.4, 0.82)
)
right.set(xlabel="distance of the two vertices", ylabel="share of weight")
figure.savefig("large_graph.png")
