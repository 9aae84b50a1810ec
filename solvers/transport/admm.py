"""ADMM on the LMI of a transport set, for risks that are not smooth at the optimum.

Where the data leave directions without mass and the radius is large, γ meets λmax at the optimum,
where the top eigenvalue is multiple, and gradients tell little. The LMI (lmi.py)
splits into a projection onto the positive semidefinite matrices and a step in which L, γ and Z
separate. Its dual is a coupling, so every few iterations a certificate falls out. Over-relaxed, ρ
balanced (Wen, Goldfarb and Yin, Math. Program. Comput. 2010), with Anderson acceleration.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from solvers.bracket.incumbent import Incumbent
from solvers.transport.anderson import Anderson
from solvers.transport.coupling import coupling
from solvers.transport.lmi import TransportLMI
from solvers.transport.step import LaplacianStep
from wdro_cvx.ambiguity import Transport
from wdro_cvx.validation import Array

_RELAXATION = 1.6
_STEP_ERROR = 0.05  # of an L-step, as a share of the residual; with 0.3 it was seen to stall
_CHECK_EVERY = 20  # a certificate costs about two iterations
_MEMORY = 8
_FEW = 0.15  # of the eigenvectors; more of them cost more than all together
_ACCELERATE_EVERY = 5
_WORSE = 2.0  # a residual that grows by this undoes an acceleration
_TRIAL_STEPS = 450  # of QPs, on trial; where it is at its best it takes 40 to 350
_TRIAL_CHECKS, _TRIAL_FALL = 2, 0.1  # of the gap, over so many certificates


def run_admm(
    incumbent: Incumbent,
    form: Transport,
    tol: float,
    max_iterations: int,
    on_trial: bool = False,
) -> None:
    """Improve the incumbent until its gap is ``tol`` or the limit is reached.

    On trial it also ends as soon as it does not converge fast; for problems where something else
    follows that is slower and surer.
    """
    start = incumbent.laplacian
    if start is None or not start.any() or incumbent.gap <= tol or max_iterations < _CHECK_EVERY:
        return  # the empty graph, to which a trace penalty may lead, has no γ and so no LMI
    if incumbent.problem.prior.alpha > 0.0:
        return  # its steps are quadratic programs
    lmi = TransportLMI.of(incumbent.problem, form, start)
    d = lmi.d
    primal, dual = lmi.start(start)
    rho = float(np.linalg.norm(dual) / np.linalg.norm(primal))
    state = primal - dual / rho
    residual = float(np.linalg.norm(primal))
    step = LaplacianStep(lmi, start)
    anderson = Anderson(_MEMORY)
    fallback: tuple[Array, float] | None = None
    gaps: list[float] = []
    rank = 0
    for iteration in range(1, max_iterations + 1):
        if on_trial and (step.solved > _TRIAL_STEPS or _slow(gaps)):
            return
        positive, root = _split(state, rank)
        rank = len(root)
        negative = root.T @ root
        laplacian, scaled, gamma = step.take(positive + negative, rho, _STEP_ERROR * residual)
        corner = positive[d:, d:] + negative[d:, d:] - np.eye(len(form.factor)) / rho
        move = lmi.matrix(scaled, gamma, corner) - positive
        residual = float(np.linalg.norm(move))
        if not np.isfinite(residual):
            return
        if fallback is not None and residual > _WORSE * fallback[1]:
            state, fallback = fallback[0], None
            anderson.forget()
            continue
        fallback = None
        image = state + _RELAXATION * move
        anderson.add(image, move)
        state = image
        if iteration % _ACCELERATE_EVERY == 0:
            better = anderson.extrapolate()
            if better is not None:
                state, fallback = better, (image, residual)
        if iteration % _CHECK_EVERY:
            continue
        pieces = coupling(form, *_transport(lmi, root), laplacian)
        answer = incumbent.bound_by(pieces, None)
        # A step that finds no edge worth its price is empty, whatever the trace has to be.
        incumbent.evaluate(incumbent.problem.prior.repaired(laplacian))
        incumbent.evaluate(answer.laplacian)
        incumbent.record(_CHECK_EVERY)
        if incumbent.gap <= tol:
            return
        gaps.append(incumbent.gap)
        moved, rest = _split(image, rank)
        primal_error = residual * float(np.linalg.norm(negative))
        dual_error = float(np.linalg.norm(moved - positive) * np.linalg.norm(positive))
        ratio = float(np.sqrt(primal_error / dual_error)) if dual_error > 0 else 1.0
        if not 0.5 <= ratio <= 2.0:
            new = rho * min(max(ratio, 0.2), 5.0)
            state = moved - rest.T @ rest * (rho / new)
            rho, fallback = new, None
            anderson.forget()


def _slow(gaps: list[float]) -> bool:
    """Return whether the last certificates have not narrowed the gap much."""
    return len(gaps) > _TRIAL_CHECKS and gaps[-1] > _TRIAL_FALL * gaps[-1 - _TRIAL_CHECKS]


def _split(matrix: Array, rank: int = 0) -> tuple[Array, Array]:
    """Return the positive part, and B with ``-BᵀB`` for the negative one.

    ``rank`` is about how many rows B will have: few are found faster by themselves.
    """
    if rank <= _FEW * len(matrix):
        try:
            values, vectors = linalg.eigh(
                matrix, driver="evr", subset_by_value=(-np.inf, 0.0), check_finite=False
            )
        except linalg.LinAlgError:  # LAPACK's fastest gives up on some clusters of eigenvalues
            values, vectors = linalg.eigh(matrix, driver="evd", check_finite=False)
    else:
        values, vectors = linalg.eigh(matrix, driver="evd", check_finite=False)
    negative = values < 0.0
    root = np.sqrt(-values[negative])[:, np.newaxis] * vectors[:, negative].T
    return matrix + root.T @ root, root


def _transport(lmi: TransportLMI, root: Array) -> tuple[Array, Array]:
    """Return the moves and the spread that a dual ``BᵀB``, ``B = [B₁, B₂]``, stands for.

    With O the polar factor of B₂ the rows of F move by ``-OᵀB₁``, and what O does not span of B₁ is
    spread. Together they cost ``‖B₁‖²`` whatever B₂ is.
    """
    first, second = root[:, : lmi.d] * lmi.scales, root[:, lmi.d :]
    left, _, right = linalg.svd(second, check_finite=False)
    shared = min(second.shape)
    turned = left.T @ first
    return -right[:shared].T @ turned[:shared], turned[shared:]
