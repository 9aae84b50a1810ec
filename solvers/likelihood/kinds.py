"""The risks that the solver of log-determinants takes."""

from __future__ import annotations

import numpy as np

from wdro_cvx import GraphProblem
from wdro_cvx.ambiguity import Norm, Surcharge, Transport


def is_linear(problem: GraphProblem) -> bool:
    """Say whether one moment is the worst case of every Laplacian."""
    form = problem.structure
    flat = isinstance(form, Norm) and np.isinf(form.order)
    return problem.ambiguity.radius == 0.0 or flat or isinstance(form, Surcharge)


def is_euclidean(problem: GraphProblem) -> bool:
    """Say whether the set is a Euclidean transport ball."""
    found = problem.structure
    return isinstance(found, Transport) and found.moves_all and found.euclidean
