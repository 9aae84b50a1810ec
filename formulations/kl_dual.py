"""The Kullback-Leibler ball in its dual form, with one exponential cone per sample.

Ben-Tal, den Hertog, De Waegenaere, Melenberg and Rennen, Management Science 2013.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from formulations.base import Risk, register
from formulations.reweighting import Reweighting
from formulations.variables import LaplacianVariable
from wdro_cvx import KLBall


@register
class KLDual(Reweighting):
    """``min εt + t log mean exp(x_iᵀLx_i / t) + η‖L‖²`` over L and t."""

    claims = (KLBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """State ``t log mean exp(l/t) ≤ s`` as ``mean (t exp((l - s)/t)) ≤ t``."""
        losses, definition = self.losses(laplacian)
        unit = self.multiplier_unit()
        share = cp.Variable(name="t_share", nonneg=True)
        level = cp.Variable(name="level")
        terms = cp.Variable(losses.size, name="terms")
        cones = cp.ExpCone((losses - level) / unit, share * np.ones(losses.size), terms)
        total = cp.sum(terms) <= losses.size * share
        t = unit * share
        return Risk(
            self.radius * t + level,
            [definition, cones, total],
            t * self._unit,
            lambda: self.reweighed(definition),
        )
