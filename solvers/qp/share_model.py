"""The best shares of atoms for a concave quadratic model, by an interior-point method.

    max cᵀp + ½(p - p₀)ᵀH(p - p₀),    f(q) ≤ ε,  0 ≤ q ≤ most,  1ᵀq = 1

over shares q with the probabilities p (balls.py).

There are as many unknowns as shares, a few hundred at most for a smooth divergence. A step is one
small Cholesky factorisation. The slack of ``f(q) ≤ ε`` is a variable of its own, as in saddle.py.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from solvers.qp.balls import PieceBall, SmoothBall
from wdro_cvx.validation import Array

_MAX_STEPS = 80  # usual: 12 to 25
_CLOSED = 1e-11  # complementarity per share, relative to the spread of c
_CENTRED = 0.1  # the next complementarity, as a share of this one
_RIDGE = 1e-13  # relative; the model may be flat in some directions
_BOUNDARY = 0.95  # share of the way to the boundary


def best_shares(ball: SmoothBall | PieceBall, slope: Array, bend: Array, centre: Array) -> Array:
    """Return the probabilities that maximise the model.

    Parameters
    ----------
    ball : SmoothBall or PieceBall
    slope : array (K,)
        c, one per atom.
    bend : array (K, K)
        H, negative semidefinite.
    centre : array (K,)
        p₀.
    """
    lift = np.column_stack([ball.probabilities(row) for row in np.eye(ball.shares.size)])
    unit = max(float(np.ptp(slope)), np.finfo(float).tiny)
    linear = lift.T @ ((slope - bend @ centre) / unit)
    square = -(lift.T @ bend @ lift) / unit
    finite = np.isfinite(ball.most)
    q, s = ball.shares.copy(), ball.radius - ball.divergence(ball.shares)
    count = q.size + 1 + np.count_nonzero(finite)
    kappa = 1.0 / count
    r, o, theta, price = kappa / q, np.zeros(q.size), 0.0, kappa / s
    o[finite] = kappa / (ball.most - q)[finite]
    for _ in range(_MAX_STEPS):
        room = np.where(finite, ball.most - q, 1.0)
        done = (float(q @ r) + float(room @ o) + s * price) / count
        if done <= _CLOSED:
            break
        kappa = _CENTRED * done
        tangent = ball.slope(q)
        missing = ball.radius - ball.divergence(q) - s
        matrix = square + (price / s) * np.outer(tangent, tangent)
        matrix[np.diag_indices(q.size)] += price * ball.bend(q) + r / q + o / room
        side = linear - square @ q - theta - tangent * ((kappa - price * missing) / s)
        side += kappa / q - np.where(finite, kappa / room, 0.0)
        matrix[np.diag_indices(q.size)] *= 1.0 + _RIDGE
        try:
            factor = linalg.cho_factor(matrix, check_finite=False)
        except linalg.LinAlgError:  # rounding dominates; the shares are as good as they get
            break
        both = np.column_stack([side, np.ones(q.size)])
        solved = linalg.cho_solve(factor, both, check_finite=False)
        d_theta = (float(solved[:, 0].sum()) + q.sum() - 1.0) / float(solved[:, 1].sum())
        d_q = solved[:, 0] - d_theta * solved[:, 1]
        d_s = missing - float(tangent @ d_q)
        d_r = (kappa - r * d_q) / q - r
        d_o = np.where(finite, (kappa + o * d_q) / room - o, 0.0)
        d_price = (kappa - price * d_s) / s - price
        ours = np.concatenate([q, room[finite], r, o[finite], [s, price]])
        steps = np.concatenate([d_q, -d_q[finite], d_r, d_o[finite], [d_s, d_price]])
        falling = steps < 0.0
        length = min(1.0, _BOUNDARY * float(np.min(-ours[falling] / steps[falling], initial=1e3)))
        q, r, o = q + length * d_q, r + length * d_r, o + length * d_o
        s, price, theta = s + length * d_s, price + length * d_price, theta + length * d_theta
    return np.asarray(ball.probabilities(q))
