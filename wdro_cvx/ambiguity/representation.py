"""Find weights of the samples that have a given second moment.

Up to d(d+1)/2 samples in general position have at most one solution; more samples have many. The
solution of least divergence has the ratios ``link(Vy)``, where ``V`` is an orthonormal basis of the
row space of the moment map. Newton's method on the dual finds ``y``. For a divergence with linear
pieces it is the solution of a linear program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from wdro_cvx.ambiguity.structure import Piece
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.validation import Array

Link = Callable[[Array], tuple[Array, Array]]

_EPS = float(np.finfo(float).eps)
_MAX_STEPS = 200  # usually far fewer; vanishing weights shrink by a factor e per step
_MAX_HALVINGS = 30
_FLAT = 1e-10  # relative curvature that counts as zero
_VANISHED = 1e-100  # largest curvature at which to give up
_CLOSE = 1e-12  # corrections do the rest; further steps would follow rounding
_LINEAR = 1e-10  # tolerances of the linear program, the least that HiGHS takes
_ROUNDS = 10  # of corrections; each may set another weight to zero


@dataclass(frozen=True, eq=False)
class _Frame:
    """The linear map from ratios to their mean and second moment, in its singular vectors.

    ``basis`` has orthonormal columns. ``coordinates`` maps (mean, moment) to ``basisᵀρ``; each
    coordinate enters the moment in proportion to ``spectrum``.
    """

    rows: Array
    sizes: Array
    basis: Array
    spectrum: Array
    coordinates: Array

    def seen(self, total: float, moment: Array) -> Array:
        """Return ``basisᵀρ`` for ratios with this mean and second moment."""
        entries = moment[np.triu_indices(self.sizes.size)]
        return np.asarray(self.coordinates @ np.concatenate([[total], entries]))

    def polished(self, moment: Array, ratios: Array) -> Array:
        """Return ratios close to the given ones whose moment is nearer to ``moment``.

        Each change is a multiple of its ratio, so zeros stay zero.
        """
        for done in range(_ROUNDS):
            roots = np.sqrt(np.maximum(ratios, 0.0))
            weighed = self.rows * roots[:, np.newaxis]
            found = weighed.T @ weighed / len(self.rows)
            miss = self.spectrum * self.seen(1.0 - float(np.mean(roots**2)), moment - found)
            table = self.spectrum[:, np.newaxis] * (self.basis.T * roots)
            ratios = roots**2 + roots * scipy.linalg.lstsq(table, miss, check_finite=False)[0]
            if done > 0 and ratios.min() >= 0.0:
                break
        return np.maximum(ratios, 0.0)


@lru_cache(maxsize=2)
def _frame(nominal: Nominal) -> _Frame:
    samples = nominal.samples
    assert samples is not None
    sizes = np.sqrt(np.diagonal(nominal.second_moment))
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    heads, tails = np.triu_indices(nominal.d)
    rows = samples / sizes
    table = np.column_stack([np.ones(len(rows)), rows[:, heads] * rows[:, tails]])
    left, spectrum, right = scipy.linalg.svd(table, full_matrices=False, check_finite=False)
    # Rounding in the basis must not give equal samples different weights.
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    left = left[first[which.ravel()]]
    seen = spectrum > max(table.shape) * _EPS * spectrum[0]
    coordinates = len(rows) * right[seen] / spectrum[seen, np.newaxis]
    return _Frame(rows, sizes, left[:, seen], spectrum[seen], coordinates)


def density_ratios(nominal: Nominal, second_moment: Array, link: Link) -> Iterator[Array]:
    """Yield candidates for ratios with this second moment, the least divergent first.

    The caller must check them: there may be no such ratios, or the matrix may be no moment at all.
    """
    frame = _frame(nominal)
    moment = second_moment / np.outer(frame.sizes, frame.sizes)
    seen = frame.seen(1.0, moment)
    yield frame.polished(moment, _least_divergence(frame.basis, seen, link))
    yield from _nearest(frame, moment, seen)


def cheapest_ratios(
    nominal: Nominal, second_moment: Array, pieces: Sequence[Piece]
) -> Iterator[Array]:
    """Yield candidates for ratios with this second moment, those of the cheapest pieces first.

    The part of a ratio beyond the widths of all pieces costs more than any piece. As with
    :func:`density_ratios`, the caller must check the candidates.
    """
    from scipy.optimize import linprog  # slow to import, and seldom needed

    frame = _frame(nominal)
    moment = second_moment / np.outer(frame.sizes, frame.sizes)
    seen, count = frame.seen(1.0, moment), len(frame.rows)
    if frame.basis.shape[1] == count:  # no choice
        yield frame.polished(moment, np.asarray(frame.basis @ seen))
    else:
        rest = Piece(np.inf, 1.0 + max(piece.slope for piece in pieces))
        widths, slopes = np.array([*pieces, rest]).T
        found = linprog(
            np.repeat(slopes, count),
            A_eq=np.tile(frame.basis.T, len(widths)),
            b_eq=seen,
            bounds=np.column_stack([np.zeros(count * len(widths)), np.repeat(widths, count)]),
            options={
                "primal_feasibility_tolerance": _LINEAR,
                "dual_feasibility_tolerance": _LINEAR,
            },
        )
        if found.x is not None:
            yield frame.polished(moment, np.asarray(found.x.reshape(len(widths), count).sum(0)))
    yield from _nearest(frame, moment, seen)


def _nearest(frame: _Frame, moment: Array, seen: Array) -> Iterator[Array]:
    """Yield the nonnegative ratios whose moment is nearest.

    If some samples have weight zero, the other searches may fail because of rounding. The nearest
    ratios show which samples these are.
    """
    with suppress(RuntimeError):  # an iteration limit
        from scipy.optimize import nnls  # slow to import, and seldom needed

        yield frame.polished(moment, nnls(frame.basis.T, seen)[0])


def _least_divergence(basis: Array, seen: Array, link: Link) -> Array:
    """Solve ``basisᵀ link(basis·y) = seen`` by Newton's method."""
    if basis.shape[0] == basis.shape[1]:
        return np.asarray(basis @ seen)
    y = np.zeros(seen.size)
    ratios, slopes = link(basis @ y)
    miss = seen - basis.T @ ratios
    for _ in range(_MAX_STEPS):
        if np.linalg.norm(miss) <= _CLOSE * np.linalg.norm(seen):
            break
        values, vectors = np.linalg.eigh((basis.T * slopes) @ basis)
        if values[-1] <= _VANISHED:
            break  # all weights vanish: there are no such ratios
        # The span of samples with vanishing weight has curvature at rounding level.
        step = vectors @ ((vectors.T @ miss) / np.maximum(values, _FLAT * values[-1]))
        for halvings in range(_MAX_HALVINGS):
            length = 0.5**halvings
            trial = link(basis @ (y + length * step))
            left = seen - basis.T @ trial[0]
            if np.linalg.norm(left) <= (1.0 - 1e-4 * length) * np.linalg.norm(miss):
                break
        else:
            break
        y += length * step
        ratios, slopes = trial
        miss = left
    return ratios
