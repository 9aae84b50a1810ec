"""Every registered formulation with every set that it claims, under every prior."""

import pytest
from conformance import FORMULATIONS, SETS, named_set

from formulations import registered
from wdro_cvx import check_formulation


@pytest.mark.parametrize(("form", "name"), FORMULATIONS)
def test_it_solves_what_it_claims(form, name):
    report = check_formulation(registered()[form], named_set(name, 0.5))
    assert report.passed, str(report)


def test_every_shipped_set_has_a_formulation():
    """So that no set's values come from one route alone."""
    assert {name for _, name in FORMULATIONS} >= set(SETS)
