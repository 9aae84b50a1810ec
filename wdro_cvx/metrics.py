"""Measures of a learned graph, as in section VI of the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.laplacian import weights_from_laplacian
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.validation import finite_array, real_number, square_matrix


def mcc(learned: ArrayLike, truth: ArrayLike, threshold: float = EDGE_THRESHOLD) -> float:
    """Return the Matthews correlation between the edges of two Laplacians.

    The paper's denominator is misprinted (docs/paper.md E5). This is the usual coefficient, defined
    as 0 if one of the graphs has no edge or all edges.
    """
    first, second = _pair(learned, truth)
    edges, true_edges = (weights_from_laplacian(graph) >= threshold for graph in (first, second))
    return edge_correlation(edges, true_edges)


def edge_correlation(learned: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Return the Matthews correlation of two edge indicators, one entry per pair of vertices."""
    both = float(np.count_nonzero(learned & truth))
    first, second = float(np.count_nonzero(learned)), float(np.count_nonzero(truth))
    size = float(truth.size)
    below = first * second * (size - first) * (size - second)
    return (size * both - first * second) / float(np.sqrt(below)) if below > 0.0 else 0.0


def dog(learned: ArrayLike, truth: ArrayLike) -> float:
    """Return the difference of graphs, ``‖L - L_true‖_F / ‖L_true‖_F``."""
    first, second = _pair(learned, truth)
    size = float(np.linalg.norm(second))
    if size == 0.0:
        raise ProblemError("truth has no edges, so a relative difference to it is undefined.")
    return float(np.linalg.norm(first - second)) / size


def nmi(labels: ArrayLike, truth: ArrayLike) -> float:
    """Return the normalised mutual information of two partitions of the vertices."""
    found, expected = np.asarray(labels), np.asarray(truth)
    if found.ndim != 1 or found.shape != expected.shape:
        raise ProblemError(
            f"labels and truth must each have one label per vertex; "
            f"they have shapes {found.shape} and {expected.shape}."
        )
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(expected, found))


def reliability(laplacian: ArrayLike, value: float, eta: float, test_samples: ArrayLike) -> float:
    """Return the share of test samples with ``xᵀLx + η‖L‖²`` below the worst-case ``value``."""
    matrix = square_matrix("laplacian", laplacian, error=ProblemError)
    samples = finite_array("test_samples", test_samples, 2)
    if samples.shape[1] != matrix.shape[0]:
        raise ProblemError(
            f"test_samples has {samples.shape[1]} columns; "
            f"the Laplacian has {matrix.shape[0]} vertices."
        )
    eta = real_number("eta", eta, 0.0)
    risks = np.einsum("ni,ij,nj->n", samples, matrix, samples, optimize=True)
    return float(np.mean(risks + eta * float(np.vdot(matrix, matrix)) < value))


def _pair(learned: ArrayLike, truth: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    second = square_matrix("truth", truth, error=ProblemError)
    return square_matrix("learned", learned, second.shape[0], ProblemError), second
