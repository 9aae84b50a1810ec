"""Spoil training signals: outlying rows, heavy tails, bad sensors, missing large values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wdro_cvx.validation import Array

CLEAN = "clean"
#: A twentieth of the signals are multiplied by six.
OUTLIER_SHARE, OUTLIER_FACTOR = 0.05, 6.0
#: Degrees of freedom of heavy tails.
FREEDOM = 3.0
#: A sensor that reads noise of five deviations in a fifth of the signals.
BROKEN_SHARE, BROKEN = 0.2, 5.0
#: A sensor that drifts by three deviations from the first signal to the last.
DRIFT = 3.0
#: Half of the values beyond the eightieth percentile are missing.
MISSING_FROM, MISSING_SHARE = 0.8, 0.5


def _rows(samples: Array, rng: np.random.Generator) -> Array:
    factors = np.ones(len(samples))
    count = max(1, round(OUTLIER_SHARE * len(samples)))
    factors[rng.choice(len(samples), count, replace=False)] = OUTLIER_FACTOR
    return np.asarray(samples * factors[:, np.newaxis])


def _tails(samples: Array, rng: np.random.Generator) -> Array:
    """Return signals with a multivariate Student distribution of the same covariance."""
    squares = rng.chisquare(FREEDOM, (len(samples), 1))
    return np.asarray(samples * np.sqrt((FREEDOM - 2.0) / squares))


def _broken(samples: Array, rng: np.random.Generator) -> Array:
    spoilt, vertex = samples.copy(), rng.integers(samples.shape[1])
    hit = rng.random(len(samples)) < BROKEN_SHARE
    spoilt[hit, vertex] = BROKEN * samples.std() * rng.standard_normal(np.count_nonzero(hit))
    return spoilt


def _drifting(samples: Array, rng: np.random.Generator) -> Array:
    spoilt, vertex = samples.copy(), rng.integers(samples.shape[1])
    spoilt[:, vertex] += DRIFT * samples.std() * np.linspace(-0.5, 0.5, len(samples))
    return spoilt


def _missing(samples: Array, rng: np.random.Generator) -> Array:
    size = np.abs(samples - np.median(samples, axis=0))
    large = size > np.quantile(size, MISSING_FROM, axis=0)
    return np.where(large & (rng.random(samples.shape) < MISSING_SHARE), np.nan, samples)


#: What may have happened to the training signals.
TROUBLES: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    CLEAN: lambda samples, rng: samples,
    "outlying rows": _rows,
    "heavy tails": _tails,
    "broken sensor": _broken,
    "drifting sensor": _drifting,
    "missing values": _missing,
}
