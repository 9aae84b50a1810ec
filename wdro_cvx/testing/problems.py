"""Small problems that cover the kinds of priors, for the checks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.graphs.bounds import EdgeBounds
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.priors import DegreePrior, Frobenius, LogDegree
from wdro_cvx.problem import GraphProblem
from wdro_cvx.terms.base import Term

#: The number of vertices.
D = 6
_ETA = 0.2


def _bounds() -> EdgeBounds:
    """Return bounds with one absent edge, one present edge and one limited edge."""
    bounds = EdgeBounds.from_edges(D, absent=[(0, 1)], present=[(2, 3)], least=0.3)
    upper = bounds.upper.copy()
    upper[-1] = 0.4
    return EdgeBounds(bounds.lower, upper)


#: Name → prior. Every formulation and the certified solver support all of them.
PRIORS: dict[str, Callable[[], DegreePrior]] = {
    "the paper's prior": lambda: Frobenius(_ETA, D),
    "a trace other than d": lambda: Frobenius(_ETA, 2.5 * D),
    "a penalised trace": lambda: Frobenius(_ETA, D, trace_penalty=5.0),
    "bounds": lambda: Frobenius(_ETA, D, bounds=_bounds()),
    "bounds and a penalised trace other than d": lambda: Frobenius(
        _ETA, 0.5 * D, trace_penalty=5.0, bounds=_bounds()
    ),
    "logarithms of degrees": lambda: LogDegree(1.0, 0.3),
    "logarithms and bounds": lambda: LogDegree(1.0, 0.3, bounds=_bounds()),
}


def some_nominal(seed: int = 0, samples: int = 5 * D) -> Nominal:
    """Return random signals with a nonzero mean."""
    rng = np.random.default_rng(seed)
    return Nominal.from_samples(rng.standard_normal((samples, D)) + rng.random(D))


def some_problem(
    ambiguity: AmbiguitySet,
    prior: str,
    seed: int = 0,
    samples: int = 5 * D,
    terms: tuple[Term, ...] = (),
) -> GraphProblem:
    """Return a problem with one of the :data:`PRIORS`."""
    return GraphProblem(some_nominal(seed, samples), ambiguity, prior=PRIORS[prior](), terms=terms)
