"""Stationary signals: their covariance commutes with the Laplacian.

Signals that are noise filtered on a graph have a covariance that is a polynomial of the Laplacian
(Segarra, Marques, Mateos and Ribeiro, IEEE Trans. Signal Inf. Process. Netw. 2017).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from wdro_cvx.errors import ProblemError
from wdro_cvx.priors import DegreePrior
from wdro_cvx.terms.base import EPS, Term, costs_below, register_term, symmetric_parameter
from wdro_cvx.validation import Array

_APART = 1e-7  # relative to the largest: closer eigenvalues count as equal


@register_term
@dataclass(frozen=True, eq=False, repr=False)
class Stationarity(Term):
    """The term ``α‖ΘL - LΘ‖_F²``, which is zero if Θ and the Laplacian commute.

    Parameters
    ----------
    alpha : float > 0
    theta : array (d, d)
        The covariance Θ of the signals, such as ``nominal.second_moment``.

    Raises
    ------
    ProblemError
        If alpha is not positive, or theta is not symmetric or of another size than the data.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Stationarity
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> round(Stationarity(1.0, np.diag([2.0, 1.0])).value(edge), 9)
    2.0
    """

    theta: Array = field(default_factory=lambda: np.zeros((1, 1)))

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "theta", symmetric_parameter("theta", self.theta))

    def value(self, laplacian: Array) -> float:
        """Return the squared norm of the commutator, rounded upwards."""
        product, size = self.theta @ laplacian, np.abs(self.theta) @ np.abs(laplacian)
        # The entries of the Laplacian's diagonal are sums of d weights.
        lost = 2 * (len(product) + 2) * EPS * (size + size.T)
        bound = np.abs(product - product.T) + lost
        return self.alpha * float(np.sum(np.square(bound))) * (1.0 + 64 * EPS)

    def gradient(self, laplacian: Array) -> Array:
        """Return ``2α[Θ, [Θ, L]]``."""
        product = self.theta @ laplacian
        twice = self.theta @ (product - product.T)
        return np.asarray(2 * self.alpha * (twice + twice.T))

    def multipliers(self, slope: Array) -> Array:
        """Return the antisymmetric Z with ``[Θ, Z]`` close to the slope."""
        values, vectors = np.linalg.eigh(self.theta)
        apart = np.subtract.outer(values, values)
        turned = vectors.T @ slope @ vectors
        far = np.abs(apart) > _APART * float(np.abs(values).max())
        found = vectors @ np.where(far, turned / np.where(far, apart, 1.0), 0.0) @ vectors.T
        return np.asarray(found - found.T) / 2

    def minorant(self, slope: Array) -> tuple[Array, float]:
        """Return the costs of ``[Θ, Z]`` and the price ``‖Z‖²/4α``, for Z close to the slope.

        ``α‖C‖² ≥ ⟨Z, C⟩ - ‖Z‖²/4α`` for all Z, and ``⟨Z, [Θ, L]⟩ = ⟨[Θ, Z], L⟩``. Only matrices of
        this form have a finite conjugate, so rounding must not leave the form.
        """
        z = self.multipliers(slope)
        product = self.theta @ z
        size = np.abs(self.theta) @ np.abs(z)
        error = (len(z) + 8) * EPS * (size + size.T)
        price = float(np.sum(np.square(z))) / (4 * self.alpha) * (1.0 + 64 * EPS)
        return costs_below(product + product.T, error), price

    def expression(self, laplacian: Any, cp: Any) -> Any:
        """Return the term in CVXPY."""
        product = self.theta @ laplacian.matrix
        return self.alpha * cp.sum_squares(product - product.T)

    def check_fits(self, d: int, prior: DegreePrior) -> None:
        """Raise ProblemError if theta is of another size."""
        if len(self.theta) != d:
            raise ProblemError(
                f"Stationarity has a theta of {len(self.theta)} vertices; the data have {d}."
            )

    @classmethod
    def example(cls, alpha: float, d: int) -> Self:
        """Return a term with distinct variances and some correlation."""
        return cls(alpha, np.diag(np.linspace(0.5, 1.5, d)) + 0.2)

    def __repr__(self) -> str:
        """Return the weight and the size of theta."""
        return f"Stationarity(alpha={self.alpha:g}, {len(self.theta)} vertices)"
