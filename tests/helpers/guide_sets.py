"""A file of sets and a term, written with docs/new-variant.md and docs/terms.md alone.

It uses only documented names, and features that easily go wrong: parameters that are arrays, NumPy
scalars, and a gradient on the boundary of a domain. Nothing is registered here.
"""

from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import numpy as np
from scipy.optimize import nnls

from formulations import Formulation, Risk, smoothness
from wdro_cvx import AmbiguitySet, Term, WorstCase


@dataclass(frozen=True, eq=False)
class WorstOfGiven(AmbiguitySet):
    """``{Θ + ε Σ p_k (M_k - Θ) : p ≥ 0, Σ p_k ≤ 1}``: one of K given second moments may be true."""

    moments: np.ndarray
    radius_degree: ClassVar[int] = 0

    @classmethod
    def example(cls, radius, d):
        roots = np.random.default_rng(d).standard_normal((3, d, d))
        return cls(radius, roots @ roots.transpose(0, 2, 1) / d)

    def scaled(self, factor):
        return type(self)(self.radius, self.moments * factor**2)

    def worst_case(self, nominal, laplacian):
        theta = nominal.second_moment
        gains = np.array([np.vdot(moment - theta, laplacian) for moment in self.moments])
        best = np.argmax(gains)
        gain = np.maximum(gains[best], 0.0)
        shift = self.radius * (self.moments[best] - theta) if gain > 0 else 0.0
        return WorstCase(np.vdot(theta, laplacian) + self.radius * gain, theta + shift, gain)

    def distance(self, nominal, second_moment):
        theta = nominal.second_moment
        shifts = (self.moments - theta).reshape(len(self.moments), -1)
        shares, rest = nnls(shifts.T, (second_moment - theta).ravel())
        return shares.sum() if rest <= 1e-9 * np.linalg.norm(second_moment) else np.inf


class CutForm(Formulation):
    """``⟨Θ, L⟩ + εt`` with ``⟨M_k - Θ, L⟩ ≤ t``; the duals are the shares of the moments."""

    claims = (WorstOfGiven,)

    def risk(self, laplacian):
        theta = self.normalised.nominal.second_moment
        shifts = self.normalised.ambiguity.moments - theta
        top = cp.Variable(nonneg=True)
        cuts = [smoothness(shift, laplacian) <= top for shift in shifts]

        def worst_moment():
            return theta + sum(cut.dual_value * s for cut, s in zip(cuts, shifts, strict=True))

        return Risk(smoothness(theta, laplacian) + self.radius * top, cuts, top, worst_moment)


@dataclass(frozen=True, eq=False)
class EntryBall(AmbiguitySet):
    """``{Θ + Δ : ‖W∘Δ‖_F ≤ ε}`` with ``W = trust·trustᵀ``."""

    trust: np.ndarray
    radius_degree: ClassVar[int] = 2

    @classmethod
    def example(cls, radius, d):
        return cls(radius, np.linspace(0.5, 2.0, d))

    def worst_case(self, nominal, laplacian):
        weights = np.outer(self.trust, self.trust)
        size = np.linalg.norm(laplacian / weights)
        moment = nominal.second_moment + self.radius * laplacian / weights**2 / size
        return WorstCase(
            np.vdot(nominal.second_moment, laplacian) + self.radius * size, moment, size
        )

    def distance(self, nominal, second_moment):
        weights = np.outer(self.trust, self.trust)
        return np.linalg.norm(weights * (second_moment - nominal.second_moment))


class EntryForm(Formulation):
    claims = (EntryBall,)

    def risk(self, laplacian):
        nominal, trust = self.normalised.nominal, self.normalised.ambiguity.trust
        norm = cp.norm(cp.multiply(1 / np.outer(trust, trust), laplacian.matrix), "fro")
        return Risk(smoothness(nominal.second_moment, laplacian) + self.radius * norm)


@dataclass(frozen=True, eq=False)
class GroupedEdges(Term):
    """``α Σ ‖w_g‖`` over three groups: edges in the first half, in the second, and across."""

    smooth = False

    def groups(self, d):
        heads, tails = np.triu_indices(d, 1)
        kind = (heads >= d // 2).astype(int) + (tails >= d // 2)
        return [np.flatnonzero(kind == k) for k in range(3)]

    def value(self, laplacian):
        weights = -laplacian[np.triu_indices(len(laplacian), 1)]
        sizes = [np.linalg.norm(weights[group]) for group in self.groups(len(laplacian))]
        return self.alpha * float(sum(sizes)) * (1 + 1e-12)

    def gradient(self, laplacian):
        return self.slope_near(laplacian, np.zeros(len(laplacian) * (len(laplacian) - 1) // 2))

    def slope_near(self, laplacian, wanted):
        d = len(laplacian)
        pairs = np.triu_indices(d, 1)
        weights, costs = -laplacian[pairs], np.zeros(wanted.size)
        for group in self.groups(d):
            size = np.linalg.norm(weights[group])
            near = weights[group] if size > 1e-5 else wanted[group]
            length = max(np.linalg.norm(near), self.alpha if size <= 1e-5 else 0.0)
            costs[group] = self.alpha * (1 - 1e-12) * near / length
        slope = np.zeros((d, d))
        slope[pairs] = -costs / 2
        return slope + slope.T

    def conjugate(self, slope):
        costs = -2 * slope[np.triu_indices(len(slope), 1)]
        inside = all(np.linalg.norm(costs[g]) <= self.alpha for g in self.groups(len(slope)))
        return 0.0 if inside and not np.diagonal(slope).any() else np.inf

    def expression(self, laplacian, cp):
        groups = self.groups(laplacian.matrix.shape[0])
        return self.alpha * sum(cp.norm(laplacian.weights[group]) for group in groups)
