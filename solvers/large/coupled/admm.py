"""The ADMM of solvers/transport/admm.py without d × d matrices.

Its matrices are LMI matrices plus low-rank terms (state.py). Their negative part is a coupling; its
rank is the rank of the data plus the multiplicity of λmax (split.py). Residuals are measured by
their products with a few random columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.control.admm import CHECK_EVERY, RELAXATION, STEP_ERROR, TransportADMM, polar_coupling
from solvers.large.coupled.split import Negative
from solvers.large.coupled.state import LowRankState, SparseLMI, combined
from solvers.large.coupled.step import GraphStep
from solvers.large.coupled.value import hard_transport, top_eigenvectors
from solvers.large.search import CandidateSearch
from solvers.large.worst_case import WorstTransport
from wdro_cvx.validation import Array

_THIN_ERROR = 1e-4  # error of compression, as a share of the residual
_THINNEST = 0.4  # largest rank, as a share of the rows; beyond it the dense path is better
_TOP = 24  # eigenvectors over which the start spreads the rest of the budget
_COLUMNS = 24  # random columns that measure residuals
_SLACK = 0.05  # γ starts this far above λmax, relative to λmax
_MOST = 600  # iterations
_STALLED = 0.9  # stop if this share of the gap is left after _PATIENCE certificates
_PATIENCE = 6


class LowRankADMM(TransportADMM[LowRankState]):
    """The iteration on a search's candidates; it can continue after they change."""

    def __init__(self, search: CandidateSearch) -> None:
        self.search = search
        self.rng = np.random.default_rng(0)
        lmi = self._lmi()
        d, n = lmi.factor.shape
        self.top = min(_TOP, d - 1)
        self.test = self.rng.standard_normal((d + n, _COLUMNS)) / np.sqrt(_COLUMNS)
        self.negative = Negative(d + n, n + 2 * self.top, self.rng)
        self.graph_step = GraphStep(search.weights)
        state, rho = self._start(lmi)
        super().__init__(state, rho, float(np.linalg.norm(state.product(self.test))))
        self.negative(self.state, passes=4)
        self.tol, self.gaps = 0.0, list[float]()
        self.graph, self.thin, self.positive = state, np.empty((d + n, 0)), np.empty(0)

    def _lmi(self) -> SparseLMI:
        data = self.search.data
        centred = (data.points - data.points.mean(axis=0)) / data.radius
        prior = data.prior.scaled(data.radius**-2)
        return SparseLMI(self.search.edges, centred, prior, self.search.box)

    def _start(self, lmi: SparseLMI) -> tuple[LowRankState, float]:
        """Return a starting state and ρ for the search's graph."""
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
        primal = LowRankState(lmi, weights, gamma, corner, np.empty((d + n, 0)), np.empty(0))
        size = float(np.linalg.norm(primal.product(self.test)))
        rho = float(np.linalg.norm(dual.T @ dual)) / size
        return primal.plus(dual, -1.0 / rho), rho

    def improve(self, tol: float) -> None:
        """Improve the search's weights and evidence until its gap is ``tol`` or nothing helps."""
        lmi, step = self._lmi(), self.graph_step
        if lmi.edges is not self.state.lmi.edges:
            self.state = self.state.on(lmi)
            self.graph_step = GraphStep(self.search.weights, step.curvature, step.multipliers)
            self.anderson.forget()
        self.tol, self.gaps = tol, []
        self.run(_MOST)

    def step(self) -> tuple[LowRankState, Array] | None:
        """Take one step; return None if the negative part is not of low rank."""
        self.search.check_clock()
        state, thin = self.state, self.negative(self.state)
        if thin.shape[1] > _THINNEST * len(thin):
            return None
        error = STEP_ERROR * self.residual
        graph = self.graph_step.take(state.plus(thin, 2.0), self.rho, error)
        positive = state.product(self.test) + thin @ (thin.T @ self.test)
        move = graph.product(self.test) - positive
        self.graph, self.thin, self.positive = graph, thin, positive
        relaxed = combined([state, graph], np.array([1.0 - RELAXATION, RELAXATION]))
        error = _THIN_ERROR * float(np.linalg.norm(move))
        return relaxed.plus(thin, -RELAXATION).compressed(error), move

    def combined(self, images: list[LowRankState], shares: Array) -> LowRankState:
        """Combine images; ``shares`` omits the last one's share."""
        every = combined(images, np.append(shares, 1.0 - shares.sum()))
        return every.compressed(_THIN_ERROR * self.residual)

    def errors(self, image: LowRankState) -> tuple[float, float, Callable[[float], LowRankState]]:
        """Return the primal and dual residuals, and a function that rescales the image's dual."""
        rest = self.negative(image)
        moved = image.product(self.test) + rest @ (rest.T @ self.test)
        primal = self.residual * float(np.linalg.norm(self.thin.T @ self.thin))
        dual = float(np.linalg.norm(moved - self.positive) * np.linalg.norm(self.positive))
        return primal, dual, lambda factor: image.plus(rest, 1.0 - factor)

    def certify(self) -> bool:
        """Offer the search the coupling, its best graph and this graph; return whether to stop."""
        search, data, gaps = self.search, self.search.data, self.gaps
        found = self._coupling()
        point = search.bounded(found, search.costs(data.moved(found)))
        for weights in (self.graph.weights, point.feasible):
            laplacian = search.edges.laplacian(weights)
            worst = hard_transport(laplacian, data.points, data.radius)
            search.offer(weights, laplacian, worst)
        search.steps += CHECK_EVERY
        gaps.append(search.gap)
        stalled = len(gaps) > _PATIENCE and gaps[-1] > _STALLED * gaps[-1 - _PATIENCE]
        return gaps[-1] <= self.tol or stalled

    def _coupling(self) -> WorstTransport:
        """Return the coupling of the last step's dual, scaled to the whole budget."""
        d = self.graph.lmi.edges.d
        moves, spread = (piece.T for piece in polar_coupling(self.thin[:d].T, self.thin[d:].T))
        size = self.search.data.radius / float(np.linalg.norm(self.thin[:d]))
        single = (size * moves).astype(np.float32)
        return WorstTransport(np.nan, self.graph.gamma, False, single, size * spread)
