r"""
Two priors, two kinds of degrees
================================

The paper's prior, :math:`\eta\|L\|_F^2`, joins vertices whose signals are similar and may
isolate others. The log-degree prior of Kalofolias gives every vertex an edge. Both graphs
have about four neighbours per vertex and are learned from the same data with the same ball.
"""

import matplotlib.pyplot as plt
import numpy as np

from experiments.drawing.graphs import draw_edges
from experiments.drawing.style import BLUE, PAGE, VERMILION
from solvers import solve_for_neighbours
from solvers.learned.communities import communities
from wdro_cvx import GraphProblem, LogDegree, Nominal, WassersteinBall

# Signals vary smoothly over random places. The sensors range from good to bad.
rng = np.random.default_rng(7)
places = rng.random((40, 2))
waves = rng.standard_normal((30, 3, 2)) * 4
phases = rng.uniform(0, 2 * np.pi, (30, 3))
signals = np.sin(waves @ places.T + phases[:, :, np.newaxis]).sum(axis=1)
noise = np.geomspace(0.05, 2.0, 40)
nominal = Nominal.from_samples(signals + noise * rng.standard_normal(signals.shape))

fits = {
    "Frobenius": solve_for_neighbours(GraphProblem(nominal, WassersteinBall(0.1), eta=0.1), 4),
    "log-degree": solve_for_neighbours(
        GraphProblem(nominal, WassersteinBall(0.1), prior=LogDegree(1.0, 0.1)), 4
    ),
}

# %%
# Hollow vertices have no edge. Both graphs have about equally many edges, but only one prior
# isolates the worst sensors. The sorted degrees show the same.

figure, panels = plt.subplots(1, 3, figsize=(PAGE, 2.4), layout="constrained")
for axes, (name, fit) in zip(panels, fits.items(), strict=False):
    adjacency = fit.solution.adjacency
    draw_edges(axes, adjacency, communities(adjacency), places)
    axes.set_title(f"{name}: {fit.neighbours:.1f} neighbours on average")
    axes.set_aspect("equal")
    axes.set_axis_off()
    if legend := axes.get_legend():
        legend.remove()
    print(f"{name}: least degree {adjacency.sum(axis=0).min():.3f}, {fit.solution.status.value}")
for (name, fit), colour in zip(fits.items(), (BLUE, VERMILION), strict=True):
    degrees = np.sort(fit.solution.adjacency.sum(axis=0))[::-1]
    panels[2].plot(degrees / degrees.mean(), color=colour, marker=".", label=name)
panels[2].set(
    xlabel="vertices, by degree", ylabel="degree over the mean", title="degrees", ylim=(0, None)
)
panels[2].legend()
figure.savefig("priors.png")
