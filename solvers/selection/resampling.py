"""Draw random halves and resamples of rows, alone or in runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wdro_cvx import ProblemError
from wdro_cvx.validation import Array, whole_number

Seed = int | np.random.RandomState | np.random.Generator | None


def generator(seed: Seed) -> np.random.Generator:
    """Return a NumPy generator; a ``RandomState``, as scikit-learn accepts it, is converted."""
    if isinstance(seed, np.random.RandomState):
        seed = int(seed.randint(2**31))
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ProblemError(
            f"random_state must be a whole number ≥ 0, a NumPy generator or None; it is {seed!r}."
        ) from None


def checked_block(block: int, n: int) -> int:
    """Return the length of runs; raise ProblemError if it exceeds half of the ``n`` signals."""
    block = whole_number("block", block, 1)
    if block > max(n // 2, 1):
        raise ProblemError(
            f"block must be at most half of the {n} signals, so that there is something to draw "
            f"from; it is {block}."
        )
    return block


def draw_halves(n: int, block: int, rng: np.random.Generator, resamples: int) -> Array:
    """Return row weights, half of them 2 and half 0, one line per resample.

    The rows of a run share one weight. Runs start at a random row; the last may be shorter. For an
    odd number of runs the weights are adjusted so that their mean and variance are still 1: the
    variance of a resampled mean is then the unbiased estimate of its variance.
    """
    runs = -(-n // block)
    share = (runs // 2) / runs
    values = np.full((resamples, runs), 1.0 - np.sqrt(share / (1.0 - share)))
    values[:, : runs // 2] = 1.0 + np.sqrt((1.0 - share) / share)
    values = rng.permuted(values, axis=1)
    starts = rng.integers(n, size=(resamples, 1)) if block > 1 else np.zeros((resamples, 1), int)
    return np.asarray(np.take_along_axis(values, (np.arange(n) - starts) % n // block, axis=1))


def draw_counts(n: int, block: int, rng: np.random.Generator, resamples: int) -> NDArray[np.int64]:
    """Return how often each row is drawn, one line per resample; runs wrap around the end."""
    runs = -(-n // block)
    starts = rng.integers(n, size=(resamples, runs))
    drawn = (starts[:, :, np.newaxis] + np.arange(block)).reshape(resamples, -1)[:, :n] % n
    return np.array([np.bincount(rows, minlength=n) for rows in drawn])
