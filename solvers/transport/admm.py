"""ADMM on the LMI of a transport set, for risks that are not smooth at the optimum.

If the data have no mass in some directions and the radius is large, γ equals λmax at the optimum.
The top eigenvalue is then multiple, and gradients are of little use. The LMI (lmi.py) splits into a
projection onto the positive semidefinite matrices and a step in which L, γ and Z separate. Its dual
variable is a coupling, which gives a certificate every few iterations.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from solvers.bracket.incumbent import Incumbent
from solvers.control.admm import CHECK_EVERY, RELAXATION, STEP_ERROR, TransportADMM, polar_coupling
from solvers.transport.coupling import coupling
from solvers.transport.lmi import TransportLMI
from solvers.transport.step import LaplacianStep
from wdro_cvx.ambiguity import Transport
from wdro_cvx.validation import Array

_FEW = 0.15  # share of the eigenvectors; a larger share costs more than computing all of them
_TRIAL_STEPS = 450  # most QPs on trial; a run that converges fast takes fewer
_TRIAL_CHECKS, _TRIAL_FALL = 2, 0.1  # over two certificates the gap must fall to this share
# If only the mean moves, the bound converges long before the value, whose error is the primal
# residual. A larger weight of this residual and more patience then save time. If all of the data
# move, they cost time.
_PRIMAL_WEIGHT, _PATIENT_FALL = 10.0, 0.3
_NEARLY = 2.0  # times the tolerance: with a smaller gap, ADMM goes on


def run_admm(
    incumbent: Incumbent, form: Transport, max_iterations: int, on_trial: bool = False
) -> None:
    """Improve the incumbent until it is solved or the limit is reached.

    On trial it also ends as soon as convergence is slow. This suits problems for which a slower but
    more reliable method follows.
    """
    start = incumbent.laplacian
    if start is None or not start.any() or incumbent.solved or max_iterations < CHECK_EVERY:
        return  # the empty graph, possible under a trace penalty, has no γ and hence no LMI
    if incumbent.problem.prior.alpha > 0.0:
        return  # the steps are quadratic programs, which have no logarithms
    if not form.diagonal:
        return  # the steps need one weight per edge, which only a diagonal metric gives
    _DenseADMM(incumbent, form, start, on_trial).run(max_iterations)


class _DenseADMM(TransportADMM[Array]):
    """The iteration on full matrices."""

    def __init__(self, incumbent: Incumbent, form: Transport, start: Array, on_trial: bool) -> None:
        self.incumbent, self.form, self.on_trial = incumbent, form, on_trial
        self.lmi = TransportLMI.of(incumbent.problem, form, start)
        primal, dual = self.lmi.start(start)
        rho = float(np.linalg.norm(dual) / np.linalg.norm(primal))
        super().__init__(primal - dual / rho, rho, float(np.linalg.norm(primal)))
        self.graph_step = LaplacianStep(self.lmi, start)
        self.gaps: list[float] = []
        self.positive = self.negative = np.empty(0)
        self.root = np.empty((0, len(primal)))

    def step(self) -> tuple[Array, Array] | None:
        if self.on_trial and (self.graph_step.solved > _TRIAL_STEPS or self._slow()):
            return None
        d = self.lmi.d
        self.positive, self.root = _split(self.state, len(self.root))
        self.negative = self.root.T @ self.root
        target = self.positive + self.negative
        _, scaled, gamma = self.graph_step.take(target, self.rho, STEP_ERROR * self.residual)
        corner = target[d:, d:] - np.eye(len(self.form.factor)) / self.rho
        move = self.lmi.matrix(scaled, gamma, corner) - self.positive
        return self.state + RELAXATION * move, move

    def _slow(self) -> bool:
        """Return whether the gap is wide and has hardly shrunk over the last certificates."""
        gaps, fall = self.gaps, _TRIAL_FALL if self.form.moves_all else _PATIENT_FALL
        if len(gaps) <= _TRIAL_CHECKS or gaps[-1] <= _NEARLY * self.incumbent.tol:
            return False
        return gaps[-1] > fall * gaps[-1 - _TRIAL_CHECKS]

    def certify(self) -> bool:
        incumbent, lmi, laplacian = self.incumbent, self.lmi, self.graph_step.laplacian
        first, second = self.root[:, : lmi.d], self.root[:, lmi.d :]
        pieces = coupling(self.form, *polar_coupling(first, second), laplacian)
        answer = incumbent.bound_by(pieces, None)
        # A step in which no edge pays gives the empty graph, even if the trace is fixed.
        incumbent.evaluate(incumbent.problem.prior.repaired(laplacian))
        incumbent.evaluate(answer.laplacian)
        incumbent.record(CHECK_EVERY)
        self.gaps.append(incumbent.gap)
        return incumbent.solved

    def combined(self, images: list[Array], shares: Array) -> Array:
        point = images[-1].copy()
        for share, other in zip(shares, images[:-1], strict=True):
            point -= share * (images[-1] - other)
        return point

    def errors(self, image: Array) -> tuple[float, float, Callable[[float], Array]]:
        moved, rest = _split(image, len(self.root))
        primal = self.residual * float(np.linalg.norm(self.negative))
        if not self.form.moves_all:
            primal *= _PRIMAL_WEIGHT
        dual = float(np.linalg.norm(moved - self.positive) * np.linalg.norm(self.positive))
        return primal, dual, lambda factor: moved - rest.T @ rest * factor


def _split(matrix: Array, rank: int = 0) -> tuple[Array, Array]:
    """Return the positive part of a matrix, and B such that ``-BᵀB`` is its negative part.

    ``rank`` estimates the number of rows of B. If it is small, only their eigenvectors are found.
    """
    if rank <= _FEW * len(matrix):
        try:
            values, vectors = linalg.eigh(
                matrix, driver="evr", subset_by_value=(-np.inf, 0.0), check_finite=False
            )
        except linalg.LinAlgError:  # LAPACK's fastest driver fails on some eigenvalue clusters
            values, vectors = linalg.eigh(matrix, driver="evd", check_finite=False)
    else:
        values, vectors = linalg.eigh(matrix, driver="evd", check_finite=False)
    negative = values < 0.0
    root = np.sqrt(-values[negative])[:, np.newaxis] * vectors[:, negative].T
    return matrix + root.T @ root, root
