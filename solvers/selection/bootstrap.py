"""A radius from the data alone: how far second moments of tables like this are from their law's.

The set that has this radius contains the true second moment with the given confidence, as far as
resampling tells (docs/validation.md has a simulation of it). After Cisneros-Velarde, Petersen and
Oh (AISTATS 2020), who choose the radius of a robust graphical lasso so; here the distance is that
of whatever set is used.

A resample is half of the rows counted twice. Rows drawn with replacement are drawn several times,
and with many vertices that alone makes a resample far: ``(count - 1)²`` has mean 1 and variance 3,
and the squared distance varies with it, while no row of the sample is there twice.

How far halves are from their table is no more than a yardstick of how far the table is from the
truth: with many vertices it is too long, and for sets that move signals far too short where signals
are fewer than vertices, since no half has mass in directions that no signal has. So the yardstick
is gauged where the truth is known, on tables drawn of a law that the data may come from
(:mod:`solvers.selection.likely_law`): the radius is the yardstick of the data times the quantile,
over those tables, of the distance to the law in their own yardsticks (prepivoting, Beran,
Biometrika 1987). An error of the law is in both and nearly cancels.

Runs of rows, rows with holes, very many signals or vertices, and sets that have no distance to the
law have the quantile of the halves itself, each made as large as the sample. It is asked as well
where tails are heavy, which a law sees poorly, the larger radius being taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from solvers.bracket.threads import right_threads
from solvers.selection.likely_law import LikelyLaw, likely_law
from solvers.selection.signals import Signals
from wdro_cvx import AmbiguitySet, DataError, Nominal, ProblemError
from wdro_cvx.moments.holes import moment_of, nearest_moment, pair_squares
from wdro_cvx.validation import Array, whole_number

Seed = int | np.random.RandomState | np.random.Generator | None
#: The share of tables whose set contains the truth.
CONFIDENCE = 0.95
#: With 199 the 190th is the quantile exactly: of 200 places between them the truth has one.
RESAMPLES = 199
#: Which of the sorted distances the radius is.
PLACE = int(np.ceil(CONFIDENCE * (RESAMPLES + 1)))
_DENSE = 5000  # matrices of more vertices are not made
_LAW_VERTICES = 500  # of more a law takes minutes: every distance to it is a decomposition
_MANY = 10  # signals for every vertex; then halves are right, and a law's tables are large
# Halves of how many columns are compared for a yardstick. With many vertices all are about as far.
_COLUMNS = 160


def bootstrap_radius(
    signals: Signals,
    ambiguity: AmbiguitySet,
    *,
    block: int = 1,
    seed: Seed = 0,
    progress: bool = False,
) -> float:
    """Return the 95 % quantile of the set's distance between tables like this one and their law.

    Parameters
    ----------
    signals : Signals
    ambiguity : AmbiguitySet
        The kind of set; its radius does not matter.
    block : int
        Rows are drawn in runs of this length: signals that follow each other in time are alike, and
        drawn one by one they would seem to tell more than they do.
    seed : int or generator
    progress : bool
        Show how many tables were drawn, on standard error.
    """
    if len(signals) < 2:
        raise DataError("1 sample cannot be resampled; give the radius as a number.")
    block = checked_block(block, len(signals))
    from tqdm import tqdm

    with right_threads(signals.d):
        radii = []
        for way in resampled_distances(signals, ambiguity, block, seed):
            found = tqdm(way, "radius", RESAMPLES, leave=False, disable=not progress)
            radii.append(float(np.sort(list(found))[PLACE - 1]))
        return max(radii)


def checked_block(block: int, n: int) -> int:
    """Return the length of runs, or say that ``n`` signals have no two of them."""
    block = whole_number("block", block, 1)
    if block > max(n // 2, 1):
        raise ProblemError(
            f"block must be at most half of the {n} signals, so that there is something to draw "
            f"from; it is {block}."
        )
    return block


def has_law(signals: Signals, ambiguity: AmbiguitySet, block: int = 1) -> bool:
    """Say whether the radius is gauged on tables drawn of a law, rather than that of halves alone.

    Runs and rows with holes are no independent rows of a law.
    """
    n, d = len(signals), signals.d
    small = d <= _LAW_VERTICES and n <= _MANY * d
    return ambiguity.finite_distance and small and signals.complete and block == 1


def resampled_distances(
    signals: Signals, ambiguity: AmbiguitySet, block: int = 1, seed: Seed = 0
) -> list[Iterator[float]]:
    """Return one or two ways to find how far a table is, as if all were like this one.

    The truth is in the set if it is near enough by one of them.
    """
    rng = generator(seed)
    law = None
    if has_law(signals, ambiguity, block):
        law = likely_law(signals.centred, signals.shares, rng, RESAMPLES)
    ways = [] if law is None else [_gauged(signals, ambiguity, law, rng)]
    if law is None or law.heavy:
        weights = draw_halves(len(signals), block, rng)
        ways.append(_distances(*_centred(signals, ambiguity), ambiguity, weights))
    return ways


def _gauged(
    signals: Signals, ambiguity: AmbiguitySet, law: LikelyLaw, rng: np.random.Generator
) -> Iterator[float]:
    """Yield how far the law is from its tables in yardsticks of the table, in that of the signals.

    Both yardsticks have equally many halves: then the quantile is exact if the law is.
    """

    def yardstick(rows: Array) -> float:
        nominal, resampled = _from_rows(rows, law.shares, ambiguity)
        weights = draw_halves(len(rows), 1, rng, max(2, _COLUMNS // signals.d))
        return float(np.mean([ambiguity.distance(nominal, resampled(line)) for line in weights]))

    own = yardstick(signals.centred)
    for _ in range(RESAMPLES):
        table = law.draw(rng)
        distance = ambiguity.distance(_nominal(table, law.shares), law.covariance)
        unit = yardstick(table)
        yield own * distance / unit if unit > 0.0 else np.inf


def draw_halves(n: int, block: int, rng: np.random.Generator, resamples: int = RESAMPLES) -> Array:
    """Return how much every row counts: half of them 2 and half 0, one line per resample.

    Runs of rows have one weight; they begin anywhere, and the last may be shorter. Of an odd number
    fewer than half count more. The weights have mean 1 and variance 1, so that the variance of a
    resampled mean is the unbiased estimate of its variance.
    """
    runs = -(-n // block)
    share = (runs // 2) / runs
    values = np.full((resamples, runs), 1.0 - np.sqrt(share / (1.0 - share)))
    values[:, : runs // 2] = 1.0 + np.sqrt((1.0 - share) / share)
    values = rng.permuted(values, axis=1)
    starts = rng.integers(n, size=(resamples, 1)) if block > 1 else np.zeros((resamples, 1), int)
    return np.asarray(np.take_along_axis(values, (np.arange(n) - starts) % n // block, axis=1))


def draw_counts(
    n: int, block: int, rng: np.random.Generator, resamples: int = RESAMPLES
) -> NDArray[np.int64]:
    """Return how often every row is drawn, one line per resample; runs go on at the beginning."""
    runs = -(-n // block)
    starts = rng.integers(n, size=(resamples, runs))
    drawn = (starts[:, :, np.newaxis] + np.arange(block)).reshape(resamples, -1)[:, :n] % n
    return np.array([np.bincount(rows, minlength=n) for rows in drawn])


Resample = Callable[[Array], Array]


def _distances(
    nominal: Nominal, resampled: Resample, ambiguity: AmbiguitySet, weights: Array
) -> Iterator[float]:
    size = float(np.trace(nominal.second_moment))
    for line in weights:
        moment = resampled(line)
        # A sample with a small moment is far from the truth, and its resamples are near to it; what
        # is alike in both is the distance relative to the moment of which it is measured.
        drawn = float(np.trace(moment))
        if drawn <= 0.0:
            yield 0.0 if size == 0.0 else np.inf
            continue
        pivot = (size / drawn) ** (ambiguity.radius_degree / 2)
        yield ambiguity.distance(nominal, moment) * pivot


def _centred(signals: Signals, ambiguity: AmbiguitySet) -> tuple[Nominal, Resample]:
    """Return the distribution without levels, which no Laplacian sees, and its resamples."""
    if not signals.complete:
        return _with_holes(signals)
    return _from_rows(signals.centred, signals.shares, ambiguity)


def _from_rows(rows: Array, shares: Array, ambiguity: AmbiguitySet) -> tuple[Nominal, Resample]:
    """Return the distribution of rows and its resamples.

    Where the set's distance does not change with the axes, fewer rows than vertices are taken to
    as many axes: then nothing has the size of the graph.
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
        # A pair that was not drawn together has nothing new to say.
        rows, _ = nearest_moment(moment_of(np.where(pairs.weight > 0.0, pairs.squares, whole)))
        return np.asarray(rows.T @ rows)

    return nominal, resampled


def generator(seed: Seed) -> np.random.Generator:
    """Return a generator; scikit-learn's users may give one of the older kind."""
    if isinstance(seed, np.random.RandomState):
        seed = int(seed.randint(2**31))
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ProblemError(
            f"random_state must be a whole number ≥ 0, a NumPy generator or None; it is {seed!r}."
        ) from None
