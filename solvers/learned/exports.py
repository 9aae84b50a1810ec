"""Hand a graph to other libraries, which are imported when they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from solvers.learned.edge_table import edge_arrays
from wdro_cvx import SolverError
from wdro_cvx.validation import Array

_PACKAGES = {"igraph": "igraph", "torch": "torch", "torch_geometric.data": "torch_geometric",
             "pygsp": "pygsp"}  # fmt: skip


def to_igraph(adjacency: Array | sparse.csr_array, names: Sequence[str] | None) -> Any:
    """Return an ``igraph.Graph`` with the attributes ``name`` and ``weight``."""
    library = _library("igraph")
    heads, tails, weights = edge_arrays(adjacency)
    graph = library.Graph(n=adjacency.shape[0], edges=np.column_stack([heads, tails]).tolist())
    graph.es["weight"] = weights.tolist()
    if names is not None:
        graph.vs["name"] = list(names)
    return graph


def to_pyg(adjacency: Array | sparse.csr_array) -> Any:
    """Return a ``torch_geometric.data.Data`` with every edge in both directions.

    Weights have single precision, as the layers of PyTorch do by default.
    """
    torch, data = _library("torch"), _library("torch_geometric.data")
    heads, tails, weights = edge_arrays(adjacency)
    ends = np.stack([np.concatenate([heads, tails]), np.concatenate([tails, heads])])
    return data.Data(
        edge_index=torch.as_tensor(ends.astype(np.int64)),
        edge_weight=torch.as_tensor(np.concatenate([weights, weights]).astype(np.float32)),
        num_nodes=adjacency.shape[0],
    )


def to_pygsp(adjacency: Array | sparse.csr_array) -> Any:
    """Return a ``pygsp.graphs.Graph``."""
    return _library("pygsp").graphs.Graph(sparse.csr_matrix(adjacency))


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        package = _PACKAGES[name]
        raise SolverError(
            f"the package {package} is not installed; install it, or use to_networkx()."
        ) from None
