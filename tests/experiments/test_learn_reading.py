"""``wdro learn`` reads what people have: spreadsheets, commas, dates, codes, rows as vertices."""

import tempfile
import tracemalloc
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import pytest
import signal_tables
from hypothesis import given
from hypothesis import strategies as st

from experiments import cli
from experiments.learn.graph import LearnOptions, learn_graph
from experiments.learn.loading import Layout, SignalTable, load_signals
from experiments.learn.places import load_places
from experiments.learn.reading import _first_line
from experiments.learn.run import FILES
from experiments.learn.summary import listed
from solvers import RobustGraph
from solvers.learned.labels import fonts_for, place_labels
from solvers.selection.tables import describe_moved
from wdro_cvx import DataError, MomentBall, ProblemError

NAMES = ["Oslo", "Bergen", "Turku", "Malmö", "Åre", "Kiruna"]


@pytest.fixture
def signals():
    return np.round(signal_tables.signals(), 4)


@pytest.fixture
def frame(signals):
    return pd.DataFrame(signals, columns=NAMES)


@pytest.fixture(autouse=True)
def quick(monkeypatch, small_page):
    monkeypatch.setattr("experiments.drawing.style._DPI", 20)


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_the_unnamed_index_of_pandas_is_no_vertex(frame, tmp_path, signals):
    path = tmp_path / "t.csv"
    frame.to_csv(path)
    found = load_signals(path)
    assert found.names == tuple(NAMES)
    np.testing.assert_array_equal(found.signals, signals)
    pd.read_csv(path).to_csv(path, index=False)  # read and written again: "Unnamed: 0"
    assert load_signals(path).names == tuple(NAMES)


@pytest.mark.parametrize("suffix", ["parquet", "xlsx"])
def test_parquet_and_excel(frame, tmp_path, signals, suffix):
    dated = frame.assign(date=pd.date_range("2024-01-01", periods=20))
    dated.iloc[3, 2] = np.nan
    path = tmp_path / f"t.{suffix}"
    dated.to_parquet(path) if suffix == "parquet" else dated.to_excel(path, index=False)
    found = load_signals(path)
    assert found.names == tuple(NAMES)
    assert found.ignored == ("date",)
    signals[3, 2] = np.nan
    np.testing.assert_array_equal(found.signals, signals)


@pytest.mark.parametrize("suffix", ["parquet", "xlsx"])
def test_spreadsheets_that_are_none(tmp_path, suffix, monkeypatch):
    path = written(tmp_path / f"t.{suffix}", b"nonsense")
    kind = "Parquet" if suffix == "parquet" else "Excel"
    with pytest.raises(DataError, match=f"is not a readable {kind} file"):
        load_signals(path)

    def missing(*_, **__):
        raise ImportError

    monkeypatch.setattr("pandas.read_parquet", missing)
    monkeypatch.setattr("pandas.read_excel", missing)
    with pytest.raises(DataError, match="with the extra tables"):
        load_signals(path)


@pytest.mark.parametrize("text", ["a;b\n1,5;-2\n3e1;,25\n", 'a,b\n"1,5","-2"\n"3e1",",25"\n'])
def test_decimal_commas(tmp_path, text):
    path = written(tmp_path / "t.csv", text)
    np.testing.assert_array_equal(load_signals(path, Layout(decimal=",")).signals,
                                  [[1.5, -2], [30, 0.25]])  # fmt: skip
    with pytest.raises(DataError, match=r"Add to the command: --decimal ,$"):
        load_signals(path)
    points = written(tmp_path / "p.csv", "a;b\n1.5;2\n3;4\n")
    with pytest.raises(DataError, match=r"'1.5' in row 2, column 'a'"):
        load_signals(points, Layout(decimal=","))


@pytest.mark.parametrize(
    "dates", [("31.12.2023", "01.01.2024"), ("1.2.2024 13:00", "2.2.2024 14:00"), ("31/12/23", "")]
)
def test_german_dates(tmp_path, dates):
    path = written(tmp_path / "t.csv", f"wann;a;b\n{dates[0]};1;2\n{dates[1]};3;4\n")
    if dates[1]:
        assert load_signals(path).ignored == ("wann",)
    else:
        with pytest.raises(DataError, match="31/12/23"):
            load_signals(path)


