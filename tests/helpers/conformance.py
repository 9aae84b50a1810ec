"""Cases for tests/conformance from the registries; every newly registered variant adds a case."""

from __future__ import annotations

import numpy as np

import formulations
import solvers
from wdro_cvx import AmbiguitySet, MomentBall, registered_ambiguities
from wdro_cvx.claims import claimed
from wdro_cvx.testing.problems import D, some_problem

_ORDERS = {f"MomentBall p={p:g}": p for p in (1.0, 1.5, 4.0, np.inf)}

#: Every registered set, plus moment balls over the range of p.
SETS = [*registered_ambiguities(), *_ORDERS]


def named_set(name: str, radius: float, d: int = D) -> AmbiguitySet:
    """Return the set with this case name."""
    if name in _ORDERS:
        return MomentBall(radius, p=_ORDERS[name])
    return registered_ambiguities()[name].example(radius, d)


#: Pairs of a formulation and the name of a set that it claims.
FORMULATIONS = [
    (form, name)
    for form in formulations.registered()
    for name in SETS
    if claimed(
        formulations.registered()[form].claims,
        some_problem(named_set(name, 0.5), "the paper's prior"),
    )
]
SOLVERS = list(solvers.registered())
