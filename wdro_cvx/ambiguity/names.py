"""Short names of the registered sets, for the estimator and the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields

from wdro_cvx.ambiguity.base import AmbiguitySet, registered_ambiguities
from wdro_cvx.errors import ProblemError


def ambiguity_names() -> dict[str, type[AmbiguitySet]]:
    """Return the registered sets by short name.

    Returns
    -------
    dict of str to AmbiguitySet subclass
        ``WassersteinBall`` has the short name ``wasserstein``.

    Examples
    --------
    >>> from wdro_cvx.ambiguity import ambiguity_names
    >>> ambiguity_names()["chi-square"].__name__
    'ChiSquareBall'
    """
    return {_short(name): kind for name, kind in registered_ambiguities().items()}


def named_ambiguity(name: str, parameters: Mapping[str, object] | None = None) -> AmbiguitySet:
    """Return a registered set of radius 0 by its short or long name.

    Parameters
    ----------
    name : str
        Such as ``wasserstein``, ``chi-square`` or ``MomentBall``.
    parameters : mapping, optional
        Parameters other than the radius, such as ``{"p": 1.0}``.

    Returns
    -------
    AmbiguitySet

    Raises
    ------
    ProblemError
        If the name or a parameter is unknown, or a required parameter is missing.

    Examples
    --------
    >>> from wdro_cvx.ambiguity import named_ambiguity
    >>> named_ambiguity("moment", {"p": 1.0})
    MomentBall(radius=0.0, p=1.0, alpha=1.0)
    >>> named_ambiguity("mahalanobis")
    Traceback (most recent call last):
        ...
    wdro_cvx.errors.ProblemError: MahalanobisBall needs scales; ...
    """
    known = ambiguity_names()
    kind = known.get(name, registered_ambiguities().get(name))
    if kind is None:
        raise ProblemError(f"ambiguity must be one of {', '.join(known)}; it is {name!r}.")
    given = dict(parameters or {})
    allowed = {field.name: field for field in fields(kind) if field.name != "radius"}
    for parameter in given:
        if parameter not in allowed:
            has = f"it has {', '.join(allowed)}" if allowed else "it has none besides its radius"
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
            f"{kind.__name__} needs {' and '.join(missing)}; pass a set, such as "
            f"{kind.__name__}(0.0, {example})."
        )
    return kind(0.0, **given)


def _short(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.removesuffix("Ball")).lower()
