"""The Laplacian QP and its solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wdro_cvx.priors import DegreePrior
from wdro_cvx.solution import relative_gap
from wdro_cvx.stacks import diagonals, set_diagonals
from wdro_cvx.validation import Array


@dataclass(frozen=True)
class LaplacianQP:
    """The problem ``min ⟨M, L⟩ + prior(L)``: a quadratic program, unless the prior has logarithms.

    Parameters
    ----------
    moment : array (d, d)
        M, symmetric.
    prior : DegreePrior

    Examples
    --------
    >>> import numpy as np
    >>> from solvers import LaplacianQP
    >>> from wdro_cvx import Frobenius
    >>> LaplacianQP(np.eye(3), Frobenius(eta=0.3, trace=3.0)).d
    3
    """

    moment: Array
    prior: DegreePrior

    @property
    def d(self) -> int:
        """The number of vertices."""
        return int(self.moment.shape[-1])

    @property
    def floor(self) -> Any:
        """The least denominator of a relative gap, for values close to zero: ``αd``."""
        return self.prior.alpha * self.moment.shape[-1]


@dataclass(frozen=True)
class QPSolution:
    """The solution of one Laplacian QP.

    Attributes
    ----------
    laplacian : array (d, d)
        Feasible up to rounding.
    value, bound : float
        Primal value at ``laplacian`` and dual value at ``(nu, tau)``.
    nu : array (d,)
    tau : float
        The multipliers; they can warm-start a similar QP.
    steps : int
    """

    laplacian: Array
    value: float
    bound: float
    nu: Array
    tau: float
    steps: int

    @property
    def gap(self) -> float:
        """Relative gap between value and bound."""
        return relative_gap(self.value, self.bound)


def edge_gains(moment: Array) -> Array:
    """Return ``-𝒯*M`` as a symmetric matrix over edges, with ``-∞`` on the diagonal."""
    half = moment - diagonals(moment)[..., np.newaxis]
    gains = half + half.mT  # exactly symmetric
    set_diagonals(gains, -np.inf)
    return gains
