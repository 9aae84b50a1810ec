"""Certificates for the judge of edge lists, which takes no d × d matrices."""

import numpy as np

from wdro_cvx import Certificate, MomentBall
from wdro_cvx.ambiguity.shift import ShiftBall
from wdro_cvx.moments.points import TransportedMoment


def without_matrix(problem, certificate):
    """Return a certificate with nominal rows; for p = 1 the multipliers hold the diagonal shift."""
    nu, moment, ambiguity = certificate.degree_multipliers, certificate.moment, problem.ambiguity
    if not isinstance(ambiguity, ShiftBall) or moment.shift is None:
        return certificate
    if isinstance(ambiguity, MomentBall) and ambiguity.p == 1.0:
        nu = nu + np.diagonal(moment.shift)
    return Certificate(TransportedMoment(problem.nominal.factor), nu)
