"""Every registered solver with every set and prior that it claims."""

from dataclasses import dataclass, replace

import pytest
from conformance import SOLVERS

from solvers import PrintedDescent, PrintedGradient, Solver, registered
from wdro_cvx import Status, check_solver, judge

#: Where the worst case is not unique projected gradient goes on to its limits, and says so.
SETTINGS = {
    "BlockDescent": {"max_iterations": 20},
    "ProjectedGradient": {"max_iterations": 300},
    "PrintedGradient": {"tol": 3e-4},
    "PrintedDescent": {"tol": 1e-3},
}


@dataclass(frozen=True)
class Confirmed:
    """A solver whose stopping rule proves nothing, with the judge's word for its status."""

    solver: Solver
    tol: float = 1e-3  # a gap; that of the solver is the length of a step

    @property
    def claims(self):
        return self.solver.claims

    def check_claim(self, problem):
        self.solver.check_claim(problem)

    def solve(self, problem):
        answer = self.solver.solve(problem)
        assert answer.status is not Status.SOLVED
        if answer.status is Status.INACCURATE and judge(problem, answer).solved(self.tol):
            return replace(answer, status=Status.SOLVED)
        return answer


#: These take long at any size, and have tests of their own in tests/solvers/paper and .../large.
SLOW = {"PrintedDescent", "PrintedGradient", "SparseSolver"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in SOLVERS],
)
def test_it_solves_what_it_claims(name):
    solver = registered()[name](**SETTINGS.get(name, {}))
    if isinstance(solver, PrintedGradient | PrintedDescent):
        solver = Confirmed(solver)
    report = check_solver(solver)
    assert report.passed, str(report)
