"""Test whether a table has any structure, by comparing it with permuted tables.

Independent columns have no graph, but every solver returns one. The statistic is the sum of the
squared correlations between columns, after the mean over the vertices is subtracted from each row.
Permuting each column by itself destroys all dependence between columns and nothing else. Row means
are then subtracted again, since this alone causes correlations. Columns of a time series are first
whitened, since permuted columns have no autocorrelation. Missing values stay where they are: many
columns may lack the same rows, which must not look like dependence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from wdro_cvx.validation import Array

PERMUTATIONS = 99
#: A table has structure if its statistic is this many deviations above that of permuted tables.
_EVIDENT = 2.0
_FEWEST = 4  # rows below which permuted tables hardly differ
_MOST_COLUMNS = 1000  # a wide table is tested on this many of its columns
_SLOW = 0.1  # autocorrelation below which rows count as independent
_SMALL = 3  # up to this many columns, subtracting row means would hide most of the structure


Present = NDArray[np.bool_] | None


@dataclass(frozen=True, eq=False)
class Structure:
    """The result of the test.

    Attributes
    ----------
    score : float
        How many standard deviations the statistic is above its mean over permuted tables.
    rows : array (n, d)
        Whitened rows with standardised columns.
    lag : float
        The correlation of neighbouring rows that the columns share, as estimated before whitening.
    present : array (n, d) of bool, or None
        Which cells have a value; the others are zero. None if all have one.
    """

    score: float
    rows: Array
    lag: float = 0.0
    present: Present = None

    @property
    def found(self) -> bool:
        """Whether the table has structure."""
        return self.score > _EVIDENT

    def z_scores(self, heads: NDArray[np.integer], tails: NDArray[np.integer]) -> Array:
        """Return how far pairs of columns correlate above the mean correlation, in deviations.

        The deviation is the larger one of that under independence and the observed one.
        """
        n, d = self.rows.shape
        centre = -1.0 / (d - 1) if d > _SMALL else 0.0
        found = np.empty(len(heads))
        for part in _parts(len(heads), n):
            products = self.rows[:, heads[part]] * self.rows[:, tails[part]]
            spread = np.maximum(products.std(axis=0), 1.0)
            both = 1.0
            if self.present is not None:  # the share of rows that have both values
                both = np.mean(self.present[:, heads[part]] & self.present[:, tails[part]], axis=0)
            found[part] = (products.mean(axis=0) - both * centre) / spread * np.sqrt(n)
        return found


def find_structure(
    rows: Array, heavy: bool, rng: np.random.Generator, present: Present = None
) -> Structure:
    """Test a table for structure.

    Parameters
    ----------
    rows : array (N, d)
        The signals in order; missing values are replaced by the mean of their column.
    heavy : bool
        Whether rows differ so much in length that each is scaled to length one.
    rng : numpy.random.Generator
    present : array (N, d) of bool, optional
        Which cells have a value; by default all.

    Returns
    -------
    Structure

    Examples
    --------
    >>> import numpy as np
    >>> from solvers.selection.structure import find_structure
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.standard_normal((50, 6))
    >>> find_structure(noise, False, rng).found
    False
    >>> find_structure(noise + noise[:, [1, 0, 3, 2, 5, 4]], False, rng).found
    True
    """
    white, lag = _whitened(rows / (float(np.abs(rows).max(initial=0.0)) or 1.0), present)
    present = None if present is None else present[-len(white) :]
    if heavy:
        lengths = np.linalg.norm(white, axis=1, keepdims=True)
        white = _standardised(white / np.where(lengths > 0.0, lengths, 1.0), present)
    if len(white) < _FEWEST:
        return Structure(0.0, white, lag, present)
    tested, known = white, present
    if white.shape[1] > _MOST_COLUMNS:
        columns = rng.choice(white.shape[1], _MOST_COLUMNS, replace=False)
        tested, known = white[:, columns], None if present is None else present[:, columns]
    null = [_statistic(_permuted(tested, known, rng), known) for _ in range(PERMUTATIONS)]
    spread = float(np.std(null))
    score = (_statistic(tested, known) - float(np.mean(null))) / spread if spread > 0.0 else 0.0
    return Structure(score, white, lag, present)


def sees_no_opposites(d: int) -> bool:
    """Return whether the test of d columns ignores negative correlations."""
    return d <= _SMALL


def discoveries(z_scores: Array, pairs: int) -> Array:
    """Return q-values of one-sided z-scores (Benjamini and Hochberg, 1995).

    Parameters
    ----------
    z_scores : array (m,)
    pairs : int
        The number of all tests; those that are not listed have p-value 1.

    Examples
    --------
    >>> from solvers.selection.structure import discoveries
    >>> discoveries(np.array([4.0, 0.0]), pairs=10).round(4).tolist()
    [0.0003, 1.0]
    """
    levels = stats.norm.sf(z_scores)
    order = np.argsort(levels, kind="stable")
    raised = levels[order] * pairs / np.arange(1, len(levels) + 1)
    found = np.empty(len(levels))
    found[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)
    return found


def _permuted(rows: Array, present: Present, rng: np.random.Generator) -> Array:
    """Return rows with the values of every column permuted among the rows that have one."""
    if present is None:
        return rng.permuted(rows, axis=0)
    places = np.argsort(~present, axis=0, kind="stable")  # first those with a value
    drawn = np.argsort(np.where(present, rng.random(rows.shape), 2.0), axis=0, kind="stable")
    found = np.empty_like(rows)
    np.put_along_axis(found, places, np.take_along_axis(rows, drawn, axis=0), axis=0)
    return found


def _statistic(rows: Array, present: Present) -> float:
    """Return the sum of squared correlations, from the smaller of the two Gram matrices."""
    n, d = rows.shape
    if d <= _SMALL:  # only similar columns count; with row means, two columns are always opposites
        products = _standardised(rows, present, row_means=False)
        shared = (products.T @ products / n)[np.triu_indices(d, 1)]
        return float(np.sum(np.maximum(shared, 0.0) ** 2))
    rows = _standardised(rows, present)
    gram = rows @ rows.T if n < d else rows.T @ rows
    return float(np.vdot(gram, gram)) / n**2


def _whitened(rows: Array, present: Present) -> tuple[Array, float]:
    """Return standardised rows without the autocorrelation that columns share, and its size."""
    n, d = rows.shape
    white = _standardised(_scaled(rows, present), present, row_means=d > _SMALL)
    below = float(np.vdot(white[:-1], white[:-1]))
    if n < _FEWEST or below == 0.0:
        return white, 0.0
    slope = float(np.vdot(white[1:], white[:-1])) / below * n / (n - 1)
    slope = min(slope + (1.0 + 3.0 * slope) / n, 0.99)  # the estimate is biased towards zero
    if slope <= max(_SLOW, 2.0 / np.sqrt(n * d)):
        return white, slope
    known = None if present is None else present[1:]
    changes = _scaled(rows[1:] - slope * rows[:-1], known)
    return _standardised(changes, known, row_means=d > _SMALL), slope


def _standardised(rows: Array, present: Present, row_means: bool = True) -> Array:
    if row_means:
        rows = rows - _means(rows, present, 1)
    return _scaled(rows, present)


def _scaled(rows: Array, present: Present) -> Array:
    """Return columns of mean zero and deviation one; constant ones and missing values are zero."""
    centred = rows - _means(rows, present, 0)
    if present is not None:
        centred = np.where(present, centred, 0.0)
    spread = np.sqrt(_means(centred**2, present, 0))
    return np.asarray(centred / np.where(spread > 1e-12 * spread.max(initial=0.0), spread, np.inf))


def _means(rows: Array, present: Present, axis: int) -> Array:
    """Return the means of the cells that have a value, as a row or a column."""
    if present is None:
        return np.asarray(rows.mean(axis=axis, keepdims=True))
    counts = np.maximum(present.sum(axis=axis, keepdims=True), 1)
    return np.asarray(np.sum(rows, axis=axis, keepdims=True, where=present) / counts)


def _parts(count: int, height: int) -> list[slice]:
    """Return slices such that products of that many columns stay small."""
    step = max(1, 4_000_000 // max(height, 1))
    return [slice(start, start + step) for start in range(0, count, step)]
