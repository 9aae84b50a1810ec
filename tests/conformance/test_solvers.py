"""Every registered solver with every set and prior that it claims."""

import pytest
from conformance import SOLVERS

from solvers import registered
from wdro_cvx import check_solver

#: Where the worst case is not unique block descent goes on to its limit, which is 500 otherwise.
SETTINGS = {"BlockDescent": {"max_iterations": 50}}


@pytest.mark.parametrize("name", SOLVERS)
def test_it_solves_what_it_claims(name):
    report = check_solver(registered()[name](**SETTINGS.get(name, {})))
    assert report.passed, str(report)
