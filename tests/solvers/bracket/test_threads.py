"""Every solver class limits BLAS to one thread, a user's class too."""

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest
from instances import paper_problem
from threadpoolctl import threadpool_info, threadpool_limits

from solvers import Solver
from solvers.bracket.threads import right_threads
from wdro_cvx import AmbiguitySet, Singleton


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@dataclass(frozen=True)
class Looking(Solver):
    """Returns the numbers of threads that it sees."""

    claims = (AmbiguitySet,)

    tol: float = 1e-6

    def solve(self, problem, start=None):
        """Look."""
        return blas_threads(), start


@dataclass(frozen=True)
class Inheriting(Looking):
    """Writes no ``solve`` of its own."""


@pytest.mark.parametrize("solver", [Looking, Inheriting])
def test_solve_runs_on_one_thread_and_gives_the_others_back(solver, monkeypatch):
    problem = paper_problem(4, 5, Singleton())
    with right_threads(4), threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert solver().solve(problem, start="here") == ([1] * len(before), "here")
        assert blas_threads() == before
        monkeypatch.setattr("solvers.bracket.threads.ONE_THREAD_UP_TO", 3)
        assert solver().solve(problem) == (before, None)
    assert solver.solve.__doc__ == "Look."


def test_a_library_that_is_loaded_late_is_held_to_one_thread_too():
    code = """if True:
        from solvers.bracket.threads import right_threads
        from threadpoolctl import threadpool_info
        with right_threads(3):
            import scipy.linalg
            print({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
    """
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "{1}"
