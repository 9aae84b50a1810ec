"""Explain why a set has no worst case for some data; often the number of vertices differs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase
from wdro_cvx.errors import ProblemError, describe
from wdro_cvx.graphs.laplacian import complete_graph
from wdro_cvx.moments.nominal import Nominal


def misfit(ambiguity: AmbiguitySet, nominal: Nominal) -> str | None:
    """Return the error that a set raises for data and its likely reason; None if there is none.

    If the example of the class for this number of vertices works, the set is for another number.
    """
    raised = _raised(ambiguity, nominal)
    if raised is None:
        return None
    kind, d = type(ambiguity), nominal.d
    name = kind.__name__
    own = getattr(kind.example, "__func__", None) is not _EXAMPLE
    parameters = [field.name for field in fields(ambiguity) if field.name != "radius"]
    if _fits(kind, ambiguity.radius, nominal):
        return (
            f"{raised}; the set does not fit {d} vertices, and {name}.example(radius, {d}) does: "
            f"give {' and '.join(parameters)} for {d} vertices"
        )
    if parameters and not own:
        return (
            f"{raised}; if the set does not fit {d} vertices, give {' and '.join(parameters)} for "
            f"{d} vertices, and write the class method example(radius, d), which checks and "
            "comparisons use"
        )
    return raised


_EXAMPLE: Any = AmbiguitySet.example.__func__  # type: ignore[attr-defined]


def _fits(kind: type[AmbiguitySet], radius: float, nominal: Nominal) -> bool:
    try:
        return _raised(kind.example(radius, nominal.d), nominal) is None
    except Exception:  # an example that cannot be made shows nothing
        return False


def _raised(ambiguity: AmbiguitySet, nominal: Nominal) -> str | None:
    """Return the error of ``worst_case`` or ``distance`` at the complete graph, in words."""
    d, asked = nominal.d, "worst_case"
    try:
        worst = ambiguity.worst_case(nominal, complete_graph(d, float(d)))
        if not isinstance(worst, WorstCase):
            raise ProblemError(f"it must return a WorstCase; it is {type(worst).__name__}")
        asked = "distance"
        ambiguity.distance(nominal, nominal.second_moment)
    except Exception as error:  # a user's set may raise anything
        return f"{asked} raised {describe(error)}"
    return None
