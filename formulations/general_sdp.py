"""Proposition 3: the general scenario in signal space as an SDP with one LMI per sample."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from formulations.base import Formulation, Risk, register
from formulations.variables import LaplacianVariable
from wdro_cvx import WassersteinBall
from wdro_cvx.validation import Array


@register
class GeneralSDP(Formulation):
    """The paper's SDP of the empirical distribution; its size grows with the number of samples."""

    claims = (WassersteinBall,)
    needs_samples = True

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """State Proposition 3 as printed."""
        samples = self.normalised.nominal.samples
        assert samples is not None
        n, d = samples.shape
        gamma = cp.Variable(name="gamma", nonneg=True)
        z = cp.Variable(n, name="z", nonneg=True)
        slack = gamma * np.eye(d) - laplacian.matrix
        lmis = []
        for i, sample in enumerate(samples):
            column = gamma * sample[:, np.newaxis]
            corner = cp.reshape(z[i] + gamma * float(sample @ sample), (1, 1), order="C")
            lmis.append(cp.bmat([[slack, column], [column.T, corner]]) >> 0)

        def worst_moment() -> Array:
            """L enters each LMI through ``γI - L`` alone, so the duals of that block add up."""
            total = np.sum([np.asarray(lmi.dual_value)[:d, :d] for lmi in lmis], axis=0)
            return (total + total.T) / 2

        return Risk(gamma * self.radius_squared + cp.sum(z) / n, lmis, gamma, worst_moment)
