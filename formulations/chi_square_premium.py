"""The chi-square ball as a second-order cone program: the sample average plus a premium.

The dual with a multiplier λ of the radius, ν of the weights' sum and σ of their signs, after
``ν + mean(l - ν + σ)`` is written as ``mean l + mean σ``: nothing cancels when the radius is small.
Namkoong and Duchi, NeurIPS 2017.
"""

from __future__ import annotations

import cvxpy as cp

from formulations.base import Risk, register
from formulations.reweighting import Reweighting
from formulations.variables import LaplacianVariable
from wdro_cvx import ChiSquareBall


@register
class ChiSquarePremium(Reweighting):
    """``min mean(l + σ) + λε + mean (l - ν + σ)² / 4λ + η‖L‖²`` over L, ν, λ and σ ≥ 0."""

    claims = (ChiSquareBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """State the dual; ``l`` are the losses ``x_iᵀLx_i``."""
        losses, definition = self.losses(laplacian)
        unit = self.multiplier_unit()
        share = cp.Variable(name="lambda_share", nonneg=True)
        level = cp.Variable(name="level")
        slack = cp.Variable(losses.size, name="slack", nonneg=True)
        multiplier = unit * share
        scatter = cp.Variable(name="scatter", nonneg=True)
        # |l - ν + σ|² ≤ share·scatter; the cone itself is fine with a share of zero.
        deviations = losses - level + slack
        cone = cp.SOC(share + scatter, cp.hstack([2 * deviations, share - scatter]))
        average = cp.sum(losses + slack) / losses.size
        premium = self.radius * multiplier + scatter / (4 * unit * losses.size)
        return Risk(
            average + premium,
            [definition, cone],
            multiplier * self._unit,
            lambda: self.reweighed(definition),
        )
