"""Learn a graph from noisy signals, robustly, and see how good it is."""

import numpy as np

from solvers import RobustGraph
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.metrics import dog, mcc

rng = np.random.default_rng(0)
truth = rbf_graph(20, rng)
signals = smooth_signals(truth, n=60, rng=rng, noise=0.1)

for radius in (0.0, 0.5, "cv"):
    graph = RobustGraph(radius=radius, eta=0.3).fit(signals)
    print(
        f"radius {graph.radius_:.3f}: {graph.to_networkx().number_of_edges()} edges, "
        f"MCC {mcc(graph.laplacian_, truth):.3f}, DOG {dog(graph.laplacian_, truth):.3f}, "
        f"certified gap {graph.gap_:.0e}"
    )
