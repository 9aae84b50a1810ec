"""Measure how well a graph predicts a vertex by its neighbours."""

from __future__ import annotations

import numpy as np

from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.validation import Array


def prediction_error(laplacian: Array, moment: Array) -> float:
    """Return the relative error of predicting a vertex by the weighted mean of its neighbours.

    The error needs no true graph. Unlike the risk, it can compare graphs with different etas. A
    vertex without neighbours is predicted by zero. As for the scores of edges, weights below
    ``EDGE_THRESHOLD`` are no edges: a mean does not depend on the size of its weights, so the
    smallest ones that a solver leaves would count like all others.

    Parameters
    ----------
    laplacian : array (d, d)
    moment : array (d, d)
        The second moment of the signals that are predicted.
    """
    weights = np.where(laplacian < -EDGE_THRESHOLD, -laplacian, 0.0)
    np.fill_diagonal(weights, 0.0)
    degrees = weights.sum(axis=1)
    miss = np.eye(len(laplacian)) - weights / np.where(degrees > 0.0, degrees, 1.0)[:, np.newaxis]
    return float(np.vdot(miss @ moment, miss) / np.trace(moment))
