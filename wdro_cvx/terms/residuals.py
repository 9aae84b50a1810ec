"""Prediction by neighbours: each vertex should be near the weighted mean of its neighbours.

The risk ``⟨Θ, L⟩`` depends on the distances between signals of pairs only. Residuals depend on what
the neighbours of a vertex explain together, as partial correlations do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from wdro_cvx.errors import ProblemError
from wdro_cvx.priors import DegreePrior
from wdro_cvx.terms.base import EPS, Term, costs_below, register_term, symmetric_parameter
from wdro_cvx.validation import Array

_FAINT = 1e-12  # relative to the largest: sums of eigenvalues below count as zero


@register_term
@dataclass(frozen=True, eq=False, repr=False)
class Residuals(Term):
    """The term ``α·E‖Lx‖²``, the mean squared residual of predicting vertices by neighbours.

    Entry i of ``Lx`` is the degree of vertex i times the difference between ``x_i`` and the
    weighted mean of its neighbours.

    Parameters
    ----------
    alpha : float > 0
    theta : array (d, d)
        The second moment Θ of the signals x, such as ``nominal.second_moment``.

    Raises
    ------
    ProblemError
        If alpha is not positive, or theta is not symmetric, not positive semidefinite, or of
        another size than the data.

    Notes
    -----
    The premium of a `GaussianBall` with a small radius ε is about ``2ε√(E‖Lx‖²)``.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Residuals
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> round(Residuals(1.0, np.diag([2.0, 1.0])).value(edge), 9)
    6.0
    """

    theta: Array = field(default_factory=lambda: np.zeros((1, 1)))
    #: The symmetric root R of theta. The term is defined by it: ``α‖RL‖²``.
    root: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        theta = symmetric_parameter("theta", self.theta)
        values, vectors = np.linalg.eigh(theta)
        if values[0] < -1e-9 * max(values[-1], 0.0) or values[-1] < 0.0:
            raise ProblemError(
                f"theta must be positive semidefinite; its least eigenvalue is {values[0]:.3g}. "
                "Pass a second moment, such as Nominal.second_moment."
            )
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        object.__setattr__(self, "theta", theta)
        object.__setattr__(self, "root", symmetric_parameter("theta", root))

    def value(self, laplacian: Array) -> float:
        """Return the mean squared residual times α, rounded upwards."""
        product, size = self.root @ laplacian, np.abs(self.root) @ np.abs(laplacian)
        # The entries of the Laplacian's diagonal are sums of d weights.
        bound = np.abs(product) + 2 * (len(product) + 2) * EPS * size
        return self.alpha * float(np.sum(np.square(bound))) * (1.0 + 64 * EPS)

    def gradient(self, laplacian: Array) -> Array:
        """Return ``α(ΘL + LΘ)``."""
        product = self.root @ (self.root @ laplacian)
        return np.asarray(self.alpha * (product + product.T))

    def multipliers(self, slope: Array) -> Array:
        """Return the symmetric K with ``α(ΘK + KΘ)`` close to the slope."""
        values, vectors = np.linalg.eigh(self.root)
        sums = np.add.outer(np.square(values), np.square(values))
        turned = vectors.T @ slope @ vectors
        large = sums > _FAINT * float(sums.max())
        found = vectors @ np.where(large, turned / np.where(large, sums, 1.0), 0.0) @ vectors.T
        return np.asarray(found + found.T) / (2 * self.alpha)

    def minorant(self, slope: Array) -> tuple[Array, float]:
        """Return the costs of ``α(ΘK + KΘ)`` and the price ``α‖RK‖²``, for K close to the slope.

        ``‖RL‖² ≥ 2⟨RK, RL⟩ - ‖RK‖²`` for all K. Only matrices of this form have a finite conjugate
        if Θ is singular, so rounding must not leave the form.
        """
        k = self.multipliers(slope)
        half, size = self.root @ k, np.abs(self.root) @ np.abs(k)
        product, sizes = self.root @ half, np.abs(self.root) @ size
        error = self.alpha * 2 * (len(k) + 8) * EPS * (sizes + sizes.T)
        bound = np.abs(half) + (len(k) + 2) * EPS * size
        price = self.alpha * float(np.sum(np.square(bound))) * (1.0 + 64 * EPS)
        return costs_below(self.alpha * (product + product.T), error), price

    def expression(self, laplacian: Any, cp: Any) -> Any:
        """Return the term in CVXPY."""
        return self.alpha * cp.sum_squares(self.root @ laplacian.matrix)

    def check_fits(self, d: int, prior: DegreePrior) -> None:
        """Raise ProblemError if theta is of another size."""
        if len(self.theta) != d:
            raise ProblemError(
                f"Residuals has a theta of {len(self.theta)} vertices; the data have {d}."
            )

    @classmethod
    def example(cls, alpha: float, d: int) -> Self:
        """Return a term with distinct variances and some correlation."""
        return cls(alpha, np.diag(np.linspace(0.5, 1.5, d)) + 0.2)

    def __repr__(self) -> str:
        """Return the weight and the size of theta."""
        return f"Residuals(alpha={self.alpha:g}, {len(self.theta)} vertices)"
