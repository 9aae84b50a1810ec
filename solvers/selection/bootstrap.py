"""The bootstrap radius: the distance between a sample's second moment and the true one.

A set with this radius contains the true second moment with the given confidence, as far as
resampling can tell; docs/validation.md reports a coverage simulation. The rule follows
Cisneros-Velarde, Petersen and Oh (AISTATS 2020), who choose the radius of a robust graphical lasso
this way. Here the distance is the one of the ambiguity set in use.

A resample counts half of the rows twice and the other half not at all. Drawing rows with
replacement would overestimate the distance when there are many vertices: a row that is drawn
``count`` times adds ``(count - 1)²``, which has mean 1 and variance 3.

The distance between half-samples and their table estimates the distance between the table and the
truth only up to a factor. It is too large with many vertices. For transport sets with fewer signals
than vertices it is far too small, because a half-sample has no mass in directions that the sample
lacks. Therefore the factor is calibrated where the truth is known, on tables drawn from a model of
the data (:mod:`solvers.selection.likely_law`). The radius is the half-sample distance of the data
times a quantile, over the simulated tables, of the ratio between the distance to the model and the
table's own half-sample distance (prepivoting, Beran, Biometrika 1987). Errors of the model affect
both distances and nearly cancel.

The half-sample quantile is used without calibration for runs of rows, tables with holes, very many
signals or vertices, and sets without a distance to the model. With heavy tails, which the model
represents poorly, both quantiles are computed and the larger one is the radius.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from solvers.bracket.threads import right_threads
from solvers.selection.likely_law import LikelyLaw, likely_law
from solvers.selection.parallel import in_processes
from solvers.selection.resampling import Seed, checked_block, draw_halves, generator
from solvers.selection.signals import Signals
from wdro_cvx import AmbiguitySet, DataError, Nominal, ProblemError
from wdro_cvx.moments.holes import moment_of, nearest_moment, pair_squares
from wdro_cvx.validation import Array

#: The share of tables for which the set should contain the truth.
CONFIDENCE = 0.95
#: With 199 resamples, the 190th smallest distance is exactly the 95 % quantile.
RESAMPLES = 199
#: The rank of the radius among the sorted distances.
PLACE = int(np.ceil(CONFIDENCE * (RESAMPLES + 1)))
_DENSE = 5000  # the most vertices for which d × d arrays are formed
_LAW_VERTICES = 500  # with more, calibration takes minutes: each distance is a decomposition
_MANY = 10  # signals per vertex; with more, half-samples need no calibration
# Half-samples times vertices for one mean distance; with many vertices, distances hardly vary.
_COLUMNS = 160
# The quick radius: half-samples times vertices, the factor from mean to quantile, and the largest
# share of the length of a signal.
_QUICK, _MARGIN, _SHARE = 400, 1.1, 0.05


def bootstrap_radius(
    signals: Signals,
    ambiguity: AmbiguitySet,
    *,
    block: int = 1,
    seed: Seed = 0,
    progress: bool = False,
    n_jobs: int | None = None,
) -> float:
    """Return the 95 % quantile of the distance between a table like this one and its true moment.

    Parameters
    ----------
    signals : Signals
    ambiguity : AmbiguitySet
        The kind of set; its radius does not matter.
    block : int
        Rows are drawn in runs of this length. Use more than 1 for time series: successive signals
        are alike, and drawing them one by one would underestimate the distance.
    seed : int or generator
    progress : bool
        Show how many tables were drawn, on standard error.
    n_jobs : int, optional
        The number of processes.

    Returns
    -------
    float

    Raises
    ------
    DataError
        If there is only one signal.
    """
    if len(signals) < 2:
        raise DataError("1 sample cannot be resampled; give the radius as a number.")
    block = checked_block(block, len(signals))
    from tqdm import tqdm

    with right_threads(signals.d):
        radii = []
        for way in resampled_distances(signals, ambiguity, block, seed, n_jobs):
            found = tqdm(way, "radius", RESAMPLES, leave=False, disable=not progress)
            radii.append(float(np.sort(list(found))[PLACE - 1]))
        return max(radii)


def quick_radius(
    signals: Signals, ambiguity: AmbiguitySet, *, block: int = 1, seed: Seed = 0
) -> float:
    """Return the smaller of a quick bootstrap radius and a small share of a signal's length.

    The bootstrap radius is the mean distance of a few half-samples, times 1.1, which is close to
    the calibrated quantile. With few signals it is so large that the graph loses its structure; the
    share limits it.

    Parameters
    ----------
    signals : Signals
    ambiguity : AmbiguitySet
        The kind of set; its radius does not matter.
    block : int
        Rows are drawn in runs of this length.
    seed : int or generator

    Raises
    ------
    DataError
        If there is only one signal.
    """
    if len(signals) < 2:
        raise DataError("1 sample cannot be resampled; give the radius as a number.")
    block = checked_block(block, len(signals))
    length = signals.unit() * float(np.sqrt(signals.d))
    most = _SHARE * length**ambiguity.radius_degree
    with right_threads(signals.d):
        weights = draw_halves(len(signals), block, generator(seed), max(2, _QUICK // signals.d))
        found = list(_distances(*_centred(signals, ambiguity), ambiguity, weights))
    return min(_MARGIN * float(np.mean(found)), most)


def has_law(signals: Signals, ambiguity: AmbiguitySet, block: int = 1) -> bool:
    """Return whether the half-sample distance is calibrated on simulated tables.

    Runs of rows and rows with holes are not independent draws from a model.
    """
    n, d = len(signals), signals.d
    small = d <= _LAW_VERTICES and n <= _MANY * d
    return ambiguity.finite_distance and small and signals.complete and block == 1


def resampled_distances(
    signals: Signals,
    ambiguity: AmbiguitySet,
    block: int = 1,
    seed: Seed = 0,
    n_jobs: int | None = None,
) -> list[Iterator[float]]:
    """Return one or two streams of distances; the radius is the larger of their quantiles."""
    rng = generator(seed)
    law = None
    if has_law(signals, ambiguity, block):
        law = likely_law(signals.centred, signals.shares, rng, RESAMPLES)
    ways = [] if law is None else [_calibrated(signals, ambiguity, law, rng, n_jobs)]
    if law is None or law.heavy:
        weights = draw_halves(len(signals), block, rng, RESAMPLES)
        ways.append(_distances(*_centred(signals, ambiguity), ambiguity, weights, n_jobs))
    return ways


def _calibrated(
    signals: Signals,
    ambiguity: AmbiguitySet,
    law: LikelyLaw,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> Iterator[float]:
    """Yield law-to-sample distances, rescaled by each simulated table's half-sample distance.

    The data and the simulated tables use equally many halves, so the quantile is exact if the law
    is that of the data.
    """

    def halves() -> Array:
        return draw_halves(len(signals), 1, rng, max(2, _COLUMNS // signals.d))

    own = _half_sample_distance(signals.centred, halves(), law.shares, ambiguity)
    calls = ((law.draw(rng), halves(), law.shares, law.covariance, ambiguity)
             for _ in range(RESAMPLES))  # fmt: skip
    for ratio in in_processes(_relative_distance, calls, n_jobs):
        yield own * ratio


def _relative_distance(
    table: Array, halves: Array, shares: Array, truth: Array, ambiguity: AmbiguitySet
) -> float:
    """Return the distance of a table to the true moment, relative to its half-sample distance."""
    distance = ambiguity.distance(_nominal(table, shares), truth)
    unit = _half_sample_distance(table, halves, shares, ambiguity)
    return distance / unit if unit > 0.0 else np.inf


def _half_sample_distance(
    rows: Array, halves: Array, shares: Array, ambiguity: AmbiguitySet
) -> float:
    nominal, resampled = _from_rows(rows, shares, ambiguity)
    return float(np.mean([ambiguity.distance(nominal, resampled(line)) for line in halves]))


Resample = Callable[[Array], Array]


def _distances(
    nominal: Nominal,
    resampled: Resample,
    ambiguity: AmbiguitySet,
    weights: Array,
    n_jobs: int | None = None,
) -> Iterator[float]:
    calls = ((nominal, resampled, ambiguity, line) for line in weights)
    return in_processes(_resampled_distance, calls, n_jobs)


def _resampled_distance(
    nominal: Nominal, resampled: Resample, ambiguity: AmbiguitySet, line: Array
) -> float:
    moment = resampled(line)
    size, drawn = float(np.trace(nominal.second_moment)), float(np.trace(moment))
    if drawn <= 0.0:
        return 0.0 if size == 0.0 else np.inf
    # Distances scale with the moment that they are measured from, so compare relative ones.
    return ambiguity.distance(nominal, moment) * (size / drawn) ** (ambiguity.radius_degree / 2)


def _centred(signals: Signals, ambiguity: AmbiguitySet) -> tuple[Nominal, Resample]:
    """Return the row-centred distribution and a function that resamples its moment."""
    if not signals.complete:
        return _with_holes(signals)
    return _from_rows(signals.centred, signals.shares, ambiguity)


def _from_rows(rows: Array, shares: Array, ambiguity: AmbiguitySet) -> tuple[Nominal, Resample]:
    """Return the distribution of rows and a function that resamples its moment.

    If the set's distance is rotation invariant and there are fewer rows than vertices, the rows are
    expressed in an orthonormal basis of their span, so that nothing is d × d.
    """
    n, d = rows.shape
    structure = ambiguity.structure(_nominal(rows, shares)) if n < d else None
    if structure is not None and structure.isotropic:
        rows = rows @ np.linalg.qr(rows.T)[0]
    elif d > _DENSE:
        raise ProblemError(
            f"the bootstrap of {type(ambiguity).__name__} makes arrays of d × d numbers, and "
            f"{d} vertices are too many for that; give the radius as a number."
        )

    def resampled(weights: Array) -> Array:
        counted = weights * shares
        total = float(counted.sum())
        return np.asarray((rows * (counted / (total or 1.0))[:, np.newaxis]).T @ rows)

    return _nominal(rows, shares), resampled


def _nominal(rows: Array, shares: Array) -> Nominal:
    if (shares == shares[0]).all():
        return Nominal(rows.mean(axis=0), None, rows)  # sets that reweigh signals need them
    return Nominal.from_rows(shares @ rows, rows * np.sqrt(shares)[:, np.newaxis])


def _with_holes(signals: Signals) -> tuple[Nominal, Resample]:
    nominal, _ = signals.nominal()
    whole = pair_squares(signals.table, signals.weights).squares

    def resampled(weights: Array) -> Array:
        pairs = pair_squares(signals.table, weights * signals.shares)
        # Pairs without common rows in the resample keep their original value.
        rows, _ = nearest_moment(moment_of(np.where(pairs.weight > 0.0, pairs.squares, whole)))
        return np.asarray(rows.T @ rows)

    return nominal, resampled
