"""``wdro learn``: from a table to a certified graph, and errors that help."""

import re
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import signal_tables

from experiments import cli
from experiments.drawing.graphs import nearby_outlines
from experiments.learn.command import DEFAULT_RADIUS
from experiments.learn.graph import LearnOptions, _prepared, held_out_score, in_shell, learn_graph
from experiments.learn.loading import Layout, SignalTable, load_signals
from experiments.learn.outputs import FILES
from experiments.learn.places import load_places
from experiments.learn.summary import preparation, summarise
from solvers import RobustGraph
from solvers.learned.communities import communities
from wdro_cvx import DataError, GaussianBall, GraphProblem, Nominal, ProblemError, judge

NAMES = ["Oslo", "Bergen", "Turku", "Malmö", "Åre", "Kiruna"]


@pytest.fixture
def signals():
    return np.round(signal_tables.signals(), 4)


@pytest.fixture
def table(signals, tmp_path):
    frame = pd.DataFrame(signals, columns=NAMES)
    frame.insert(0, "date", pd.date_range("2024-01-01", periods=20).strftime("%Y-%m-%d"))
    path = tmp_path / "signals.csv"
    frame.to_csv(path, index=False)
    return path


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# --- Loading -------------------------------------------------------------------------------------


def test_loads_names_numbers_and_ignores_dates(table, signals):
    found = load_signals(table)
    assert found.names == tuple(NAMES)
    assert found.ignored == ("date",)
    np.testing.assert_array_equal(found.signals, signals)


def test_a_table_is_copied_once_from_text_and_becomes_a_distribution_once(table, monkeypatch):
    made = []
    original = Nominal.from_samples

    def from_samples(samples, weights=None):
        made.append(original(samples, weights))
        return made[-1]

    monkeypatch.setattr(Nominal, "from_samples", from_samples)
    found = load_signals(table)
    assert np.shares_memory(found.signals, found.frame.to_numpy())
    graph = learn_graph(found, LearnOptions())
    assert len(made) == 1
    assert graph.problem.nominal is made[0]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_separators_and_encodings(tmp_path, separator, encoding, newline):
    lines = [separator.join(row) for row in (["Å", "b c"], ["1", "2.5"], ["-3e2", " 4 "])]
    path = written(tmp_path / "t.csv", newline.join([*lines, ""]).encode(encoding))
    found = load_signals(path)
    assert found.names == ("Å", "b c")
    np.testing.assert_array_equal(found.signals, [[1, 2.5], [-300, 4]])


@pytest.mark.parametrize(
    "dates", [("2024-01-01", "2024-01-08"), ("2024-01-01T00:00", "2025-02-03T01:00")]
)
def test_dates_are_known_by_their_form(tmp_path, dates):
    path = written(tmp_path / "t.csv", f"when,a,b\n{dates[0]},1,2\n{dates[1]},3,4\n")
    assert load_signals(path).ignored == ("when",)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("20/01/2024 00:00", "20/01/2024 01:00"),
        ("01/20/2024 12:00 AM", "01/20/2024 1:00 PM"),
        ("20-Jan-2024", "2-Feb-2024"),
        ("20 January 2024", "20 May 2024"),
        ("2024Q1", "2024 Q2"),
        ("Q1 2024", "Q2 2024"),
        ("Jan 01, 2024", "Feb 01, 2024"),
        ("2024/01/20 10:00:00", "2024/01/21 10:00:00"),
    ],
)
def test_dates_of_many_forms(tmp_path, first, second):
    path = written(tmp_path / "t.csv", f'when;a;b\n"{first}";1;2\n"{second}";3;4\n')
    found = load_signals(path)
    assert found.ignored == ("when",)
    assert found.left_out == "Columns that were left out: when (dates)."
    words = written(tmp_path / "u.csv", f'when;a;b\n"{first}";1;2\n"x{second}";3;4\n')
    with pytest.raises(DataError, match="column 'when'"):
        load_signals(words)


