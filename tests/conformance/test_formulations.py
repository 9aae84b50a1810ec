"""Every registered formulation with every set that it claims, under every prior."""

from itertools import groupby

import pytest
from conformance import FORMULATIONS, SETS, named_set

from formulations import registered
from wdro_cvx import check_formulation

#: The first set of each formulation. Others of ours have their tests in tests/formulations.
FIRST = {next(pairs) for _, pairs in groupby(FORMULATIONS, key=lambda pair: pair[0])}


def case(form, name):
    ours = registered()[form].__module__.startswith("formulations.")
    slow = ours and (form, name) not in FIRST
    return pytest.param(form, name, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize(("form", "name"), [case(*pair) for pair in FORMULATIONS])
def test_it_solves_what_it_claims(form, name):
    report = check_formulation(registered()[form], named_set(name, 0.5))
    assert report.passed, str(report)


def test_every_shipped_set_has_a_formulation():
    """So that no set's values come from one route alone."""
    assert {name for _, name in FORMULATIONS} >= set(SETS)
