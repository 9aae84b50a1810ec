"""Select the cases that ``make test`` runs of a test with several parameters."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import pytest


def values_of(case: pytest.Function) -> Iterator[Hashable]:
    """Yield one value per ``parametrize`` of a case, even if it sets several names."""
    for mark in case.iter_markers("parametrize"):
        names = mark.args[0]
        names = names.split(",") if isinstance(names, str) else names
        yield tuple((name.strip(), id(case.callspec.params[name.strip()])) for name in names)


def covering(cases: Sequence[set[Hashable]]) -> set[int]:
    """Return the indices of a few cases that cover every value of every parameter.

    The selection is greedy: it takes the first case with the most values not yet covered.
    """
    missing: set[Hashable] = set().union(*cases)
    kept = set()
    while missing:
        chosen = max(range(len(cases)), key=lambda number: len(cases[number] & missing))
        missing -= cases[chosen]
        kept.add(chosen)
    return kept