@pytest.mark.parametrize(
    ("name", "cells", "reason"),
    [
        ("time", "0.31 0.17 0.25 0.29", ""),
        ("period", "7 2 5 3", ""),
        ("period", "0 1 1 0", ""),  # before and after
        ("hour", "3.5 1.25 2 7", ""),
        ("day", "-3 12 5 6", ""),
        ("date", "0.1 0.2 0.3 0.5", ""),  # few rows that rise by chance
        ("time", "5 5 5 5", ""),
        ("a", "2000 2001 2002 2003", ""),
        ("Year", "2000 2000 1999 2001", "years"),
        ("month", "11 12 1 2", "months"),
        ("quarter", "3 4 1 2", "quarters"),
        ("week", "52 1 2 3", "weeks"),
        ("tag", "30 31 1 2", "days"),
        ("hour", "22 23 0 1", "hours"),
        ("monat", "01.2024 02.2024 03.2024 04.2024", "dates"),
        ("date", "20240131 20240301 20240201 20240101", "dates"),
        ("period", "202403 202402 202401 202404", "dates"),
        ("timestamp", "1700000000.5 1700000009.25 1700000001 1700000002", "times since 1970"),
        ("time", "1700000000000 1700000009000 1700000001000 NA", "times since 1970"),
        ("time", "3 4 4 9", "whole numbers that count"),
        ("period", "1 2 3 1", "whole numbers that count"),
        ("day", "Mon Tue Wed Thu", "text"),
        ("time", "NA NA NA NA", "no values"),
        ("time", " ".join(f"{i / 8}" for i in range(12)), "times that rise or fall"),
    ],
)
def test_a_column_of_numbers_is_left_out_only_if_its_values_are_times(
    tmp_path, name, cells, reason
):
    """A measured time is a vertex, whatever its name."""
    rows = [f"{i},{cell},{i * i}" for i, cell in enumerate(cells.split())]
    path = written(tmp_path / "t.csv", "\n".join([f"b,{name},c", *rows]))
    found = load_signals(path)
    assert found.names == (("b", "c") if reason else ("b", name, "c"))
    assert found.signals.shape == (len(rows), len(found.names))
    assert found.left_out.startswith(
        f"Columns that were left out: {name} ({reason}" if reason else ""
    )
    assert bool(found.left_out) == bool(reason)
    certain = reason in ("", "dates", "text", "no values")
    assert ("another name if it is a vertex" in found.left_out) == (not certain)


