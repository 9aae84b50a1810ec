"""What sets made by transport have in common: one form of the risk, and so one solver.

    R(L) = ⟨rest + FᵀF, L⟩ + reach·‖L‖_F + inf_γ γε² + Tr FL(γP - L)⁻¹LFᵀ

with ``P`` a diagonal metric and ``γP ⪰ L``. The rows of ``F`` are moved, at a cost of ε² in that
metric; ``rest`` stays, but for a shift of Frobenius norm ``reach``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.optimize import minimize_scalar

from wdro_cvx.validation import Array

_CLOSEST, _FARTHEST = 1e-13, 1e13  # of γ to λmax, relative to the scale of the terms


@dataclass(frozen=True, eq=False)
class TransportForm:
    """The data of the form.

    Attributes
    ----------
    factor : array (r, d)
        ``F``; the transport moves its rows.
    metric : array (d,), positive
        The diagonal of ``P``.
    radius : float ≥ 0
        ε, how far the rows move in root mean square.
    rest : array (d, d) or None
        The part of the second moment that is not transported, if there is one.
    reach : float ≥ 0
        How far ``rest`` may be shifted, in the Frobenius norm.
    """

    factor: Array
    metric: Array
    radius: float
    rest: Array | None = None
    reach: float = 0.0

    def risk(self, laplacian: Array) -> float:
        """Return ``R(L)`` by a search over γ, which shares nothing with the sets' own oracles."""
        centre = self.reach * float(np.linalg.norm(laplacian))
        if self.rest is not None:
            centre += float(np.vdot(self.rest, laplacian))
        pull = self.factor @ laplacian
        centre += float(np.vdot(self.factor, pull))
        scale = self.metric**-0.5
        values, vectors = linalg.eigh(laplacian * np.outer(scale, scale), check_finite=False)
        masses = np.sum(((pull * scale) @ vectors) ** 2, axis=0)
        top = max(float(values[-1]), 0.0)
        unit = top + float(np.sqrt(masses.sum())) / self.radius if self.radius > 0.0 else 0.0
        if unit == 0.0:
            return centre

        def premium(log_shift: float) -> float:
            shift = unit * np.exp(log_shift)
            return float((top + shift) * self.radius**2 + np.sum(masses / (shift + top - values)))

        ends = (np.log(_CLOSEST), np.log(_FARTHEST))
        found = minimize_scalar(premium, bounds=ends, method="bounded", options={"xatol": 1e-9})
        return centre + min(float(found.fun), premium(ends[0]))
