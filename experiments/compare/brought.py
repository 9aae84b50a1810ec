"""What the files of ``--with`` bring, and whether their sets and terms keep their promises."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np

import formulations
import solvers
from experiments.compare.grid import NAMED_RADIUS
from experiments.measuring.extensions import load_extension, named_sets, named_terms
from wdro_cvx import (
    AmbiguitySet,
    Nominal,
    Term,
    WdroError,
    check_ambiguity,
    check_term,
    registered_ambiguities,
    registered_terms,
)
from wdro_cvx.testing import CheckReport
from wdro_cvx.testing.problems import D

#: Base class → the decorator of its subclasses.
_DECORATORS: dict[type, str] = {
    AmbiguitySet: "@register_ambiguity",
    Term: "@register_term",
    formulations.Formulation: "@register of formulations",
    solvers.Solver: "@register of solvers",
}
_INSTANCES = 2  # of each check, before a comparison that takes far longer


def load_files(paths: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Load the files and return the names of the sets and of the terms that they bring.

    Raises
    ------
    WdroError
        If a file cannot be loaded, or brings nothing.
    """
    sets, terms = _sets(), _terms()
    for path in paths:
        before = _all()
        load_extension(path)
        if {id(found) for found in _all()} <= {id(found) for found in before}:
            raise WdroError(f"{path} registers nothing and names no set or term.{_hint(path)}")
    return _new(sets, _sets()), _new(terms, _terms())


def broken_promises(sets: Collection[str], terms: Collection[str], d: int) -> list[str]:
    """Check sets and terms by name, and return the failed lines of each as one warning.

    They are tried on few vertices, or on d if they fit no others.
    """
    tried = {name: named_sets().get(name) or _example(name) for name in sets}
    reports = {name: _check_set(ball, d) for name, ball in tried.items() if ball.radius > 0.0}
    for name in terms:
        term = named_terms().get(name) or registered_terms()[name].example(1.0, D)
        reports[name] = _check_term(term, d)
    return [
        f"Warning: {name} does not pass its checks. The comparison goes on, but its verdicts on "
        f"{name} cannot be trusted.\n\n"
        + "\n".join(f"- {line.name}: {line.detail}" for line in report.results if not line.passed)
        for name, report in reports.items()
        if not report.passed
    ]


def _example(name: str) -> AmbiguitySet:
    return registered_ambiguities()[name].example(NAMED_RADIUS, D)


def _check_set(ball: AmbiguitySet, d: int) -> CheckReport:
    report = check_ambiguity(ball, instances=_INSTANCES)
    if report.failures != ("answers",):
        return report
    signals = np.random.default_rng(0).standard_normal((2 * d, d))
    return check_ambiguity(ball, Nominal.from_samples(signals), _INSTANCES)


def _check_term(term: Term, d: int) -> CheckReport:
    report = check_term(term, instances=_INSTANCES)
    return check_term(term, d, _INSTANCES) if report.failures == ("answers",) else report


def _sets() -> dict[str, object]:
    return {**registered_ambiguities(), **named_sets()}


def _terms() -> dict[str, object]:
    return {**registered_terms(), **named_terms()}


def _all() -> list[object]:
    methods = [*formulations.registered().values(), *solvers.registered().values()]
    return [*_sets().values(), *_terms().values(), *methods]


def _new(before: dict[str, object], now: dict[str, object]) -> tuple[str, ...]:
    """Return the names of what is new or has been replaced, as by a file that runs again."""
    return tuple(sorted(name for name, found in now.items() if before.get(name) is not found))


def _hint(path: str) -> str:
    """Name the classes of a file that its author may have meant to register."""
    module = f"extension:{Path(path).resolve()}"
    missing = [
        f"{kind.__name__} ({decorator})"
        for base, decorator in _DECORATORS.items()
        for kind in _subclasses(base)
        if kind.__module__ == module
    ]
    if not missing:
        return " Add a class with a decorator, or assign a set or a term to a name."
    return f" These classes lack their decorators: {', '.join(dict.fromkeys(missing))}."


def _subclasses(base: type) -> Iterator[type]:
    kind: type
    for kind in base.__subclasses__():
        yield kind
        yield from _subclasses(kind)
