"""Which of the transport algorithms goes first."""

import numpy as np

from solvers.bracket.incumbent import Incumbent
from solvers.transport import solve as transport
from wdro_cvx import GraphProblem, Nominal, WassersteinBall
from wdro_cvx.graphs.laplacian import complete_graph


def tried(monkeypatch, laplacian):
    """Return what was run, and whether ADMM was on trial."""
    d, calls = len(laplacian), []

    def admm(incumbent, form, limit, on_trial=False):
        calls.append(("admm", on_trial))

    monkeypatch.setattr(transport, "run_admm", admm)
    monkeypatch.setattr(transport, "follow_path", lambda *_: calls.append(("path", False)))
    samples = np.random.default_rng(0).standard_normal((3, d))
    problem = GraphProblem(Nominal.from_samples(samples), WassersteinBall(1.0), 0.3)
    incumbent = Incumbent(problem)
    incumbent.laplacian = laplacian
    transport.solve_transport(incumbent, 100)
    return calls


def test_admm_is_on_trial_only_where_the_interior_point_can_take_over(monkeypatch):
    d = 80  # 3160 pairs, more than the interior point takes
    dense = complete_graph(d, float(d))
    path = np.diag(np.r_[1.0, np.full(d - 2, 2.0), 1.0]) - np.eye(d, k=1) - np.eye(d, k=-1)
    assert tried(monkeypatch, dense)[0] == ("admm", False)
    assert tried(monkeypatch, path) == [("admm", True), ("path", False), ("admm", False)]


def test_few_pairs_go_to_the_interior_point(monkeypatch):
    assert tried(monkeypatch, complete_graph(10, 10.0))[0] == ("path", False)
