"""Every registered solver with every set and prior that it claims."""

import pytest
from conformance import SOLVERS

from solvers import registered
from wdro_cvx import check_solver

#: Where the worst case is not unique the paper's algorithms go on to their limits, and say so.
SETTINGS = {
    "BlockDescent": {"max_iterations": 20},
    "ProjectedGradient": {"max_iterations": 1000},
}


@pytest.mark.parametrize("name", SOLVERS)
def test_it_solves_what_it_claims(name):
    report = check_solver(registered()[name](**SETTINGS.get(name, {})))
    assert report.passed, str(report)
