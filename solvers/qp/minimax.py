"""The problem of a few worst cases: a primal-dual interior point in weights and shares.

    min t + 2β‖w‖² + Σ φ(u)    s.t.  ⟨M_k, L⟩ ≤ t for every worst case,  l ≤ w ≤ h,  1ᵀw = T/2

With ``Z_k = 𝒯*M_k``, shares q of the worst cases and ``u = Aw`` its optimality conditions are

    Zᵀq + 4βw + Aᵀν - τ1 - z + y = 0    Zw + r = t1    1ᵀq = 1
    z(w - l) = y(h - w) = qr = 0        ν = φ'(u)      1ᵀw + 2κτ = T/2

with κ as in the Laplacian QP, and so large that nothing is left of τ where the trace is free.
Eliminating w, with ``Ω`` the inverse of its diagonal, leaves ``BΩBᵀ + diag(1/φ'', r/q, 2κ)``,
``B = [A; Z; -1ᵀ]``, bordered by ``1ᵀq = 1``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from solvers.qp.qp import LaplacianQP
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


class _State(NamedTuple):
    """The unknowns in the order of the module's docstring, or a step in them."""

    w: Array
    q: Array
    nu: Array
    tau: float
    t: float
    z: Array
    y: Array
    r: Array

    def moved(self, step: _State, length: float) -> _State:
        return _State(
            self.w + length * step.w,
            self.q + length * step.q,
            self.nu + length * step.nu,
            self.tau + length * step.tau,
            self.t + length * step.t,
            self.z + length * step.z,
            self.y + length * step.y,
            self.r + length * step.r,
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
    def of(cls, qp: LaplacianQP, unit: float, trace: float) -> Master:
        """Return the part of a QP in which its moment has no part.

        ``unit`` is the size of its value, ``trace`` that of a graph near its optimum.
        """
        d = qp.moment.shape[0]
        m = d * (d - 1) // 2
        lower, upper = np.zeros(m), np.full(m, np.inf)
        if qp.prior.bounds is not None:
            lower, upper = qp.prior.bounds.lower, qp.prior.bounds.upper
        free = np.flatnonzero(upper > lower)
        fixed = np.where(upper > lower, 0.0, lower)
        joins = incidence(d)
        rule = qp.prior.trace
        return cls(
            prior=qp.prior.scaled(1.0 / unit),
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

    def _follow(self, costs: Array, accuracy: float) -> _State:
        """Follow the path to its end, or to where rounding has the better of the system."""
        model = _Model(self, costs[:, self.free] / self.unit, costs @ self.fixed / self.unit)
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


class _Model:
    """The master with its worst cases, in units of the objective."""

    def __init__(self, master: Master, costs: Array, constants: Array) -> None:
        self.master, self.Z, self.constants = master, costs, constants
        self.d, self.K = master.joins.shape[0], costs.shape[0]
        self.heads, self.tails = (ends[master.free] for ends in edge_index(self.d))
        self.capped = np.isfinite(master.upper)

    def room(self, w: Array) -> tuple[Array, Array]:
        """Return the distances to both bounds, 1 for an upper bound that is infinite."""
        return w - self.master.lower, np.where(self.capped, self.master.upper - w, 1.0)

    def degrees(self, w: Array) -> Array:
        """Return the degrees of all vertices."""
        return np.asarray(self.master.joins @ w + self.master.degrees)

    def start(self) -> _State:
        """Return equal shares, and weights as equal as the bounds allow, inside of them."""
        master, prior = self.master, self.master.prior
        spare = master.typical - float(master.lower.sum())
        spread = max(spare, 1e-3 * master.typical) / master.free.size
        w = master.lower + np.minimum(spread, (master.upper - master.lower) / 2)
        q = np.full(self.K, 1.0 / self.K)
        nu = prior.slope(self.degrees(w))
        levels = self.Z @ w + self.constants
        # A tenth of the levels' spread, or of the objective's hundredth, keeps them apart from t.
        apart = max(0.1 * float(np.ptp(levels)), 1e-3, 1e-9 * float(np.abs(levels).max()))
        t = float(levels.max()) + apart
        slope = q @ self.Z + 4 * prior.beta * w + master.joins.T @ nu
        tau = float(slope.mean())
        low, up = self.room(w)
        target = 1.0 / (self.K + w.size)
        z = np.maximum(slope - tau, 0.0) + target / low
        y = np.where(self.capped, np.maximum(tau - slope, 0.0) + target / up, 0.0)
        return _State(w, q, nu, tau, t, z, y, t - levels)

    def residuals(self, state: _State) -> tuple[Array, Array, Array, float, float]:
        """Return by how much the equations for w, ν, r, τ and q are missed."""
        w, q, nu, tau, t, z, y, r = state
        master, prior = self.master, self.master.prior
        degrees = self.degrees(w)
        return (
            q @ self.Z + 4 * prior.beta * w + master.joins.T @ nu - tau - z + y,
            (prior.slope(degrees) - nu) / prior.bend(degrees),
            self.Z @ w + self.constants + r - t,
            float(w.sum()) - master.total + 2 * master.curvature * tau,
            float(q.sum()) - 1.0,
        )

    def error(self, state: _State) -> float:
        """Return complementarity or the effect of the residuals on the objective, if larger."""
        in_w, _, in_r, in_tau, in_q = self.residuals(state)
        off = abs(float(in_w @ state.w)) + abs(in_tau * state.tau) + abs(in_q * state.t)
        return max(self.complementarity(state), off, float(np.abs(in_r).max()))

    def complementarity(self, state: _State) -> float:
        low, up = self.room(state.w)
        return float(state.z @ low + state.y @ up + state.q @ state.r)

    def step(self, state: _State) -> _State:
        """Return Mehrotra's step: a predictor, the same system for the corrector."""
        w, q, _, _, _, z, y, r = state
        low, up = self.room(w)
        prior = self.master.prior
        omega = 1.0 / (4 * prior.beta + z / low + y / up)
        system = _System(self, omega, r / q, 1.0 / prior.bend(self.degrees(w)))
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
        state: _State,
        system: _System,
        misses: tuple[Array, Array, Array, float, float],
        aims: tuple[Array, Array, Array],
    ) -> _State:
        """Solve the linearised equations for the changes aimed at in the three products."""
        in_w, in_nu, in_r, in_tau, in_q = misses
        (low, up), A, d = self.room(state.w), self.master.joins, self.d
        push = system.omega * (aims[0] / low - aims[1] / up - in_w)
        right = np.concatenate(
            [A @ push + in_nu, self.Z @ push + in_r + aims[2] / state.q, [-push.sum() - in_tau]]
        )
        solved = system.solve(right)
        dt = float((np.sum(solved[d:-1]) + in_q) / np.sum(system.border[d:-1]))
        solved = solved - dt * system.border
        d_nu, dq, d_tau = solved[:d], solved[d:-1], float(solved[-1])
        dw = push - system.omega * (A.T @ d_nu + dq @ self.Z - d_tau)
        return _State(
            dw, dq, d_nu, d_tau, dt,
            (aims[0] - state.z * dw) / low,
            np.where(self.capped, (aims[1] + state.y * dw) / up, 0.0),
            (aims[2] - state.r * dq) / state.q,
        )  # fmt: skip

    def reach(self, state: _State, step: _State) -> float:
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


class _System:
    """``BΩBᵀ + diag(1/φ'', r/q, 2κ)``, factorised once it has a unit diagonal."""

    def __init__(self, model: _Model, omega: Array, ratio: Array, springs: Array) -> None:
        master, Z, A, d = model.master, model.Z, model.master.joins, model.d
        bent = Z * omega
        met = np.asarray(A @ omega)
        matrix = np.zeros((d + model.K + 1, d + model.K + 1))  # its lower triangle
        matrix[model.tails, model.heads] = omega
        matrix[d:-1, :d] = np.asarray(A @ bent.T).T
        root = Z * np.sqrt(omega)
        matrix[d:-1, d:-1] = root @ root.T  # half of the work of any other product
        matrix[-1, :d] = -met
        matrix[-1, d:-1] = -bent.sum(axis=1)
        diagonal = np.diagonal(matrix).copy()
        diagonal[:d] = met + springs
        diagonal[d:-1] += ratio
        diagonal[-1] = omega.sum() + 2 * master.curvature
        self.omega, self.scale = omega, 1.0 / np.sqrt(diagonal)
        matrix *= self.scale[:, np.newaxis]
        matrix *= self.scale
        np.fill_diagonal(matrix, 1.0 + _JITTER)
        self.factor = linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        ones = np.zeros(d + model.K + 1)
        ones[d:-1] = 1.0
        self.border = self.solve(ones)

    def solve(self, right: Array) -> Array:
        """Apply the inverse."""
        return np.asarray(
            self.scale * linalg.cho_solve(self.factor, self.scale * right, check_finite=False)
        )
