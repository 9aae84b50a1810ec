"""
Temperatures on a map
=====================

The data are five years of monthly means in 48 states (NOAA nClimDiv, included in the package). The
graph is optimal against the worst case around them. Edges run along latitudes, although the solver
did not know the places. Colours are communities of the learned graph.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from experiments.drawing.graphs import draw_edges, frame_map
from experiments.drawing.outlines import nearby_outlines
from experiments.drawing.style import PAGE
from experiments.studies.temperature.stations import load_states
from solvers import RobustGraph
from solvers.learned.communities import communities
from solvers.learned.labels import place_labels

states = load_states()
table = pd.DataFrame(states.table.signals, columns=list(states.table.names))
graph = RobustGraph(
    "bootstrap", 0.03, prior="frobenius", standardise=False, moment="sample", edges="all"
).fit(table)
print(f"radius {graph.radius_:.3f}, {len(graph.edges_)} edges, certified gap {graph.gap_:.0e}")
print(graph.edges_.head(5).round(3).to_string(index=False))

# %%
# Hollow vertices have no edge: no other state resembles them.

places = np.column_stack([states.places.longitude, states.places.latitude])
figure, axes = plt.subplots(figsize=(PAGE, 4.0), layout="constrained")
frame_map(axes, places, nearby_outlines(states.places.latitude, states.places.longitude))
draw_edges(axes, graph.adjacency_, communities(graph.adjacency_), places)
place_labels(axes, table.columns, places, graph.adjacency_.sum(axis=0), 5.5)
axes.set(xticks=[], yticks=[], xlabel="", ylabel="")
axes.spines[:].set_visible(False)
figure.savefig("learned_map.png")
