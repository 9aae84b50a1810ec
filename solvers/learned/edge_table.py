"""The edges of a graph as arrays and as a table, with what the certificate proves about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    in_optimum: NDArray[np.bool_],
    names: Sequence[str] | None = None,
    stability: Array | sparse.csr_array | None = None,
    evidence: Mapping[str, Array] | None = None,
) -> pd.DataFrame:
    """Return source, target and weight of every edge, and what is known about it.

    Parameters
    ----------
    adjacency : array or sparse array (d, d)
    in_optimum : array (m,) of bool
        Whether the optimal graph provably has the edge, in the order of :func:`edge_arrays`.
    names : sequence of str, optional
        The names of the vertices; by default their numbers.
    stability : array or sparse array (d, d), optional
    evidence : mapping of str to array (m,), optional
        What the data say about the edges, in the same order; these columns follow the weight.

    Returns
    -------
    DataFrame
        The strongest edge first.
    """
    import pandas as pd

    heads, tails, weights = edge_arrays(adjacency)
    order = np.argsort(-weights, kind="stable")
    heads, tails = heads[order], tails[order]
    labels = np.arange(adjacency.shape[0]) if names is None else np.asarray(names, dtype=object)
    columns = {
        "source": labels[heads], "target": labels[tails], "weight": weights[order],
        **{name: values[order] for name, values in (evidence or {}).items()},
    }  # fmt: skip
    if stability is not None:
        columns["stability"] = np.asarray(stability[heads, tails]).ravel()
    columns["in_optimum"] = in_optimum[order]
    return pd.DataFrame(columns)


def labelled(matrix: Array, names: Sequence[str] | None) -> pd.DataFrame:
    """Return a matrix of pairs with the names of the vertices as index and columns."""
    import pandas as pd

    labels = None if names is None else pd.Index(names)
    return pd.DataFrame(matrix, index=labels, columns=labels)


def edge_arrays(
    adjacency: Array | sparse.csr_array,
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return heads, tails and weights of the edges; every head is smaller than its tail."""
    upper = sparse.coo_array(sparse.triu(sparse.csr_array(adjacency), 1, format="csr"))
    heads, tails = (index.astype(np.intp) for index in upper.coords)
    return heads, tails, np.asarray(upper.data)


def optimal_edges(
    d: int,
    brackets: EdgeBrackets,
    heads: NDArray[np.integer],
    tails: NDArray[np.integer],
    threshold: float = EDGE_THRESHOLD,
) -> NDArray[np.bool_]:
    """Return which of these edges the optimal graph provably has with at least this weight."""
    known = _pairs(d, *_ends(d, brackets))[brackets.present(threshold)]
    return np.isin(_pairs(d, heads, tails), known)


def open_edges(
    d: int,
    brackets: EdgeBrackets,
    heads: NDArray[np.integer],
    tails: NDArray[np.integer],
    threshold: float = EDGE_THRESHOLD,
) -> NDArray[np.bool_]:
    """Return which of these edges the certificate leaves undecided."""
    listed, asked = _pairs(d, *_ends(d, brackets)), _pairs(d, heads, tails)
    found = np.isin(asked, listed[brackets.undecided(threshold)])
    if isinstance(brackets, ListedBrackets) and brackets.others >= threshold:
        found |= ~np.isin(asked, listed)  # all unlisted pairs share one bracket
    return found


def _ends(d: int, brackets: EdgeBrackets) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    if isinstance(brackets, ListedBrackets):
        return brackets.heads, brackets.tails
    return edge_index(d)


def _pairs(d: int, heads: NDArray[np.integer], tails: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return one number per pair of vertices."""
    return heads.astype(np.int64) * d + tails
