"""What takes most of the time of a small run, for tests that look at something else."""

import pytest


@pytest.fixture
def unpainted(monkeypatch):
    """Figures are made and not painted."""

    def blank(figure, file, **options):
        file.write(b"not painted")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", blank)


@pytest.fixture
def small_page(monkeypatch):
    """Nine graphs on the page of a learned graph, not eighty."""
    monkeypatch.setattr("experiments.learn.path._GRIDS", ((500, 3, 3),))
