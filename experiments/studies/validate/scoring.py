"""How well scores of pairs agree with a known graph, and how sure that is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.studies.validate.methods import Learned
from experiments.studies.validate.sources import Source
from wdro_cvx.validation import Array

_RESAMPLES = 200
#: What a row of scores has.
SCORES = (
    "average_precision", "f1", "edges", "average_precision_low", "average_precision_high", "f1_low",
    "f1_high",
)  # fmt: skip


def average_precision(scores: Array, truth: NDArray[np.bool_]) -> float:
    """Return the average precision of the ranking of all pairs; ties count as one step."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(truth, scores))


def f1(edges: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Return the harmonic mean of precision and recall; 0 without a hit."""
    hits = int(np.count_nonzero(edges & truth))
    return 2 * hits / max(int(np.count_nonzero(edges)) + int(np.count_nonzero(truth)), 1)


def score(source: Source, learned: Learned) -> dict[str, float]:
    """Return both scores with 95 % intervals from resampled vertices.

    A resample of vertices stands for the graph among them; pairs of a vertex with itself do not
    count. It tells how much the scores depend on which vertices there are, not on the signals.
    """
    d = len(source.truth)
    rng = np.random.default_rng(0)
    pairs = np.triu_indices(d, 1)
    row = {
        "average_precision": average_precision(learned.scores[pairs], source.truth[pairs]),
        "f1": f1(learned.edges[pairs], source.truth[pairs]),
        "edges": float(np.count_nonzero(learned.edges[pairs])),
    }
    drawn: list[tuple[float, float]] = []
    for _ in range(_RESAMPLES):
        vertices = rng.integers(d, size=d)
        heads, tails = vertices[pairs[0]], vertices[pairs[1]]
        kept = heads != tails
        heads, tails = heads[kept], tails[kept]
        truth = source.truth[heads, tails]
        drawn.append(
            (average_precision(learned.scores[heads, tails], truth),
             f1(learned.edges[heads, tails], truth))
        )  # fmt: skip
    for name, values in zip(("average_precision", "f1"), np.array(drawn).T, strict=True):
        low, high = np.quantile(values, [0.025, 0.975])
        row |= {f"{name}_low": float(low), f"{name}_high": float(high)}
    return row
