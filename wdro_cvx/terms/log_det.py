"""The log-likelihood of a Gaussian Markov field on the graph: ``-α log det(L + 11ᵀ/d)``.

With the sample average it gives the combinatorial graph Laplacian of Egilmez, Pavez and Ortega
(IEEE J. Sel. Top. Signal Process. 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.priors import DegreePrior
from wdro_cvx.terms.base import EPS, Term, register_term
from wdro_cvx.terms.safe import log_det_below
from wdro_cvx.validation import Array


@register_term
@dataclass(frozen=True, eq=False, repr=False)
class LogDet(Term):
    """The term ``-α log det(L + 11ᵀ/d)``, which keeps the graph connected.

    A problem with it needs neither eta nor a trace: ``GraphProblem(nominal, ambiguity,
    prior=Frobenius(0.0, None), terms=(LogDet(1.0),))`` is the maximum-likelihood graph.

    Parameters
    ----------
    alpha : float > 0
        The weight of the log-likelihood. It scales the graph: without a trace,
        ``L*(α, η) = α L*(1, αη)``.

    Raises
    ------
    ProblemError
        If alpha is not positive; in a problem, if the bounds leave the graph disconnected.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import LogDet
    >>> edge = np.array([[2.0, -2.0], [-2.0, 2.0]])
    >>> print(round(LogDet(1.0).value(edge), 12) == round(-np.log(4.0), 12))
    True
    >>> LogDet(1.0).value(np.zeros((2, 2)))  # not connected
    inf
    """

    sets_scale: ClassVar[bool] = True
    replaces_eta: ClassVar[bool] = True

    def value(self, laplacian: Array) -> float:
        """Return the negative log-determinant, rounded upwards; infinite if not connected."""
        d = len(laplacian)
        # The diagonal is a sum of d weights, each entry a sum of two numbers.
        below = log_det_below(laplacian + 1.0 / d, units=2 * d + 8)
        return float(-self.alpha * below * (1.0 - EPS * np.sign(below)))

    def gradient(self, laplacian: Array) -> Array:
        """Return ``-α(L + 11ᵀ/d)⁻¹``.

        Raises
        ------
        ProblemError
            If the graph is not connected.
        """
        factor, failed = scipy.linalg.lapack.dpotrf(laplacian + 1.0 / len(laplacian), lower=True)
        inverse, failed = (
            scipy.linalg.lapack.dpotri(factor, lower=True) if not failed else (factor, 1)
        )
        if failed or not np.isfinite(inverse).all():
            raise ProblemError(
                "LogDet has no gradient at a graph that is not connected; pass a connected graph."
            )
        lower = np.tril(inverse)
        return np.asarray(-self.alpha * (lower + np.tril(inverse, -1).T))

    def conjugate(self, slope: Array) -> float:
        """Return ``α(⟨P, 11ᵀ/d⟩ - log det P - d)`` with ``P = -Y/α``, rounded upwards.

        It is infinite unless P is positive definite.
        """
        d = len(slope)
        point = slope / -self.alpha
        below = log_det_below(point, units=4.0)
        if not np.isfinite(below):
            return np.inf
        mean, size = float(np.sum(point)) / d, float(np.sum(np.abs(point))) / d
        total = mean - below - d
        return self.alpha * (total + 64 * EPS * (size + abs(below) + d))

    def expression(self, laplacian: Any, cp: Any) -> Any:
        """Return the term in CVXPY."""
        d = laplacian.degrees.shape[0]
        return -self.alpha * cp.log_det(laplacian.matrix + np.full((d, d), 1.0 / d))

    def conjugate_expression(self, slope: Any, cp: Any) -> Any:
        """Return the conjugate in CVXPY."""
        d = slope.shape[0]
        return -cp.sum(slope) / d - self.alpha * (cp.log_det(slope / -self.alpha) + d)

    def check_fits(self, d: int, prior: DegreePrior) -> None:
        """Raise ProblemError if the bounds leave the graph disconnected."""
        if prior.bounds is None:
            return
        heads, tails = edge_index(d)
        used = np.flatnonzero(prior.bounds.upper > 0.0)
        ends = heads[used], tails[used]
        graph = scipy.sparse.coo_array((np.ones(used.size), ends), shape=(d, d))
        count, parts = scipy.sparse.csgraph.connected_components(graph, directed=False)
        if count > 1:
            far = int(np.flatnonzero(parts != parts[0])[0])
            raise ProblemError(
                f"bounds leave the graph in {count} parts (vertices 0 and {far} cannot be joined), "
                "and LogDet needs a connected graph. Allow more edges, or learn each part alone."
            )

    def floor(self, d: int) -> float:
        """Return ``αd``, about the risk at the optimum."""
        return self.alpha * d
