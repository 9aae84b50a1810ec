"""Test edges by partial correlations, where the table allows it.

A Laplacian model does not see the level of a row. Independent columns therefore look to it like a
complete graph with small weights, which many rows make clear. Partial correlations are zero for
such columns, and the unit of a column does not matter to them. They need a covariance that can be
inverted: several rows per column, and a level that varies like the columns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvers.selection.preparation import column_spread
from solvers.selection.signals import Signals
from wdro_cvx.validation import Array

_ROWS = 4  # per column; with fewer, the refit of the learned graph is more powerful
_LEVEL = 0.5  # the least variance of the level, relative to the median of all directions
_CELLS = 10**7  # products in memory at a time


def partial_z_scores(
    signals: Signals, heads: NDArray[np.integer], tails: NDArray[np.integer]
) -> Array | None:
    """Return z-scores of partial correlations given all other columns; None if they say little.

    Fisher's transformation makes them standard normal for Gaussian rows. If products of residuals
    vary more than those of Gaussian rows, the scores are smaller accordingly.

    Parameters
    ----------
    signals : Signals
        Without missing values.
    heads, tails : arrays (m,) of int
        The pairs; their columns are not constant.

    Examples
    --------
    >>> import numpy as np
    >>> from solvers.selection.partial import partial_z_scores
    >>> from solvers.selection.signals import Signals
    >>> table = np.random.default_rng(0).standard_normal((200, 3))
    >>> table[:, 1] += 3.0 * table[:, 0]
    >>> pairs = np.array([0, 0]), np.array([1, 2])
    >>> partial_z_scores(Signals(table), *pairs).round(1).tolist()
    [22.3, 0.0]
    """
    shares = signals.shares
    mean, spread = column_spread(signals)
    moving = np.flatnonzero(spread > 0.0)
    d, n = len(moving), round(1.0 / float(shares @ shares), 6)
    if d < 2 or n < _ROWS * d:
        return None
    columns = (signals.table[:, moving] - mean[moving]) / spread[moving]
    correlation = (columns * shares[:, np.newaxis]).T @ columns
    level = float(correlation.sum()) / d
    values = np.linalg.eigvalsh(correlation)
    if level < _LEVEL * float(np.median(values)) or values[0] < np.finfo(float).eps * d:
        return None
    precision = np.linalg.inv(correlation)
    scale = 1.0 / np.sqrt(np.diag(precision))
    residuals = (columns @ precision) * scale
    place = np.cumsum(spread > 0.0) - 1
    first, second = place[heads], place[tails]
    partial = -precision[first, second] * scale[first] * scale[second]
    excess = np.ones(len(heads))
    step = max(1, _CELLS // len(shares))
    for start in range(0, len(heads), step):
        part = slice(start, start + step)
        products = residuals[:, first[part]] * residuals[:, second[part]]
        variance = shares @ (products - shares @ products) ** 2
        excess[part] = np.sqrt(np.maximum(variance / (1.0 + partial[part] ** 2), 1.0))
    bounded = np.clip(partial, -1.0 + 1e-15, 1.0 - 1e-15)
    return np.asarray(np.arctanh(bounded) * np.sqrt(n - d - 1.0) / excess)
