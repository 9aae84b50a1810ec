"""Random graphs, and signals that are smooth on them."""

from wdro_cvx.generators.dense import (
    add_noise,
    rbf_graph,
    sbm_graph,
    scale_to_trace,
    smooth_signals,
)
from wdro_cvx.generators.large import neighbour_graph, smooth_table

__all__ = [
    "add_noise",
    "neighbour_graph",
    "rbf_graph",
    "sbm_graph",
    "scale_to_trace",
    "smooth_signals",
    "smooth_table",
]
