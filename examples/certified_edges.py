"""
Which edges are certain
=======================

The gap between value and bound restricts the optimal graph: it gives an interval for the weight of
every edge. As the gap closes, edges are proved to be present or absent, long before the last digit
of the value is known.
"""

import matplotlib.pyplot as plt
import numpy as np

from experiments.drawing.style import BLUE, GREY, ORANGE, PAGE
from solvers import solve
from wdro_cvx import GraphProblem, Nominal, WassersteinBall, judge
from wdro_cvx.generators import rbf_graph, smooth_signals

rng = np.random.default_rng(1)
signals = smooth_signals(rbf_graph(16, rng), n=40, rng=rng, noise=0.1)
problem = GraphProblem(Nominal.from_samples(signals), WassersteinBall(0.5), eta=0.3)

# %%
# Each vertical line is the interval of one edge. The dot is its weight in the graph that was found.

tolerances = (1e-2, 1e-4, 1e-8)
figure, panels = plt.subplots(1, 3, figsize=(PAGE, 2.6), layout="constrained", sharey=True)
pairs = np.triu_indices(problem.d, 1)
order = np.argsort(solve(problem, tol=1e-10).laplacian[pairs])
for axes, tolerance in zip(panels, tolerances, strict=True):
    answer = solve(problem, tol=tolerance)
    verdict = judge(problem, answer)
    brackets, weights = verdict.edges, -answer.laplacian[pairs]
    kinds = {
        "present": (brackets.present(), BLUE),
        "undecided": (brackets.undecided(), ORANGE),
        "absent": (brackets.absent(), GREY),
    }
    place = np.empty(order.size)
    place[order] = np.arange(order.size)
    for kind, (chosen, colour) in kinds.items():
        axes.vlines(
            place[chosen],
            brackets.lower[chosen],
            brackets.upper[chosen],
            color=colour,
            linewidth=1.0,
        )
        axes.plot(place[chosen], weights[chosen], ".", markersize=2.5, color=colour,
                  label=f"{np.count_nonzero(chosen)} {kind}")  # fmt: skip
    print(f"gap {verdict.gap:.0e}: {brackets.counts()}")
    axes.set(title=f"gap {verdict.gap:.0e}", xlabel="edges, by weight")
    axes.legend(markerscale=3)
panels[0].set(ylabel="weight in the optimal graph", ylim=(-0.02, 1.0))
figure.savefig("certified_edges.png")