def test_codes_for_missing_values_mean_their_value(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,-9999\n2,-9999.0\n3,4\nx,5\n")
    found = load_signals(path, Layout(na=("-9999", "x")))
    np.testing.assert_array_equal(found.signals, [[1, np.nan], [2, np.nan], [3, 4], [np.nan, 5]])
    assert found.notes == ("3 missing values in 3 of 4 rows.",)


def test_rows_as_vertices(tmp_path, frame, signals):
    path = tmp_path / "t.csv"
    frame.T.to_csv(path)
    found = load_signals(path, Layout(vertices="rows", ignore=("Turku",)))
    assert found.names == ("Oslo", "Bergen", "Malmö", "Åre", "Kiruna")
    assert found.ignored == ("Turku",)
    np.testing.assert_array_equal(found.signals, np.delete(signals, 2, axis=1))
    with pytest.raises(DataError, match="no row 'Rome' to ignore"):
        load_signals(path, Layout(vertices="rows", ignore=("Rome",)))
    twice = written(tmp_path / "u.csv", "name,x,y\na,1,2\na,3,4\n")
    with pytest.raises(DataError, match="two rows 'a'"):
        load_signals(twice, Layout(vertices="rows"))


def test_a_column_of_names_brings_the_hint(tmp_path):
    path = written(tmp_path / "t.csv", "city,jan,feb\nOslo,1,2\nRome,3,4\n")
    with pytest.raises(DataError, match=r"--ignore city \(if every row is a vertex .* rows\)$"):
        load_signals(path)
    path = written(tmp_path / "u.csv", "city,jan,feb,mar\nOslo,1,2,3\nOslo,3,4,6\n")
    with pytest.raises(DataError, match=r"--ignore city$"):  # no names of rows
        load_signals(path)


def test_one_command_mends_a_survey(tmp_path):
    """Decimal commas, columns of text and a word for missing values, all told at once."""
    text = "Stadt;a;b;Mein Text\nBonn;1,5;2;gut\nBonn;1,7;2,5;\nKiel;1,9;k.A.;na ja\nKiel;2;3;so\n"
    path = written(tmp_path / "t.csv", text)
    with pytest.raises(DataError) as refused:
        load_signals(path)
    said = str(refused.value)
    assert "12 cells that are not" in said
    assert "'Bonn' in row 2, column 'Stadt' (3 more); '1,5' in row 2, column 'a' (2 more);" in said
    command = "--decimal , --na k.A. --ignore Stadt --ignore 'Mein Text'"
    assert f"Add to the command: {command} (--na reads" in said
    layout = Layout(ignore=("Stadt", "Mein Text"), decimal=",", na=("k.A.",))
    found = load_signals(path, layout)
    np.testing.assert_array_equal(found.signals, [[1.5, 2], [1.7, 2.5], [1.9, np.nan], [2, 3]])
    assert found.left_out == "Columns that were left out: Stadt (--ignore), Mein Text (--ignore)."


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Stadt,My Text", "Repeat --ignore for every name: --ignore Stadt --ignore 'My Text'"),
        ("stadt", "Did you mean 'Stadt'"),
        ("Stat", "Did you mean 'Stadt'"),
        ("height", r"to ignore. It has: Stadt, My Text, a, b"),
    ],
)
def test_a_name_to_ignore_that_is_not_there(tmp_path, asked, said):
    path = written(tmp_path / "t.csv", "Stadt;My Text;a;b\nx;y;1;2\nz;z;3;4\n")
    with pytest.raises(DataError, match=said):
        load_signals(path, Layout(ignore=(asked,)))


def test_infinite_cells_may_be_missing(tmp_path):
    path = written(tmp_path / "t.csv", "a,b,c\n1,inf,2\n3,-inf,4\n5,6,9\n6,7,1\n")
    with pytest.raises(DataError, match="Add to the command: --na=-inf --na inf"):
        load_signals(path)
    found = load_signals(path, Layout(na=("-inf", "inf")))
    assert found.notes == ("2 missing values in 2 of 4 rows.",)


