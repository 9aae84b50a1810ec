"""
Neighbours from temperatures alone
==================================

The table has the temperature anomalies of 48 states in 299 months: how much warmer a month was than
usual (NOAA nClimDiv, included in the package). It does not say where the states are. Nevertheless,
the edges that ``RobustGraph`` selects join neighbours. Colours are communities of the graph.
"""

import matplotlib.pyplot as plt

from experiments.drawing.graphs import draw_edges, frame_map, nearby_outlines
from experiments.drawing.style import PAGE
from solvers import RobustGraph
from solvers.learned.communities import communities
from solvers.learned.labels import place_labels
from wdro_cvx.examples import state_anomalies, state_places

table = state_anomalies()
graph = RobustGraph().fit(table)
print(f"radius {graph.radius_:.3f}, {len(graph.edges_)} edges, certified gap {graph.gap_:.0e}")
print(graph.edges_.head(5).round(3).to_string(index=False))

# %%
# The places are used only now, for the picture.

places = state_places().loc[table.columns, ["lon", "lat"]].to_numpy()
selected = graph.graph_.selected
figure, axes = plt.subplots(figsize=(PAGE, 4.0), layout="constrained")
frame_map(axes, places, nearby_outlines(places[:, 1], places[:, 0]))
draw_edges(axes, selected, communities(selected), places)
place_labels(axes, table.columns, places, selected.sum(axis=0), 5.5)
axes.set(xticks=[], yticks=[], xlabel="", ylabel="")
axes.spines[:].set_visible(False)
figure.savefig("learned_map.png")
