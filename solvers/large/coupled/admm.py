"""The splitting of solvers/transport/admm.py where nothing is d × d.

Its matrices are those of the LMI plus low rank (state.py), what is negative in them is a coupling
of the rank of the data plus the multiplicity of λmax (split.py), and residuals are compared by
their products with a few random columns. Over-relaxed, ρ balanced, with Anderson acceleration.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from solvers.large.coupled.split import Negative
from solvers.large.coupled.state import SparseLMI, State, combined
from solvers.large.coupled.step import GraphStep
from solvers.large.coupled.value import hard_transport, top_eigenvectors
from solvers.large.search import Search
from solvers.large.worst_case import WorstTransport
from wdro_cvx.validation import Array

_RELAXATION = 1.6
_STEP_ERROR = 0.05  # of an L-step, as a share of the residual
_THIN_ERROR = 1e-4  # of what compression leaves out, as a share of it
_CHECK_EVERY = 20  # a certificate costs about two iterations
_MEMORY = 8
_ACCELERATE_EVERY = 5
_WORSE = 2.0  # a residual that grows by this undoes an acceleration
_PARALLEL = 1e-8
_THINNEST = 0.4  # of the vertices: beyond, the dense path is the better one
_TOP = 24  # eigenvectors over which a start spreads what is left of the budget
_COLUMNS = 24  # random ones, by which residuals are known
_SLACK = 0.05  # γ starts this far above λmax
_MOST = 600  # iterations
_BALANCED, _BALANCING = 2.0, 5.0
_STALLED = 0.9  # of the gap before, over so many certificates
_PATIENCE = 6


class Splitting:
    """An iteration on a search's candidates, which it goes on with when these have changed."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.rng = np.random.default_rng(0)
        lmi = self._lmi()
        d, n = lmi.factor.shape
        self.top = min(_TOP, d - 1)
        self.test = self.rng.standard_normal((d + n, _COLUMNS)) / np.sqrt(_COLUMNS)
        self.negative = Negative(d + n, n + 2 * self.top, self.rng)
        self.step = GraphStep(search.weights)
        self.state, self.rho = self._start(lmi)
        self.residual = float(np.linalg.norm(self.state.product(self.test)))
        self.negative(self.state, passes=4)
        self.past: list[tuple[State, Array]] = []

    def _lmi(self) -> SparseLMI:
        data = self.search.data
        centred = (data.points - data.points.mean(axis=0)) / data.radius
        prior = data.prior.scaled(data.radius**-2)
        return SparseLMI(self.search.edges, centred, prior, self.search.box)

    def _start(self, lmi: SparseLMI) -> tuple[State, float]:
        """Return a state and ρ that belong to the search's graph."""
        laplacian = lmi.laplacian(self.search.weights)
        values, vectors = top_eigenvectors(laplacian, self.top)
        d, n = lmi.factor.shape
        gamma = (1.0 + _SLACK) * float(values.max())
        moves = hard_transport(laplacian, lmi.factor, 1.0).moves.astype(float)
        moves /= max(float(np.linalg.norm(moves)), 1.0)
        shares = 1.0 / (gamma - values) ** 2
        left = max(1.0 - float(np.sum(moves**2)), 0.0)
        spread = vectors * np.sqrt(left * shares / shares.sum())
        dual = np.block([[moves, spread], [-np.eye(n), np.zeros((n, self.top))]])
        corner = moves.T @ (laplacian @ lmi.factor)
        weights = self.search.weights
        primal = State(lmi, weights, gamma, corner, np.empty((d + n, 0)), np.empty(0))
        size = float(np.linalg.norm(primal.product(self.test)))
        rho = float(np.linalg.norm(dual.T @ dual)) / size
        return primal.plus(dual, -1.0 / rho), rho

    def run(self, tol: float) -> None:
        """Improve the search's weights and evidence until its gap is ``tol`` or nothing helps."""
        search = self.search
        lmi = self._lmi()
        if lmi.edges is not self.state.lmi.edges:
            self.state = self.state.on(lmi)
            self.step = GraphStep(search.weights, self.step.curvature, self.step.multipliers)
            self.past.clear()
        fallback: tuple[State, float] | None = None
        gaps: list[float] = []
        for iteration in range(1, _MOST + 1):
            search.check_clock()
            state, thin = self.state, self.negative(self.state)
            if thin.shape[1] > _THINNEST * len(thin):
                return  # nothing of low rank here
            graph = self.step.take(state.plus(thin, 2.0), self.rho, _STEP_ERROR * self.residual)
            positive = state.product(self.test) + thin @ (thin.T @ self.test)
            move = graph.product(self.test) - positive
            self.residual = float(np.linalg.norm(move))
            if fallback is not None and self.residual > _WORSE * fallback[1]:
                self.state, fallback = fallback[0], None
                self.past.clear()
                continue
            fallback = None
            relaxed = combined([state, graph], np.array([1.0 - _RELAXATION, _RELAXATION]))
            image = relaxed.plus(thin, -_RELAXATION).compressed(_THIN_ERROR * self.residual)
            self.past = [*self.past[-_MEMORY:], (image, move)]
            self.state = image
            if iteration % _ACCELERATE_EVERY == 0 and len(self.past) > 2:
                self.state, fallback = self._extrapolated(), (image, self.residual)
            if iteration % _CHECK_EVERY:
                continue
            self._bound(graph, thin)
            search.steps += _CHECK_EVERY
            gaps.append(search.gap)
            if gaps[-1] <= tol:
                return
            if len(gaps) > _PATIENCE and gaps[-1] > _STALLED * gaps[-1 - _PATIENCE]:
                return
            if self._balance(image, positive, thin):
                fallback = None

    def _extrapolated(self) -> State:
        """Return the combination of images whose residuals cancel best (Walker and Ni, 2011)."""
        images, moves = zip(*self.past, strict=True)
        turns = np.stack([(moves[-1] - other).ravel() for other in moves[:-1]], axis=1)
        shares = linalg.lstsq(turns, moves[-1].ravel(), cond=_PARALLEL, check_finite=False)[0]
        every = combined(list(images), np.append(shares, 1.0 - shares.sum()))
        return every.compressed(_THIN_ERROR * self.residual)

    def _balance(self, image: State, positive: Array, thin: Array) -> bool:
        """Change ρ where one of primal and dual residual is far larger; say whether it was."""
        rest = self.negative(image)
        moved = image.product(self.test) + rest @ (rest.T @ self.test)
        primal = self.residual * float(np.linalg.norm(thin.T @ thin))
        dual = float(np.linalg.norm(moved - positive) * np.linalg.norm(positive))
        ratio = float(np.sqrt(primal / dual)) if dual > 0.0 else 1.0
        if 1.0 / _BALANCED <= ratio <= _BALANCED:
            return False
        new = self.rho * float(np.clip(ratio, 1.0 / _BALANCING, _BALANCING))
        self.state = image.plus(rest, 1.0 - self.rho / new)
        self.rho = new
        self.past.clear()
        return True

    def _bound(self, graph: State, thin: Array) -> None:
        """Offer the search the coupling, the graph that is best for it, and this one."""
        search, data = self.search, self.search.data
        coupling = self._coupling(graph, thin)
        point = search.bounded(coupling, search.costs(data.moved(coupling)))
        for weights in (graph.weights, point.feasible):
            laplacian = search.edges.laplacian(weights)
            worst = hard_transport(laplacian, data.points, data.radius)
            search.offer(weights, laplacian, worst)

    def _coupling(self, graph: State, thin: Array) -> WorstTransport:
        """Return the moves and the spread that a dual ``BBᵀ``, ``B = [B₁; B₂]``, stands for.

        With O the polar factor of B₂ the data move by ``-B₁Oᵀ``, and what O does not span of B₁ is
        spread. Together they cost ``‖B₁‖²`` whatever B₂ is.
        """
        d = graph.lmi.edges.d
        left, _, right = linalg.svd(thin[d:].T, check_finite=False)
        shared = min(left.shape[0], right.shape[0])
        turned = thin[:d] @ left
        moves = -turned[:, :shared] @ right[:shared]
        spread = turned[:, shared:]
        size = self.search.data.radius / float(np.linalg.norm(turned))
        return WorstTransport(
            np.nan, graph.gamma, (size * moves).astype(np.float32), False, size * spread
        )
