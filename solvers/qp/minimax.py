"""The problem of a few worst cases: a primal-dual interior point in weights and shares.

    min t + 2β‖w‖² + Σ φ(u)    s.t.  ⟨M_k, L⟩ ≤ t for every worst case,  l ≤ w ≤ h,  1ᵀw = T/2

With ``Z_k = 𝒯*M_k``, shares q of the worst cases and ``u = Aw`` its optimality conditions are

    Zᵀq + 4βw + Aᵀν - τ1 - z + y = 0    Zw + r = t1    1ᵀq = 1
    z(w - l) = y(h - w) = qr = 0        ν = φ'(u)      1ᵀw + 2κτ = T/2

with κ as in the Laplacian QP, and so large that nothing is left of τ where the trace is free.
A step solves the system of bordered.py with ``Φ = φ''``, ``Q = r/q`` and the border ``1ᵀq = 1``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from solvers.qp.bordered import BorderedSystem, CostTable
from wdro_cvx.graphs.laplacian import edge_index, incidence
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

_MAX_STEPS = 60
_TO_BOUNDARY = 0.99
_JITTER = 1e-14  # added to a diagonal of ones: worst cases may coincide
_STUCK = 1e-8  # a step this short is the end
_FREE = 1e10  # κ of a free trace


class Mixture(NamedTuple):
    """Weights of all edges, shares of the worst cases, multipliers ν and τ."""

    weights: Array
    shares: Array
    nu: Array
    tau: float


class _MixtureState(NamedTuple):
    """The unknowns in the order of the module's docstring, or a step in them."""

    w: Array
    q: Array
    nu: Array
    tau: float
    t: float
    z: Array
    y: Array
    r: Array

    def moved(self, step: _MixtureState, length: float) -> _MixtureState:
        changes: tuple[Any, ...] = step
        return _MixtureState(
            *(value + length * change for value, change in zip(self, changes, strict=True))
        )


