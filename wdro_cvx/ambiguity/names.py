"""Short names of the registered sets, for the estimator and the command line alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields

from wdro_cvx.ambiguity.base import AmbiguitySet, registered_ambiguities
from wdro_cvx.errors import ProblemError


def ambiguity_names() -> dict[str, type[AmbiguitySet]]:
    """Return the registered sets by short name: ``WassersteinBall`` is ``wasserstein``."""
    return {_short(name): kind for name, kind in registered_ambiguities().items()}


def named_ambiguity(name: str, parameters: Mapping[str, object] | None = None) -> AmbiguitySet:
    """Return a registered set of radius 0 by its name, short or long.

    Parameters
    ----------
    name : str
        Such as ``wasserstein``, ``chi-square`` or ``MomentBall``.
    parameters : mapping, optional
        What the set has beside its radius, such as ``{"p": 1.0}``.
    """
    known = ambiguity_names()
    kind = known.get(name, registered_ambiguities().get(name))
    if kind is None:
        raise ProblemError(f"ambiguity must be one of {', '.join(known)}; it is {name!r}.")
    given = dict(parameters or {})
    allowed = {field.name: field for field in fields(kind) if field.name != "radius"}
    for parameter in given:
        if parameter not in allowed:
            has = f"it has {', '.join(allowed)}" if allowed else "it has none beside its radius"
            raise ProblemError(f"{kind.__name__} has no parameter {parameter!r}; {has}.")
    needed = [
        field.name
        for field in allowed.values()
        if field.default is MISSING and field.default_factory is MISSING
    ]
    missing = [parameter for parameter in needed if parameter not in given]
    if missing:
        example = ", ".join(f"{parameter}=…" for parameter in missing)
        raise ProblemError(
            f"{kind.__name__} needs {' and '.join(missing)}; give a set with them, as "
            f"{kind.__name__}(0.0, {example})."
        )
    return kind(0.0, **given)


def _short(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.removesuffix("Ball")).lower()
