"""The robust premium for a transport cost with a scale per vertex.

The congruence ``x = Sy`` turns ``γI - SLS`` into ``γS⁻² - L``: the Euclidean form with another
identity.
"""

from __future__ import annotations

import numpy as np

from formulations.base import register
from formulations.robust_premium import RobustPremium
from wdro_cvx import MahalanobisBall
from wdro_cvx.validation import Array


@register
class MahalanobisPremium(RobustPremium):
    """``min ⟨Θ, L⟩ + γε² + Tr(L(γS⁻² - L)⁻¹LΘ) + η‖L‖²`` over L and γ."""

    claims = (MahalanobisBall,)

    def metric(self) -> Array:
        """Return the diagonal of ``S⁻²``."""
        ambiguity = self.normalised.ambiguity
        assert isinstance(ambiguity, MahalanobisBall)
        return np.array(ambiguity.scales) ** -2.0