def test_true_and_false_are_one_and_zero(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,True\n2,false\n3,\n5,TRUE\n")
    np.testing.assert_array_equal(load_signals(path).signals[:, 1], [1, 0, np.nan, 1])
    mixed = written(tmp_path / "u.csv", "a,b\n1,True\n2,7\n3,8\n")
    with pytest.raises(DataError, match=r"1 cell that .* 'True' in row 2, column 'b'"):
        load_signals(mixed)


def test_the_index_of_a_transposed_table_brings_the_hint(frame, tmp_path, capsys, unpainted):
    """What pandas writes of a transposed table can be learned as it is; only the words tell."""
    path = tmp_path / "t.csv"
    frame.T.to_csv(path)
    assert cli.main(["learn", str(path), "--radius", "0.1", "--output", str(tmp_path / "o")]) == 0
    assert f"it has words: {', '.join(NAMES[:3])}, …. If these are" in capsys.readouterr().out
    frame.to_csv(path)  # numbers
    assert load_signals(path).notes == ()
    frame.set_index(pd.date_range("2024-01-01", periods=len(frame))).to_csv(path)
    assert load_signals(path).notes == ()


def test_a_number_that_may_be_a_gap_brings_the_hint(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,-9999\n-9999,2\n3,4\n5,6\n")
    assert "-9999 is there 2 times" in load_signals(path).notes[0]
    assert not any("-9999" in note for note in load_signals(path, Layout(na=("-9999",))).notes)
    once = written(tmp_path / "u.csv", "a,b\n1,-9999\n3,4\n")
    assert load_signals(once).notes == ()


@pytest.mark.parametrize("cell", ["€2,053,840.40", "2,053.40", "12.5%", "-6.885,18 €", "$5"])
def test_dressed_numbers_bring_the_hint(tmp_path, cell):
    path = written(tmp_path / "t.csv", f'a;b\n1;"{cell}"\n3;4\n')
    with pytest.raises(DataError, match="Write numbers plainly"):
        load_signals(path)


@pytest.mark.filterwarnings("ignore::solvers.selection.tables.TableWarning")
@pytest.mark.parametrize("share", [0.0, 0.05])
def test_one_file_has_one_answer(frame, tmp_path, share, unpainted, cheap_choice):
    """From the shell, and with pandas and RobustGraph."""
    path, output = tmp_path / "t.csv", tmp_path / "out"
    frame.mask(np.random.default_rng(0).random(frame.shape) < share).to_csv(path)
    assert cli.main(["learn", str(path), "--output", str(output)]) == 0
    alone = RobustGraph().fit(pd.read_csv(path, index_col=0))
    written_edges, edges = pd.read_csv(output / "edges.csv"), alone.edges_
    assert len(edges)
    assert list(written_edges["source"]) == list(edges["source"])
    assert list(written_edges["target"]) == list(edges["target"])
    np.testing.assert_allclose(written_edges["weight"], edges["weight"], rtol=1e-9)
    assert list(written_edges["in_optimum"]) == list(edges["in_optimum"])
    np.testing.assert_allclose(written_edges["z_score"], edges["z_score"], rtol=1e-9)


def test_places_in_a_plane(tmp_path):
    path = written(tmp_path / "c.csv", "name,x,y\nB,1000,20\nA,-5.5,3000\n")
    places = load_places(path, ["A", "B"])
    assert not places.degrees
    np.testing.assert_array_equal(places.arrays, [[3000, 20], [-5.5, 1000]])


def test_a_table_with_holes_is_learned_and_says_so(frame, tmp_path, capsys, unpainted):
    frame = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.1)
    path, output = tmp_path / "t.csv", tmp_path / "out"
    frame.to_csv(path, index=False)
    assert cli.main(["learn", str(path), "--output", str(output)]) == 0
    text = capsys.readouterr().out
    assert "missing values in" in text
    assert "pairwise estimates did not fit together and were changed by" in text
    assert cli.main(["learn", str(path), "--output", str(output), "--missing", "error"]) == 2


@pytest.mark.parametrize("how", ["auto", "centred"])
def test_a_code_is_said_once(frame, tmp_path, capsys, unpainted, small_page, how):
    """Whether the estimator sees it, or only the reader since the columns were centred."""
    frame.iloc[:8, 0] = -999.0
    path, output = tmp_path / "t.csv", tmp_path / "out"
    frame.to_csv(path, index=False)
    arguments = ["learn", str(path), "--output", str(output), "--radius", "0.1"]
    assert cli.main([*arguments, "--signals", how]) == 0
    said = "-999 is there 8 times and was read as a number; if it stands for a missing value, use "
    text = capsys.readouterr().out
    assert text.count(said + "--na -999.") == 1
    assert text.count("-999 is there") == 1
    assert ("Warning: -999" in text) == (how == "auto")


def test_estimates_that_nearly_fit_together_are_not_mentioned():
    assert describe_moved(0.0) == describe_moved(0.004) == []
    assert "were changed by 1.6%" in describe_moved(0.016)[0]


def test_one_is_no_plural(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,\n2,3\n3,5\n")
    assert load_signals(path).notes == ("1 missing value in 1 of 3 rows.",)


def test_several_tables_each_in_its_folder(frame, tmp_path, capsys, unpainted):
    paths = [tmp_path / name for name in ("one.csv", "two.csv")]
    for path in paths:
        frame.to_csv(path, index=False)
    arguments = ["learn", *map(str, paths), "--radius", "0.3", "--output", str(tmp_path / "out")]
    assert cli.main(arguments) == 0
    for name in ("one", "two"):
        assert {path.name for path in (tmp_path / "out" / name).iterdir()} == set(FILES) - {
            "graph.pdf"
        }
    absent, never = tmp_path / "absent.csv", tmp_path / "never"
    assert cli.main(["learn", str(paths[0]), str(absent), "--output", str(never)]) == 2
    assert "absent.csv is not a file" in capsys.readouterr().err
    assert not never.exists()  # not even the table that is there was learned
    same = tmp_path / "below" / "one.csv"
    same.parent.mkdir()
    frame.to_csv(same, index=False)
    assert cli.main(["learn", str(paths[0]), str(same)]) == 2
    assert "same name" in capsys.readouterr().err


@pytest.mark.slow
def test_every_set_by_name_with_its_parameters(signals, tmp_path, frame, capsys, unpainted):
    table = SignalTable(pd.DataFrame(signals, columns=NAMES))
    graph = learn_graph(table, LearnOptions("moment", (("p", 1.0),), radius=0.2))
    assert graph.problem.ambiguity == MomentBall(0.2, p=1.0)
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    for number, arguments in enumerate(
        (["kl"], ["chi-square"], ["singleton"], ["mahalanobis", "scales=1,1,2,1,1,3"],
         ["moment-uncertainty", "mean_radius=0.5", "covariance_radius=1"])
    ):  # fmt: skip
        name, *parameters = arguments
        options = [part for pair in parameters for part in ("--parameter", pair)]
        line = ["learn", str(path), "--ambiguity", name, *options]
        assert cli.main([*line, "--output", str(tmp_path / str(number))]) == 0
    assert cli.main(["learn", str(path), "--parameter", "p"]) == 2
    assert "NAME=NUMBER" in capsys.readouterr().err


def test_stability_is_a_column_of_the_edges(signals):
    graph = learn_graph(
        SignalTable(pd.DataFrame(signals, columns=NAMES)), LearnOptions(radius=0.3, stability=4)
    )
    assert set(graph.edges.columns) == {
        "source", "target", "weight", "z_score", "q_value", "stability", "in_optimum",
    }  # fmt: skip
    assert set(graph.edges["stability"]) <= {0.0, 0.25, 0.5, 0.75, 1.0}
    with pytest.raises(ProblemError, match="stability"):
        LearnOptions(stability=-1)
    long = LearnOptions(radius=0.3, stability=4, block=100_000)  # was a table of 4e5 × 1e5
    with pytest.raises(ProblemError, match="block must be at most half"):
        learn_graph(SignalTable(pd.DataFrame(signals, columns=NAMES)), long)


def test_a_choice_at_the_end_of_its_candidates_is_in_the_summary(
    frame, tmp_path, capsys, unpainted, monkeypatch
):
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    monkeypatch.setattr("solvers.selection.radius.PREDICTION_RADII", (0.0, 0.1))
    arguments = ["learn", str(path), "--radius", "prediction", "--prior", "frobenius"]
    assert cli.main([*arguments, "--output", str(tmp_path / "out")]) == 0
    assert "is the largest of 2 candidates" in capsys.readouterr().out


@pytest.mark.slow
def test_wide_tables_are_read_and_learned(tmp_path):
    """More vertices than are drawn one by one: communities are drawn, the edges are written."""
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((12, 3)) @ rng.standard_normal((3, 2100))
    wide += 0.1 * rng.standard_normal(wide.shape)
    path, output = tmp_path / "wide.csv", tmp_path / "out"
    pd.DataFrame(wide, columns=[f"v{i}" for i in range(2100)]).to_csv(path, index=False)
    assert cli.main(["learn", str(path), "--radius", "0", "--output", str(output)]) == 0
    with np.load(output / "laplacian.npz") as saved:
        assert set(saved) == {"names", "heads", "tails", "weights"}
        assert saved["weights"].sum() == pytest.approx(1050.0, rel=1e-6)
    edges = pd.read_csv(output / "edges.csv")
    assert edges["weight"].is_monotonic_decreasing


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as leaving:
        cli.main(["--version"])
    assert leaving.value.code == 0
    assert capsys.readouterr().out.startswith("wdro-cvx 0.")


def test_names_do_not_cover_each_other():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    points = np.random.default_rng(0).random((80, 2))
    axes.set(xlim=(0, 1), ylim=(0, 1))
    place_labels(axes, [f"vertex {i}" for i in range(80)], points, np.arange(80.0), 7.0)
    boxes = [text.get_window_extent() for text in axes.texts]
    assert 20 < len(boxes) < 80
    # The most important are written first, where other points leave them room.
    assert int(axes.texts[0].get_text().split()[1]) > 70
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
    plt.close(figure)


def test_fonts_are_looked_for_only_where_letters_are_missing():
    assert fonts_for(["Oslo", "Åre", "Ελλάς", "Москва"]) == ["DejaVu Sans"]
    assert fonts_for(["\U0010fffd"])[0] == "DejaVu Sans"  # nobody has that one


@given(st.integers(1, 9), st.binary(max_size=40))
def test_a_text_is_looked_at_in_pieces_of_any_size(piece, middle):
    """What is no text is found, and in which line, wherever the pieces are cut."""
    raw = b"\xef\xbb\xbf\n \na;b\n1;\xc3\xa9" + middle + b"\n2;3\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(raw)
        with mock.patch("experiments.learn.reading._PIECE", piece):
            if b"\0" in raw:
                with pytest.raises(DataError, match=r"not a text file|not UTF-8"):
                    _first_line(path)
                return
            try:
                raw.decode()
            except UnicodeDecodeError as error:
                line = raw[: error.start].count(b"\n") + 1
                with pytest.raises(DataError, match=rf"0x{raw[error.start]:02x} in line {line}\)"):
                    _first_line(path)
                return
            assert _first_line(path) == "a;b"


def test_a_summary_lists_some_of_very_many_names():
    names = [f"gene_{i}" for i in range(500)]
    assert listed(names[:2]) == r"gene\_0, gene\_1"
    assert listed(names).endswith(r"gene\_199, … (500 in all)")


def test_a_wide_table_takes_little_more_memory_than_its_numbers(tmp_path):
    d, n = 3000, 60
    values = np.random.default_rng(0).standard_normal((n, d))
    path = tmp_path / "wide.csv"
    rows = [",".join(map(repr, row)) for row in values.tolist()]
    path.write_text("\n".join([",".join(f"v{i}" for i in range(d)), *rows]))
    del rows
    tracemalloc.start()
    try:
        table = load_signals(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(table.signals, values)
    # The numbers twice, as rows and as an array, and a few rows of text; the whole text is 3.4 MB.
    assert peak < 2 * values.nbytes + 40 * 60 * d


def test_noise_is_called_noise_on_the_terminal_and_on_the_page(tmp_path, capsys, unpainted):
    path, output = tmp_path / "t.csv", tmp_path / "out"
    noise = np.random.default_rng(1).standard_normal((60, 8))
    pd.DataFrame(noise, columns=[f"v{i}" for i in range(8)]).to_csv(path, index=False)
    assert cli.main(["learn", str(path), "--output", str(output)]) == 0
    text = capsys.readouterr().out
    assert "Warning: No structure found" in text
    assert "above shuffled tables (at most 2: none found)" in text
    assert "**No structure found" in (output / "summary.md").read_text()
    assert "at a false-discovery rate of 10 %, because no structure was found" in text
    assert "No structure found" in (output / "graph.html").read_text()
    assert len(pd.read_csv(output / "edges.csv")) <= 1


def test_american_spellings_are_understood(frame, tmp_path, unpainted):
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    for name, words in {
        "british": ["--signals", "standardised", "--neighbours", "2"],
        "american": ["--signals", "standardized", "--neighbors", "2"],
    }.items():
        assert cli.main(["learn", str(path), *words, "--output", str(tmp_path / name)]) == 0
    assert (tmp_path / "british/edges.csv").read_bytes() == (
        tmp_path / "american/edges.csv"
    ).read_bytes()


def test_the_help_learns_from_returns_and_not_from_prices(capsys):
    with pytest.raises(SystemExit):
        cli.main(["learn", "--help"])
    said = capsys.readouterr().out
    assert "returns.csv --signals standardised" in said
    assert "prices.csv" not in said


def test_a_narrow_table_with_one_odd_word_is_no_long_format(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,x\n2,x\n3,4\n5,6\n")
    with pytest.raises(DataError, match=r"Add to the command: --na x"):
        load_signals(path)


def test_long_format_brings_the_hint(tmp_path):
    path = written(tmp_path / "t.csv", "date,place,value\n2026-01-01,Oslo,1\n2026-01-02,Oslo,2\n")
    with pytest.raises(DataError, match=r"looks like long format, .* in 'place'.*one column per"):
        load_signals(path)
