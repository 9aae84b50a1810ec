"""Compute the communities of a graph; trials use this module, so it imports no drawing code."""

from __future__ import annotations

import networkx as nx
import numpy as np
from scipy import sparse

from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.solution import above, network
from wdro_cvx.validation import Array


def communities(adjacency: Array | sparse.csr_array, seed: int = 0) -> Array:
    """Return every vertex's Louvain community, largest first; isolated vertices are alone.

    Parameters
    ----------
    adjacency : array or sparse array (d, d)
        The edge weights.
    seed : int

    Returns
    -------
    array (d,)
        The numbers of the communities.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = np.kron(np.eye(2), 1.0 - np.eye(2))
    >>> communities(pairs)
    array([0., 0., 1., 1.])
    """
    graph = network(above(adjacency, EDGE_THRESHOLD))
    labels = np.arange(float(adjacency.shape[0]))
    if graph.number_of_edges():
        found = nx.community.louvain_communities(graph, seed=seed)
        for label, members in enumerate(sorted(found, key=lambda group: (-len(group), min(group)))):
            labels[list(members)] = label
    return labels
