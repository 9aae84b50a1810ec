"""Select edges of a learned graph: where to cut their ranking, and how sure each one is.

The optimal graph has more edges than the truth. Its ranking is good; this module decides where it
ends. The precision matrix Ω of a pilot graph is debiased, ``T = -(2Ω - ΩSΩ)``, with the standard
error ``√((Ω_ii Ω_jj + Ω_ij²)/N)`` (Janková and van de Geer, Biometrika 2017). Along the ranking by
weight, ``C(k) = Σ T/se² / √(Σ 1/se²)`` is the z-score of the first k edges together. It grows while
true edges come and falls when only noise is added, so the cut is at its maximum. With missing
values some pairs have a larger error than this; it replaces se, and such pairs are ranked lower.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from solvers.selection.holes import error_with_holes
from solvers.selection.refit import refit_weights
from wdro_cvx import Nominal
from wdro_cvx.validation import Array

# A single edge counts at most this many standard errors; otherwise a few decide the cut.
_STRONGEST = 8.0
# Refitted edges per vertex. If the cut of the learned ranking alone keeps more than _DENSE per
# vertex, the refit lacks edges that it needs. With at most _FEW signals per vertex no pilot is good
# enough to say where a long ranking ends. The learned graph is then its own pilot, and at most
# _DENSE edges per vertex are kept.
_REFITTED, _DENSE, _FEW = 4, 3, 2
REFIT_UP_TO = 1000  # vertices; with more, the learned graph is its own pilot
_WEAK = 1e-5  # similarity of pairs without an edge, for the spanning tree of the refit


@dataclass(frozen=True, eq=False)
class Candidates:
    """The edges of a learned graph and the moment that they were learned from.

    Attributes
    ----------
    heads, tails : arrays (m,) of int
    weights : array (m,)
        On any scale.
    rows : array (n, d)
        A root of the second moment S: ``S = rowsᵀ rows``; the rows sum to zero.
    samples : float
        The number of signals, less if they have unequal weights.
    signals : bool
        Whether the rows are signals, which show how much single products vary.
    incomplete : Nominal or None
        The distribution, if the table has missing values; its table shows how products vary.
    """

    heads: NDArray[np.intp]
    tails: NDArray[np.intp]
    weights: Array
    rows: Array
    samples: float
    signals: bool
    incomplete: Nominal | None = None

    @property
    def d(self) -> int:
        """The number of vertices."""
        return int(self.rows.shape[1])

    def costs(self, heads: NDArray[np.intp], tails: NDArray[np.intp]) -> Array:
        """Return the mean squared differences of pairs."""
        differences = self.rows[:, heads] - self.rows[:, tails]
        return np.asarray(np.einsum("ne,ne->e", differences, differences))

    def of_likelihood_scale(self) -> Array:
        """Return the weights, scaled as a likelihood would: ``⟨S, L⟩ = d - 1``."""
        total = float(self.costs(self.heads, self.tails) @ self.weights)
        return self.weights * ((self.d - 1) / total) if total > 0.0 else self.weights


@dataclass(frozen=True, eq=False)
class Debiased:
    """Debiased weights of the candidates and their standard errors.

    ``error`` is that of Gaussian signals; ``observed`` that of the products themselves, which heavy
    tails and missing values enlarge (the sandwich), or ``error`` again if there are no signals.
    ``holes`` says whether the table has missing values.
    """

    weights: Array
    error: Array
    observed: Array
    holes: bool = False

    @property
    def z_scores(self) -> Array:
        """The weights in units of the larger error."""
        return self.weights / np.maximum(self.error, self.observed)


def rank_and_cut(candidates: Candidates) -> tuple[NDArray[np.bool_], Debiased]:
    """Return which candidates are selected, and their debiased weights.

    Parameters
    ----------
    candidates : Candidates

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> rows = np.cumsum(rng.standard_normal((200, 5)), axis=1) / 200**0.5  # a chain
    >>> rows -= rows.mean(axis=1, keepdims=True)
    >>> heads, tails = np.triu_indices(5, 1)
    >>> weights = np.where(tails - heads == 1, 0.4, 0.05)
    >>> keep, _ = rank_and_cut(Candidates(heads, tails, weights, rows, 200, True))
    >>> tails[keep] - heads[keep]
    array([1, 1, 1, 1])
    """
    own, many = candidates.of_likelihood_scale(), _DENSE * candidates.d
    if not refits(candidates):
        pilot = debias(candidates, own)
        few = candidates.samples <= _FEW * candidates.d
        return cut(own, pilot, many if few else None), pilot
    refitted = refit(candidates, own)
    pilot = debias(candidates, *refitted)
    keep = cut(own, pilot)
    if np.count_nonzero(keep) <= many:
        keep = cut(own + _on(candidates, *refitted), pilot)
    return keep, pilot


def refits(candidates: Candidates) -> bool:
    """Return whether the pilot of the cut is a refit, as it is for false-discovery control."""
    return candidates.samples > _FEW * candidates.d and candidates.d <= REFIT_UP_TO


def cut(score: Array, pilot: Debiased, most: int | None = None) -> NDArray[np.bool_]:
    """Return the first edges by score, up to the largest joint z-score among the first ``most``."""
    error = pilot.error
    if pilot.holes:
        error = np.maximum(pilot.error, pilot.observed)
        enlarged = np.ones(len(error))
        np.divide(error, pilot.error, out=enlarged, where=np.isfinite(pilot.error))
        score = score / np.sqrt(enlarged)  # halfway between weights and their z-scores
    order = np.argsort(-score, kind="stable")[:most]
    precision = 1.0 / error[order] ** 2
    weights = np.minimum(pilot.weights[order], _STRONGEST * error[order])
    joint = np.cumsum(weights * precision) / np.sqrt(np.cumsum(precision))
    keep = np.zeros(len(score), dtype=bool)
    if len(score):
        keep[order[: int(np.argmax(joint)) + 1]] = True
    return keep


def refit(
    candidates: Candidates, weights: Array
) -> tuple[Array, NDArray[np.intp], NDArray[np.intp]]:
    """Return the likeliest weights of the strongest candidates and a spanning tree, with ends."""
    d = candidates.d
    strongest = np.argsort(-weights, kind="stable")[: _REFITTED * d]
    moment = candidates.rows.T @ candidates.rows
    squares = np.diag(moment)
    every = np.maximum(squares[:, np.newaxis] + squares - 2.0 * moment, 0.0)
    least = 1e-9 * float(every.mean()) or 1.0
    similar = _WEAK / np.maximum(every, least)
    similar[candidates.heads, candidates.tails] += weights
    similar[candidates.tails, candidates.heads] += weights
    tree = csgraph.minimum_spanning_tree(1.0 / similar).tocoo()
    listed = np.zeros((d, d), dtype=bool)
    listed[candidates.heads[strongest], candidates.tails[strongest]] = True
    listed[np.minimum(tree.row, tree.col), np.maximum(tree.row, tree.col)] = True
    heads, tails = np.nonzero(listed)
    return refit_weights(every[heads, tails], heads, tails, d), heads, tails


def debias(
    candidates: Candidates,
    weights: Array,
    heads: NDArray[np.intp] | None = None,
    tails: NDArray[np.intp] | None = None,
) -> Debiased:
    """Return debiased weights of the candidates; the pilot has these weights and ends."""
    heads = candidates.heads if heads is None else heads
    tails = candidates.tails if tails is None else tails
    d, n, rows = candidates.d, candidates.samples, candidates.rows
    joined = sparse.coo_array((weights, (heads, tails)), shape=(d, d)).tocsr()
    joined = joined + joined.T
    degrees = np.asarray(joined.sum(axis=1)).ravel()
    moved = rows * degrees - np.asarray((joined @ rows.T).T)
    pilot = _on(candidates, weights, heads, tails)
    first, second = degrees[candidates.heads], degrees[candidates.tails]
    error = np.sqrt((first * second + pilot**2) / n)
    mean, spread = _products(moved, candidates.heads, candidates.tails, n)
    # A vertex without an edge in the pilot has no error: nothing is known about its edges.
    error = np.where(error > 0.0, error, np.inf)
    observed = spread / np.sqrt(n) if candidates.signals else error
    if candidates.incomplete is not None:
        omega = sparse.csr_array(sparse.diags_array(degrees) - joined)
        observed = error_with_holes(
            candidates.incomplete, omega, candidates.heads, candidates.tails
        )
    return Debiased(2.0 * pilot + mean, error, observed, candidates.incomplete is not None)


def _products(
    moved: Array, heads: NDArray[np.intp], tails: NDArray[np.intp], samples: float
) -> tuple[Array, Array]:
    """Return the sum over rows of the products of two columns, and the deviation of one product.

    Rows have the root of their weight as a factor; ``samples`` equal rows would tell as much.
    """
    mean, square = np.empty(len(heads)), np.empty(len(heads))
    step = max(1, 4_000_000 // max(len(moved), 1))
    for start in range(0, len(heads), step):
        part = slice(start, start + step)
        products = moved[:, heads[part]] * moved[:, tails[part]]
        mean[part] = products.sum(axis=0)
        square[part] = samples * np.einsum("ne,ne->e", products, products)
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def _on(
    candidates: Candidates, weights: Array, heads: NDArray[np.intp], tails: NDArray[np.intp]
) -> Array:
    """Return the weights of the candidates in a graph that is given by a list of edges."""
    d = candidates.d
    pairs = heads.astype(np.int64) * d + tails
    asked = candidates.heads.astype(np.int64) * d + candidates.tails
    order = np.argsort(pairs)
    place = np.minimum(np.searchsorted(pairs[order], asked), len(pairs) - 1)
    return np.where(pairs[order][place] == asked, weights[order][place], 0.0)
