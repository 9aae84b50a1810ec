"""The distance to a known graph: last month's, another region's, an expert's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.laplacian import complete_graph, violations, weights_from_laplacian
from wdro_cvx.priors import DegreePrior
from wdro_cvx.terms.base import EPS, Term, register_term, symmetric_parameter
from wdro_cvx.validation import Array


@dataclass(frozen=True, eq=False, repr=False)
class _NearGraph(Term):
    """A distance to a known Laplacian."""

    laplacian: Array = field(default_factory=lambda: np.zeros((1, 1)))

    sets_scale: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        matrix = symmetric_parameter("laplacian", self.laplacian)
        size = float(np.abs(matrix).max()) or 1.0
        if violations(matrix / size, 1.0, fixed_trace=False).largest > 1e-9:
            raise ProblemError(
                "laplacian must be a graph Laplacian: rows that sum to zero, and no positive entry "
                "off the diagonal. Solution.laplacian is one."
            )
        object.__setattr__(self, "laplacian", matrix)

    def check_fits(self, d: int, prior: DegreePrior) -> None:
        """Raise ProblemError if the known graph has another number of vertices."""
        if len(self.laplacian) != d:
            raise ProblemError(
                f"{type(self).__name__} knows a graph of {len(self.laplacian)} vertices; the data "
                f"have {d}."
            )

    @classmethod
    def example(cls, alpha: float, d: int) -> Self:
        """Return the distance to a complete graph."""
        return cls(alpha, complete_graph(d, float(d)))

    def __repr__(self) -> str:
        """Return the weight and the size of the graph."""
        return f"{type(self).__name__}(alpha={self.alpha:g}, {len(self.laplacian)} vertices)"


@register_term
@dataclass(frozen=True, eq=False, repr=False)
class KnownGraph(_NearGraph):
    """The term ``α‖L - L₀‖_F²``, which draws all weights towards those of a known graph.

    Parameters
    ----------
    alpha : float > 0
    laplacian : array (d, d)
        The Laplacian L₀ of the known graph.

    Raises
    ------
    ProblemError
        If alpha is not positive, or the matrix is no Laplacian of the right size.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import KnownGraph
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> round(KnownGraph(0.5, edge).value(3 * edge), 9)  # 0.5 · 4 · 2²
    8.0
    """

    def value(self, laplacian: Array) -> float:
        """Return the squared distance, rounded upwards."""
        change = np.abs(laplacian - self.laplacian)
        lost = 2 * EPS * change
        # The diagonal is a sum of weights.
        lost.flat[:: len(change) + 1] += 2 * len(change) * EPS * np.diagonal(laplacian)
        return self.alpha * float(np.sum(np.square(change + lost))) * (1.0 + 64 * EPS)

    def gradient(self, laplacian: Array) -> Array:
        """Return ``2α(L - L₀)``."""
        return 2 * self.alpha * (laplacian - self.laplacian)

    def conjugate(self, slope: Array) -> float:
        """Return ``⟨Y, L₀⟩ + ‖Y‖²/4α``, rounded upwards."""
        products = slope * self.laplacian
        square = float(np.sum(np.square(slope))) / (4 * self.alpha)
        size = float(np.sum(np.abs(products))) + square
        return float(np.sum(products)) + square + 64 * EPS * size

    def expression(self, laplacian: Any, cp: Any) -> Any:
        """Return the term in CVXPY."""
        known = weights_from_laplacian(self.laplacian)
        edges = cp.sum_squares(laplacian.weights - known)
        return self.alpha * (
            2 * edges + cp.sum_squares(laplacian.degrees - np.diagonal(self.laplacian))
        )

    def conjugate_expression(self, slope: Any, cp: Any) -> Any:
        """Return the conjugate in CVXPY."""
        return cp.sum(cp.multiply(slope, self.laplacian)) + cp.sum_squares(slope) / (4 * self.alpha)


@register_term
@dataclass(frozen=True, eq=False, repr=False)
class KnownEdges(_NearGraph):
    """The term ``α Σ |w - w₀|``, which keeps most weights exactly as in a known graph.

    It is not smooth where a weight is unchanged, so only formulations solve problems with it.

    Parameters
    ----------
    alpha : float > 0
    laplacian : array (d, d)
        The Laplacian L₀ of the known graph.

    Raises
    ------
    ProblemError
        If alpha is not positive, or the matrix is no Laplacian of the right size.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import KnownEdges
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> round(KnownEdges(0.5, edge).value(3 * edge), 9)
    1.0
    """

    smooth: ClassVar[bool] = False

    def value(self, laplacian: Array) -> float:
        """Return the sum of the changes of the weights, rounded upwards."""
        change = weights_from_laplacian(laplacian) - weights_from_laplacian(self.laplacian)
        return self.alpha * float(np.sum(np.abs(change))) * (1.0 + 64 * EPS)

    def gradient(self, laplacian: Array) -> Array:
        """Return a matrix with ``𝒯*Y = α sign(w - w₀)``."""
        signs = np.sign(self.laplacian - laplacian)
        np.fill_diagonal(signs, 0.0)
        return -self.alpha / 2 * signs

    def slope_near(self, laplacian: Array, wanted: Array) -> Array:
        """Return the subgradient Y at a Laplacian with ``𝒯*Y`` nearest to the wanted edge costs."""
        change = self.laplacian - laplacian
        same = np.abs(change) <= 1e-5 * float(np.abs(self.laplacian).max())
        heads, tails = np.triu_indices(len(change), 1)
        costs = np.zeros_like(change)
        costs[heads, tails] = costs[tails, heads] = np.clip(wanted, -self.alpha, self.alpha)
        return np.where(same, -costs / 2, self.gradient(laplacian))

    def minorant(self, slope: Array) -> tuple[Array, float]:
        """Return ``𝒯*Y`` clipped to [-α, α], and its product with w₀, rounded upwards."""
        known = weights_from_laplacian(self.laplacian)
        costs = -2 * slope[np.triu_indices(len(slope), 1)]
        own = np.diagonal(slope)
        if own.any():
            heads, tails = np.triu_indices(len(slope), 1)
            costs = costs + own[heads] + own[tails]
        costs = np.clip(costs, -self.alpha, self.alpha)
        products = costs * known
        price = float(np.sum(products)) + 64 * EPS * float(np.sum(np.abs(products)))
        return costs, price

    def expression(self, laplacian: Any, cp: Any) -> Any:
        """Return the term in CVXPY."""
        return self.alpha * cp.norm1(laplacian.weights - weights_from_laplacian(self.laplacian))