def test_years_and_months_are_known_by_name_and_others_on_request(tmp_path):
    path = written(tmp_path / "t.csv", "year,Month,a,b,c\n2000,1,1,2,3\n2000,2,3,4,5\n")
    assert load_signals(path).ignored == ("year", "Month")
    assert load_signals(path, Layout(ignore=("b",))).names == ("a", "c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("  \n ", "is empty"),
        ("a,b\n", "no rows"),
        ("a\n1\n2\n", "one column"),
        ("a,b\n1,2\n3\n", r"row 3 has 1 cell, the header 2"),
        ("a,b\n1,2\n3,4,5\n", r"row 3 has 3 cells"),
        ("a,b\n1,x\n3,4\n", r"'x' in row 2, column 'b'"),
        ("a,b\n1,inf\n3,4\n", r"'inf' in row 2, column 'b'"),
        ("a;b\n1;2,5\n3;4\n", r"Add to the command: --decimal ,$"),
        ("a,b\n=SUM(A1),2\n3,4\n", r"'=SUM\(A1\)' in row 2"),
        ("=cmd(),b\n1,2\n3,4\n", "looks like a spreadsheet formula"),
        ("a,a\n1,2\n3,4\n", "two columns 'a'"),
        ("a,,b\n1,2,3\n3,4,5\n", "column 2 has no name"),
        ("1,2\n3,4\n5,6\n", "must hold the vertex names"),
        ("date,a\n2024-01-01,1\n2024-01-02,2\n", "1 vertex column"),
        ("a,b\n1,2\n", "1 observation"),
        ("a,b\n1,\n,4\n5,6\n", r"2 missing values in 2 of 3 rows.*--missing pairs"),
        ("a,b\n1,\n2,NaN\n5,\n", "no value at all for b"),
        (b"a,b\n1,2\n3,\xe94\n", r"not UTF-8 \(byte 0xe9 in line 3\)"),
        (b"PK\x03\x04\0\0\0", "not a text file"),
        ("a\x07,b\n1,2\n3,4\n", "cannot be printed.*Rename the column"),
        ('"a\n(C)",b\n1,2\n3,4\n', "line break; rename the column"),
        ('b,"a\n(C)"\n1,2\n3,4\n', "such as a line break. Rename the column"),
        ("# mine\na,b\n1,2\n3,4\n", "row 1 begins with '#'. Remove comment lines"),
        ("# mine, of 2024\na,b,c\n1,2,3\n", "row 1 begins with '#'. Remove comment lines"),
        ("# mine, of 2024\na,b\n1,2\n", "If lines that begin with '#' are comments, remove"),
        ("a,b\n1,2\n# or\n3,4\n", "row 3 begins with '#'. Remove comment lines"),
        ("a b c\n1 2 3\n4 5 6\n", "columns separated by spaces"),
        ('[{"a": 1, "b": 2}, {"a": 3, "b": 4}]', "is a JSON file"),
        ('{\n "a": [1, 2]\n}', "is a JSON file"),
        ('a,b\n"1,2\n3,4\n', "cells"),
    ],
)
def test_bad_tables_are_named(tmp_path, text, message):
    path = written(tmp_path / "t.csv", text)
    with pytest.raises(DataError, match=message):
        load_signals(path, Layout(missing="error"))


def test_files_that_are_none(tmp_path):
    with pytest.raises(DataError, match="is not a file"):
        load_signals(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="is not a file"):
        load_signals(tmp_path)
    huge = tmp_path / "huge.csv"
    with huge.open("wb") as file:
        file.truncate(501 * 1024**2)
    with pytest.raises(DataError, match="501 MB"):
        load_signals(huge)


def test_one_enormous_cell_is_an_error(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1," + "9" * 200_000 + "\n1,2\n")
    with pytest.raises(DataError):
        load_signals(path)


def test_missing_values_are_dropped_or_interpolated(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,2\n,4\n3,6\n4,NA\n")
    dropped = load_signals(path, Layout(missing="drop"))
    np.testing.assert_array_equal(dropped.signals, [[1, 2], [3, 6]])
    assert "2 rows" in dropped.notes[0]
    filled = load_signals(path, Layout(missing="interpolate"))
    np.testing.assert_array_equal(filled.signals, [[1, 2], [2, 4], [3, 6], [4, 6]])
    assert "2 missing values" in filled.notes[0]


def test_places(tmp_path):
    path = written(tmp_path / "c.csv", "station,lat,lon\nB,10,20\nA,-5.5,30\nC,0,0\n")
    places = load_places(path, ["A", "B"])
    np.testing.assert_array_equal(places.latitude, [-5.5, 10])
    np.testing.assert_array_equal(places.longitude, [30, 20])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,lat\nA,1\n", "no 'lon'"),
        ("name,lat,lon\nA,1,2\n", "no coordinates for 1 of 2 vertices: B"),
        ("name,lat,lon\nA,1,2\nA,1,2\nB,1,1\n", "two rows for 'A'"),
        ("name,lat,lon\nA,1,2\nB,91,1\n", "beyond"),
        ("name,lat,lon\nA,1,x\nB,9,1\n", "'x' in row 2"),
        ("name,lat,lon\nA,1,\nB,9,1\n", "lacks a coordinate"),
    ],
)
def test_bad_places_are_named(tmp_path, text, message):
    path = written(tmp_path / "c.csv", text)
    with pytest.raises(DataError, match=message):
        load_places(path, ["A", "B"])


