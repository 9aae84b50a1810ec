"""Build a moment in a transport set from its coupling, which proves that it is in the set."""

from __future__ import annotations

import numpy as np

from wdro_cvx.ambiguity import Transport
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.validation import Array

_ROUNDING = 1e-13  # share of the budget reserved for rounding in the sums


def coupling(form: Transport, moves: Array, spread: Array, laplacian: Array) -> TransportedMoment:
    """Scale moves and spread to use the whole budget, and shift the rest along a Laplacian.

    Moves and spread are in the coordinates of the form.
    """
    cost = float(np.sum(moves**2) + np.sum(spread**2))
    scale = form.radius * np.sqrt((1.0 - _ROUNDING) / cost) if cost > 0.0 else 0.0
    shift = form.rest
    size = float(np.linalg.norm(laplacian))
    if shift is not None and size > 0.0:
        shift = shift + form.reach * (1.0 - _ROUNDING) / size * laplacian
    return TransportedMoment(
        form.factor + form.frame.outside(scale * moves), form.frame.outside(scale * spread), shift
    )
