"""The edges of a graph as a table, with what the certificate says of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.judging.edges import EDGE_THRESHOLD, EdgeBrackets
from wdro_cvx.judging.sparse.brackets import ListedBrackets
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    import pandas as pd


def edge_table(
    adjacency: Array | sparse.csr_array,
    brackets: EdgeBrackets,
    names: Sequence[str] | None = None,
    threshold: float = EDGE_THRESHOLD,
) -> pd.DataFrame:
    """Return source, target, weight of every edge, and whether it is certain, by weight.

    Parameters
    ----------
    adjacency : array or sparse array (d, d)
    brackets : EdgeBrackets
    names : sequence of str, optional
        Of the vertices; their numbers if not given.
    threshold : float
        An edge is certain if the optimal graph has it with at least this weight.
    """
    import pandas as pd

    heads, tails, weights = edge_arrays(adjacency)
    order = np.argsort(-weights, kind="stable")
    labels = np.arange(adjacency.shape[0]) if names is None else np.asarray(names, dtype=object)
    return pd.DataFrame(
        {
            "source": labels[heads[order]],
            "target": labels[tails[order]],
            "weight": weights[order],
            "certain": certain(adjacency.shape[0], brackets, heads, tails, threshold)[order],
        }
    )


def edge_arrays(
    adjacency: Array | sparse.csr_array,
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return heads, tails and weights of the edges, each named once, the smaller vertex first."""
    upper = sparse.coo_array(sparse.triu(sparse.csr_array(adjacency), 1, format="csr"))
    heads, tails = (index.astype(np.intp) for index in upper.coords)
    return heads, tails, np.asarray(upper.data)


def certain(
    d: int,
    brackets: EdgeBrackets,
    heads: NDArray[np.intp],
    tails: NDArray[np.intp],
    threshold: float = EDGE_THRESHOLD,
) -> NDArray[np.bool_]:
    """Return which of these edges the optimal graph surely has."""
    present = brackets.present(threshold)
    if isinstance(brackets, ListedBrackets):
        ends = brackets.heads.astype(np.intp), brackets.tails.astype(np.intp)
    else:
        ends = edge_index(d)
    known = ends[0][present] * d + ends[1][present]
    return np.asarray(np.isin(heads * d + tails, known))
