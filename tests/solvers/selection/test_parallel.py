"""The number of processes changes the time of a choice, never the choice."""

import joblib
import numpy as np
import pytest
from signal_tables import signals
from sklearn.exceptions import ConvergenceWarning

from solvers import RobustGraph
from solvers.selection.parallel import in_processes
from wdro_cvx import ProblemError


@pytest.mark.filterwarnings("ignore::UserWarning")  # the choice is at the end of its candidates
@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_two_processes_choose_what_one_does(backend, cheap_choice):
    table = signals(12, 4)
    table[0] *= 10.0  # heavy tails, so that the bootstrap takes both of its ways
    for radius in ("prediction", "bootstrap"):
        settings = {"radius": radius, "moment": "sample", "prior": "frobenius"}
        with joblib.parallel_config(backend=backend):
            one, two = (RobustGraph(**settings, n_jobs=jobs).fit(table) for jobs in (1, 2))
            shares = [graph.stability(table, 4) for graph in (one, two)]
        assert one.radius_ == two.radius_
        np.testing.assert_array_equal(one.laplacian_, two.laplacian_)
        np.testing.assert_array_equal(*shares)


def test_a_single_process_makes_each_call_when_it_is_asked_for():
    made = []
    found = in_processes(lambda number: made.append(number) or number, ((k,) for k in range(9)), 1)
    assert next(found) == 0
    assert len(made) < 9


@pytest.mark.parametrize("jobs", [0, 1.5, "all"])
def test_bad_numbers_of_processes_are_named(jobs):
    with pytest.raises(ProblemError, match="n_jobs must be a number of processes, or -1"):
        RobustGraph(n_jobs=jobs).fit(signals())


@pytest.mark.filterwarnings("ignore:The solver stopped")
def test_the_search_for_neighbours_ends_at_the_time_limit():
    table = signals(30, 12)
    with pytest.warns(ConvergenceWarning, match=r"neighbours=3 stopped after 1e-06 s.*on average"):
        graph = RobustGraph(neighbours=3, time_limit=1e-6).fit(table)
    assert graph.laplacian_.shape == (12, 12)
    assert graph.bound_ <= graph.value_
