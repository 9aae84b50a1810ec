"""Fixtures that save most of the time of a small run, for tests of something else."""

import pytest

from experiments.measuring import isolated
from experiments.measuring.server import server_with

#: The modules with trials; a command has a server for its own.
TRIALS = (
    "experiments.measuring.measurement", "experiments.propositions.trial",
    "experiments.figures.trials", "experiments.stress.grid", "experiments.bench.scale_trial",
    "experiments.studies.explain.trial", "experiments.studies.shift.trial",
    "experiments.studies.validate.trials", "experiments.studies.edges.trial", "trials",
)  # fmt: skip


@pytest.fixture(autouse=True)
def one_server(monkeypatch):
    """One server for the trials of all commands: each would load the libraries again."""

    def server(module):
        return server_with(*TRIALS) if module in TRIALS else server_with(module)

    monkeypatch.setattr(isolated, "server_with", server)


@pytest.fixture
def unpainted(monkeypatch):
    """Figures are made and not painted."""

    def blank(figure, file, **options):
        file.write(b"not painted")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", blank)


@pytest.fixture
def small_page(monkeypatch):
    """Nine graphs on the page of a learned graph, not eighty."""
    monkeypatch.setattr("solvers.learned.grid._GRIDS", ((500, 3, 3),))