# --- Learning ------------------------------------------------------------------------------------


def test_preparations(signals):
    table = SignalTable(pd.DataFrame(signals + np.arange(6.0), columns=NAMES))
    np.testing.assert_array_equal(_prepared(table.frame, "raw"), table.signals)
    np.testing.assert_allclose(_prepared(table.frame, "centred").mean(axis=0), 0.0, atol=1e-12)
    even = learn_graph(table, LearnOptions(signals="standardised", moment="sample", edges="all"))
    scaled = (signals - signals.mean(axis=0)) / signals.std(axis=0)
    alone = RobustGraph(standardise=False, moment="sample", edges="all").fit(scaled)
    np.testing.assert_allclose(even.laplacian, alone.laplacian_, atol=1e-9)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize("ambiguity", ["gaussian", "moment", "singleton"])
def test_the_graph_does_not_depend_on_the_unit(signals, factor, ambiguity, cheap_choice):
    options = LearnOptions(ambiguity, signals="centred")  # standardised tables have one unit
    first = learn_graph(SignalTable(pd.DataFrame(signals, columns=NAMES)), options)
    second = learn_graph(SignalTable(pd.DataFrame(factor * signals, columns=NAMES)), options)
    assert first.solved
    assert second.radius == pytest.approx(first.radius)
    assert second.unit == pytest.approx(factor * first.unit)
    np.testing.assert_allclose(second.laplacian, first.laplacian, atol=5e-3)


@pytest.mark.filterwarnings("ignore::solvers.selection.tables.TableWarning")
@pytest.mark.parametrize("factor", [1.0, 1e4])
def test_command_and_estimator_give_one_answer(signals, factor, cheap_choice):
    graph = learn_graph(SignalTable(pd.DataFrame(factor * signals, columns=NAMES)), LearnOptions())
    alone = RobustGraph().fit(factor * signals)
    np.testing.assert_array_equal(graph.laplacian, alone.laplacian_)
    assert (graph.radius, graph.unit, graph.eta) == (alone.radius_, alone.unit_, alone.eta_)
    np.testing.assert_array_equal(graph.support, alone.support_)
    assert len(graph.notes) == len(alone.graph_.notes)
    assert alone.radius == DEFAULT_RADIUS


def test_the_graph_is_the_certified_optimum(signals):
    graph = learn_graph(
        SignalTable(pd.DataFrame(signals, columns=NAMES)),
        LearnOptions(radius=0.4, eta=0.2, signals="raw", prior="frobenius", moment="sample"),
    )
    nominal = Nominal.from_samples(signals / graph.unit)
    problem = GraphProblem(nominal, GaussianBall(0.4), 0.2)
    assert judge(problem, graph.laplacian, graph.solution.certificate).solved(1e-6)
    assert graph.adjacency.sum() == pytest.approx(6.0, rel=1e-3)


