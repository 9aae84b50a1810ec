"""Which cases of a test with several parameters ``make test`` tries."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import pytest


def values_of(case: pytest.Function) -> Iterator[Hashable]:
    """Yield the value of every ``parametrize`` in a case; one that sets several names is one."""
    for mark in case.iter_markers("parametrize"):
        names = mark.args[0]
        names = names.split(",") if isinstance(names, str) else names
        yield tuple((name.strip(), id(case.callspec.params[name.strip()])) for name in names)


def covering(cases: Sequence[set[Hashable]]) -> set[int]:
    """Return the numbers of few cases in which every value of every parameter occurs.

    The next one is always the first of those with the most values that have not occurred yet.
    """
    missing: set[Hashable] = set().union(*cases)
    kept = set()
    while missing:
        chosen = max(range(len(cases)), key=lambda number: len(cases[number] & missing))
        missing -= cases[chosen]
        kept.add(chosen)
    return kept