@dataclass(frozen=True, eq=False)
class Master:
    """What does not change as worst cases come and go. Edges with equal bounds are constants."""

    prior: DegreePrior
    curvature: float
    total: float  # of the free weights
    typical: float  # what they may sum to, where nothing says
    lower: Array
    upper: Array
    free: NDArray[np.intp]
    fixed: Array  # the weights of all edges, 0 on the free ones
    joins: sparse.csr_array  # A, its columns those of the free edges
    degrees: Array  # that the fixed weights add
    unit: float  # of the objective

    @classmethod
    def of(cls, d: int, prior: DegreePrior, unit: float, trace: float) -> Master:
        """Return the master problem of graphs of d vertices.

        ``unit`` is the size of its value, ``trace`` that of a graph near its optimum.
        """
        m = d * (d - 1) // 2
        lower, upper = np.zeros(m), np.full(m, np.inf)
        if prior.bounds is not None:
            lower, upper = prior.bounds.lower, prior.bounds.upper
        free = np.flatnonzero(upper > lower)
        fixed = np.where(upper > lower, 0.0, lower)
        joins = incidence(d)
        rule = prior.trace
        return cls(
            prior=prior.scaled(1.0 / unit),
            curvature=_FREE if rule.free else rule.curvature * unit,
            total=0.0 if rule.free else rule.target / 2 - float(fixed.sum()),
            typical=max(trace / 2 - float(fixed.sum()), 1e-3 * trace),
            lower=lower[free],
            upper=upper[free],
            free=free,
            fixed=fixed,
            joins=joins[:, free],
            degrees=np.asarray(joins @ fixed),
            unit=unit,
        )

    def start(self) -> Array:
        """Return free weights as equal as the bounds allow, inside of them."""
        spare = max(self.typical - float(self.lower.sum()), 1e-3 * self.typical)
        return self.lower + np.minimum(spare / self.free.size, (self.upper - self.lower) / 2)

    def mix(self, costs: Array, accuracy: float) -> Mixture:
        """Solve the problem of the worst cases with these costs ``Z`` (K, m).

        Stops when complementarity and residuals are ``accuracy`` times the unit. Well before its
        optimum the answer is central: far from the corners that a few worst cases make up.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # ends the run, below
            state = self._follow(costs, accuracy)
        weights = self.fixed.copy()
        weights[self.free] = state.w
        total = float(state.q.sum())
        shares = state.q / total if 0.0 < total < np.inf else np.full(len(costs), 1.0 / len(costs))
        return Mixture(weights, shares, self.unit * state.nu, self.unit * state.tau)

    def _follow(self, costs: Array, accuracy: float) -> _MixtureState:
        """Follow the path to its end, or to where rounding has the better of the system."""
        model = _Mixing(self, costs[:, self.free] / self.unit, costs @ self.fixed / self.unit)
        state = model.start()
        for _ in range(_MAX_STEPS):
            if model.error(state) <= accuracy:
                break
            try:
                step = model.step(state)
            except (linalg.LinAlgError, ValueError):  # no factor, or no numbers
                break
            length = model.reach(state, step)
            if not length > _STUCK:
                break
            moved = state.moved(step, length if length == 1.0 else _TO_BOUNDARY * length)
            if not np.isfinite(model.error(moved)):
                break
            state = moved
        return state


class _Mixing:
    """The master with its worst cases, in units of the objective."""

    def __init__(self, master: Master, costs: Array, constants: Array) -> None:
        self.master, self.constants, self.K = master, constants, len(costs)
        ends = (ends[master.free] for ends in edge_index(master.joins.shape[0]))
        self.costs = CostTable(costs, *ends)
        self.capped = np.isfinite(master.upper)

    def room(self, w: Array) -> tuple[Array, Array]:
        """Return the distances to both bounds, 1 for an upper bound that is infinite."""
        return w - self.master.lower, np.where(self.capped, self.master.upper - w, 1.0)

    def degrees(self, w: Array) -> Array:
        """Return the degrees of all vertices."""
        return np.asarray(self.master.joins @ w + self.master.degrees)

    def start(self) -> _MixtureState:
        """Return equal shares, and weights as equal as the bounds allow, inside of them."""
        prior, w = self.master.prior, self.master.start()
        q = np.full(self.K, 1.0 / self.K)
        nu = prior.slope(self.degrees(w))
        levels = self.costs.losses(w) + self.constants
        # A tenth of the levels' spread, or of the objective's hundredth, keeps them apart from t.
        apart = max(0.1 * float(np.ptp(levels)), 1e-3, 1e-9 * float(np.abs(levels).max()))
        t = float(levels.max()) + apart
        slope = self.costs.costs(q) + 4 * prior.beta * w + self.costs.ends(nu)
        tau = float(slope.mean())
        low, up = self.room(w)
        target = 1.0 / (self.K + w.size)
        z = np.maximum(slope - tau, 0.0) + target / low
        y = np.where(self.capped, np.maximum(tau - slope, 0.0) + target / up, 0.0)
        return _MixtureState(w, q, nu, tau, t, z, y, t - levels)

    def residuals(self, state: _MixtureState) -> tuple[Array, Array, Array, float, float]:
        """Return by how much the equations for w, ν, r, τ and q are missed."""
        w, q, nu, tau, t, z, y, r = state
        master, prior = self.master, self.master.prior
        degrees = self.degrees(w)
        return (
            self.costs.costs(q) + 4 * prior.beta * w + self.costs.ends(nu) - tau - z + y,
            (prior.slope(degrees) - nu) / prior.bend(degrees),
            self.costs.losses(w) + self.constants + r - t,
            float(w.sum()) - master.total + 2 * master.curvature * tau,
            float(q.sum()) - 1.0,
        )

    def error(self, state: _MixtureState) -> float:
        """Return complementarity or the effect of the residuals on the objective, if larger."""
        in_w, _, in_r, in_tau, in_q = self.residuals(state)
        off = abs(float(in_w @ state.w)) + abs(in_tau * state.tau) + abs(in_q * state.t)
        return max(self.complementarity(state), off, float(np.abs(in_r).max()))

    def complementarity(self, state: _MixtureState) -> float:
        low, up = self.room(state.w)
        return float(state.z @ low + state.y @ up + state.q @ state.r)

    def step(self, state: _MixtureState) -> _MixtureState:
        """Return Mehrotra's step: a predictor, the same system for the corrector."""
        w, q, _, _, _, z, y, r = state
        low, up = self.room(w)
        prior = self.master.prior
        springs, softness = 1.0 / prior.bend(self.degrees(w)), 2 * self.master.curvature
        system = BorderedSystem(
            self.master.joins,
            self.costs,
            omega=1.0 / (4 * prior.beta + z / low + y / up),
            diagonal=np.concatenate([springs, r / q, [softness]]),
            border=np.ones((1, self.K)),
            slack=np.zeros(1),
            shifts=(_JITTER,),
        )
        gaps = z * low, y * up, q * r
        misses = self.residuals(state)
        plain = self._direction(state, system, misses, (-gaps[0], -gaps[1], -gaps[2]))
        here = self.complementarity(state)
        there = self.complementarity(state.moved(plain, self.reach(state, plain)))
        target = here * min(max(there / here, 0.0), 1.0) ** 3 if here > 0.0 else 0.0
        target /= w.size + np.count_nonzero(self.capped) + self.K
        aims = (
            target - gaps[0] - plain.z * plain.w,
            np.where(self.capped, target - gaps[1] + plain.y * plain.w, 0.0),
            target - gaps[2] - plain.q * plain.r,
        )
        return self._direction(state, system, misses, aims)

    def _direction(
        self,
        state: _MixtureState,
        system: BorderedSystem,
        misses: tuple[Array, Array, Array, float, float],
        aims: tuple[Array, Array, Array],
    ) -> _MixtureState:
        """Solve the linearised equations for the changes aimed at in the three products."""
        in_w, in_nu, in_r, in_tau, in_q = misses
        low, up = self.room(state.w)
        dw, d_nu, dq, d_tau, (dt,) = system.solve(
            aims[0] / low - aims[1] / up - in_w,
            in_nu,
            in_r + aims[2] / state.q,
            in_tau,
            np.array([-in_q]),
        )
        return _MixtureState(
            dw, dq, d_nu, d_tau, dt,
            (aims[0] - state.z * dw) / low,
            np.where(self.capped, (aims[1] + state.y * dw) / up, 0.0),
            (aims[2] - state.r * dq) / state.q,
        )  # fmt: skip

    def reach(self, state: _MixtureState, step: _MixtureState) -> float:
        """Return the share of a step, at most 1, that leads to the boundary."""
        (low, up), capped = self.room(state.w), self.capped
        fall = max(
            float(np.max(-step.w / low)),
            float(np.max((step.w / up)[capped], initial=0.0)),
            float(np.max(-step.q / state.q)),
            float(np.max(-step.z / state.z)),
            float(np.max(-step.y[capped] / state.y[capped], initial=0.0)),
            float(np.max(-step.r / state.r)),
        )
        return 1.0 / fall if fall > 1.0 else 1.0