def test_isolated_vertices_and_communities():
    rng = np.random.default_rng(1)
    near = rng.standard_normal((30, 1)) + 0.05 * rng.standard_normal((30, 3))
    far = 40 * rng.standard_normal((30, 1))
    other = 20 + rng.standard_normal((30, 1)) + 0.05 * rng.standard_normal((30, 3))
    table = SignalTable(pd.DataFrame(np.hstack([near, far, other]), columns=list("abcxdef")))
    graph = learn_graph(table, LearnOptions(radius=0.01, eta=0.01))
    assert graph.isolated == ("x",)
    labels = dict(zip(graph.names, communities(graph.adjacency), strict=True))
    assert labels["a"] == labels["b"] == labels["c"] != labels["d"] == labels["e"] == labels["f"]
    network = graph.to_networkx()
    assert set(network) == set("abcxdef")
    assert network.degree["x"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ambiguity": "magic"}, "one of .*wasserstein.*it is 'magic'"),
        ({"ambiguity": "mahalanobis"}, "needs scales"),
        ({"ambiguity": "kl", "parameters": (("p", 1.0),)}, "no parameter 'p'; it has none"),
        ({"radius": "best"}, "auto, bootstrap, prediction; it is 'best'"),
        ({"eta": "best"}, "eta must be a number or 'auto'"),
        ({"block": 0}, "block"),
        ({"stability": -1}, "stability"),
        ({"radius": -1.0}, "radius"),
        ({"eta": 0.0}, "eta"),
        ({"signals": "clean"}, "auto, raw, centred, standardised"),
        ({"fdr": 0.1, "edges": "all"}, "edges='all' selects every edge"),
        ({"moment": "best"}, "moment must be one of"),
        ({"threshold": -1.0}, "threshold"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ProblemError, match=message):
        LearnOptions(**options)


def test_signals_that_tell_nothing(signals):
    same = np.repeat(signals[:, :1], 6, axis=1)
    rounded = same * (1 + 1e-14 * np.arange(6.0))
    for alike, how in ((same, "raw"), (rounded, "raw"), (rounded + np.arange(6.0), "centred")):
        table = SignalTable(pd.DataFrame(alike, columns=NAMES))
        with pytest.raises(DataError, match="nothing tells them apart"):
            learn_graph(table, LearnOptions(signals=how))
    signals[:, 2] = 7.0
    graph = learn_graph(SignalTable(pd.DataFrame(signals, columns=NAMES)), LearnOptions())
    assert any("'Turku' never changes" in note for note in graph.notes)
    assert "Turku" in graph.isolated


def test_the_held_out_score_is_of_rows_that_were_not_learned_from(table):
    found, options = load_signals(table), LearnOptions(radius=0.2)
    graph = learn_graph(found, options)
    score = held_out_score(found, options, graph)
    scores = []
    for rows in np.array_split(np.arange(len(found.frame)), 5):
        rest = found.frame.drop(index=found.frame.index[rows])
        again = RobustGraph(0.2, graph.eta, edges="all", tol=1e-4).fit(rest)
        scores.append(again.score(found.frame.iloc[rows]))
    assert score == pytest.approx(np.mean(scores), abs=1e-3)
    few = SignalTable(found.frame.iloc[:10])
    assert held_out_score(few, options, learn_graph(few, options)) == "there are fewer than 20 rows"
    wide = replace(graph, problem=SimpleNamespace(d=201))
    assert "more than 200 vertices" in held_out_score(found, options, wide)
    holes = found.frame.copy()
    holes.iloc[5:, 0] = holes.iloc[:4, 0] = np.nan
    holes.iloc[0, 0] = 0.0
    gone = held_out_score(SignalTable(holes), options, graph)
    assert gone.startswith("four fifths of the rows give no graph (")


def test_a_vertex_that_only_the_selection_leaves_out_is_not_called_isolated(signals):
    table = SignalTable(pd.DataFrame(signals, columns=NAMES))
    for options, without in (
        (LearnOptions(threshold=1e9), "a selected edge"),
        (LearnOptions(threshold=1e9, edges="all"), "an edge"),
    ):
        graph = learn_graph(table, options)
        summary = summarise(graph, np.arange(6.0), options, "t.csv", [])
        assert f"6, 6 without {without}" in summary.shown()
        assert f"Without {without}: Oslo, Bergen" in summary.shown()
        assert f"| vertices without {without} | Oslo, Bergen" in summary.markdown()
        assert "solated" not in summary.shown() + summary.markdown()


@pytest.mark.parametrize(
    ("options", "scale", "said"),
    [
        ({}, 1.0, "centred (auto), divided by"),
        ({}, 1000.0, "standardised (auto), divided by"),
        ({"moment": "clipped"}, 1.0, "centred (auto), outlying cells and rows clipped ("),
        ({"signals": "raw"}, 1.0, "raw, divided by"),
        ({"signals": "centred"}, 1.0, "centred, divided by"),
    ],
)
def test_the_summary_says_how_the_signals_were_prepared(signals, options, scale, said):
    signals = signals / signals.std(axis=0)
    signals[:, 0] *= scale
    options = LearnOptions(**options)
    graph = learn_graph(SignalTable(pd.DataFrame(signals, columns=NAMES)), options)
    assert preparation(graph, options).startswith(said)


# --- The command ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("score", "shown"), [(-0.004, 0.0), (-0.006, -0.006), (0.3, 0.3)])
def test_a_score_that_rounds_to_zero_has_no_sign(signals, monkeypatch, score, shown):
    monkeypatch.setattr("experiments.learn.graph.cross_val_score", lambda *_, **__: [score])
    table, options = SignalTable(pd.DataFrame(signals, columns=NAMES)), LearnOptions(radius=0.3)
    graph = learn_graph(table, options)
    assert str(held_out_score(table, options, graph)) == str(shown)


def test_command_writes_everything(table, tmp_path, capsys, monkeypatch, small_page, cheap_choice):
    monkeypatch.setattr("experiments.drawing.style._DPI", 20)
    places = "name,lat,lon\n" + "".join(f"{n},{60 + i},{10 + i}\n" for i, n in enumerate(NAMES))
    coordinates = written(tmp_path / "places.csv", places)
    output = tmp_path / "out"
    arguments = ["learn", str(table), "--coordinates", str(coordinates), "--output", str(output)]
    assert cli.main([*arguments, "--pdf"]) == 0
    said = capsys.readouterr()
    stages = [line.split()[0] for line in said.err.splitlines()]
    assert stages == [
        "reading", "20", "choosing", "solving", "selecting", "scoring", "drawing",
        "solving", "making"
    ]  # fmt: skip
    words = " ".join(said.out.split())
    for fact in (
        "vertices d 6, 1 without a selected edge", "observations N 20", "z-scores of the edges",
        "above shuffled tables (more than 2: structure)", "clearly shown",
        "selected edges have a q-value of at most 0.1",
        "the cut is where their joint evidence is largest",
        "signals standardised (auto), divided by",
        "from the data; at most a twentieth of a typical row's length", "certified gap",
        "Columns that were left out: date (dates).",
        f"Check the proof with: wdro verify {output / 'proof.json'}",
    ):  # fmt: skip
        assert fact in words
    assert said.out.splitlines()[-1] == f"open {output / 'graph.html'}"
    assert "|" not in said.out
    assert "#" not in said.out
    assert "\x1b" not in said.out + said.err
    summary = (output / "summary.md").read_text()
    assert "| observations N | 20 |" in summary
    assert f"\n    wdro verify {output / 'proof.json'}\n" in summary
    assert sorted(path.name for path in output.iterdir()) == sorted(FILES)
    with np.load(output / "laplacian.npz") as saved:
        laplacian, names = saved["laplacian"], saved["names"].tolist()
    assert names == NAMES
    edges = pd.read_csv(output / "edges.csv")
    network = nx.read_graphml(output / "graph.graphml")
    assert set(network) == set(NAMES)
    assert network.number_of_edges() == len(edges)
    groups = Counter(network.nodes[name]["community"] for name in NAMES)
    assert min(groups) == 1
    several = [members for members in groups.values() if members > 1]
    assert f"communities {len(several)}" in words
    numbers = re.findall(r"^\| (\d+) \|", summary, re.MULTILINE)
    assert numbers == [str(k + 1) for k in range(len(several))]
    assert len(edges) > 0
    columns = ["source", "target", "weight", "in_optimum"]
    for source, target, weight, proved in edges[columns].itertuples(index=False):
        assert network[source][target]["in_optimum"] == proved
        expected = -laplacian[names.index(source), names.index(target)]
        assert weight == pytest.approx(expected, rel=1e-8)
        assert network[source][target]["weight"] == pytest.approx(expected)
    assert edges["weight"].is_monotonic_decreasing

    before = (output / "edges.csv").read_bytes()
    assert cli.main(arguments) == 2
    assert "--force" in capsys.readouterr().err
    assert (output / "edges.csv").read_bytes() == before
    assert cli.main([*arguments, "--force", "--ambiguity", "singleton"]) == 0
    assert (output / "edges.csv").read_bytes() != before
    assert not (output / "graph.pdf").exists()  # it was of another graph


def test_output_never_overwrites_the_input(signals, tmp_path, capsys):
    path = tmp_path / "edges.csv"
    pd.DataFrame(signals, columns=NAMES).to_csv(path, index=False)
    before = path.read_bytes()
    assert cli.main(["learn", str(path), "--output", str(tmp_path), "--force"]) == 2
    assert "overwrite the input" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_errors_leave_no_results(tmp_path, capsys):
    path = written(tmp_path / "t.csv", "a,b\n1,x\n3,4\n")
    assert cli.main(["learn", str(path), "--output", str(tmp_path / "out")]) == 2
    assert "column 'b'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_outlines_cross_the_box():
    europe = nearby_outlines(np.array([45.0, 55.0]), np.array([0.0, 15.0]))
    states = nearby_outlines(np.array([35.0, 45.0]), np.array([-100.0, -80.0]))
    for shapes, longitude in ((europe, (-2, 17)), (states, (-102, -78))):
        for shape in shapes:
            assert shape.shape[1] == 2
            assert shape[:, 0].max() >= longitude[0]
            assert shape[:, 0].min() <= longitude[1]


@pytest.mark.parametrize("prior", ["frobenius", "log-degree"])
def test_about_so_many_neighbours(tmp_path, prior, unpainted, small_page, cheap_choice):
    table = tmp_path / "signals.csv"
    signals = signal_tables.signals(50, 12)
    pd.DataFrame(signals, columns=[f"v{i}" for i in range(12)]).to_csv(table, index=False)
    output = tmp_path / "out"
    options = ["--prior", prior, "--neighbours", "4", "--output", str(output)]
    assert cli.main(["learn", str(table), *options]) == 0
    edges = pd.read_csv(output / "edges.csv")
    assert 2 * len(edges) / 12 == pytest.approx(4.0, abs=2 * 2 / 12)  # two edges


def test_a_likelihood_graph_is_learned_and_proved(table, tmp_path, capsys):
    out = tmp_path / "out"
    assert (
        cli.main(
            ["learn", str(table), "--prior", "likelihood", "--radius", "0.2", "--out", str(out)]
        )
        == 0
    )
    assert cli.main(["verify", str(out / "proof.json")]) == 0
    assert "proved in exact arithmetic" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("edges='all' draws the optimal graph", "--edges all draws the optimal graph"),
        ("absolute=True joins both.", "--absolute joins both."),
        ("Use standardise=True.", "Use --signals standardised."),
        ("standardise=False with X - X.mean() may help.", "--signals centred may help."),
        ("fdr=0.1 or neighbours=3.0; give one.", "--fdr 0.1 or --neighbours 3.0; give one."),
        ("use X.replace(-999, np.nan).", "use --na -999."),
        ("Use prior='log-degree'.", "Use --prior log-degree."),
        ("so it gets no edge; drop it.", "so it gets no edge; leave it out (--ignore NAME)."),
        ("X.set_index('day'), or dropped rows", "X.set_index('day'), or dropped rows"),
        ("the radius is 0.3; eta must be a number", "the radius is 0.3; eta must be a number"),
    ],
)  # fmt: skip
def test_messages_of_the_estimator_name_options_of_the_command(said, shown):
    assert in_shell(said) == shown
