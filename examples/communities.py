"""
Communities
===========

Graphs are learned from eighty noisy signals that are smooth over a block model with three
communities. Louvain's method finds the communities of the learned graphs. NMI measures how well
they agree with the true ones (1 is perfect).
"""

import matplotlib.pyplot as plt
import numpy as np

from experiments.drawing.graphs import draw_edges, match_labels
from experiments.drawing.style import PAGE
from solvers import solve
from solvers.learned.communities import communities
from solvers.learned.drawing import spread_out
from wdro_cvx import GraphProblem, LogDegree, Nominal, WassersteinBall
from wdro_cvx.generators import sbm_graph, smooth_signals
from wdro_cvx.metrics import nmi

rng = np.random.default_rng(4)
truth, blocks = sbm_graph([15, 15, 15], rng, p_within=0.4)
nominal = Nominal.from_samples(smooth_signals(truth, n=80, rng=rng, noise=0.1))
models = {
    "trust in the data": GraphProblem(nominal, WassersteinBall(0.0), eta=0.1),
    "robust, radius 1": GraphProblem(nominal, WassersteinBall(1.0), eta=0.1),
    "robust, log-degree prior": GraphProblem(
        nominal, WassersteinBall(1.0), prior=LogDegree(1.0, 0.02)
    ),
}

# %%
# All four pictures use the layout of the true graph, and a colour means the same community in each.
# Hollow vertices have no edge.

true_adjacency = np.diag(np.diagonal(truth)) - truth
places = spread_out(true_adjacency)
figure, panels = plt.subplots(1, 4, figsize=(PAGE, 2.1), layout="constrained")
draw_edges(panels[0], true_adjacency, blocks, places)
panels[0].set_title("the truth")
for axes, (title, problem) in zip(panels[1:], models.items(), strict=True):
    answer = solve(problem)
    labels = match_labels(communities(answer.adjacency), blocks)
    score = nmi(labels, blocks)
    print(f"{title}: NMI {score:.3f}, {answer.status.value}, gap {answer.gap:.0e}")
    draw_edges(axes, answer.adjacency, labels, places)
    axes.set_title(f"{title}\nNMI {score:.2f}")
for axes in panels:
    axes.set_aspect("equal")
    axes.set_axis_off()
    if legend := axes.get_legend():
        legend.remove()
figure.savefig("communities.png")
