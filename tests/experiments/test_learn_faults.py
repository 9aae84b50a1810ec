"""``wdro learn`` with what fuzzing found: names, numbers, rows and options out of the ordinary."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest

from experiments import cli
from experiments.learn.graph import LearnOptions, learn_graph
from experiments.learn.loading import Layout, SignalTable, load_signals
from experiments.learn.places import load_places
from experiments.measuring import files
from experiments.measuring.files import OutputError
from experiments.measuring.text import escape_markdown, markdown_table
from wdro_cvx import DataError, ProblemError


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture
def table(tmp_path):
    """Make a table with names of one's own; all vertices can be told apart."""

    def make(names, name="t.csv"):
        rows = np.random.default_rng(0).standard_normal((6, len(names)))
        lines = [";".join(names), *(";".join(f"{x:.3f}" for x in row) for row in rows)]
        return written(tmp_path / name, "\n".join(lines))

    return make


@pytest.fixture(autouse=True)
def quick(monkeypatch, small_page):
    monkeypatch.setattr("experiments.drawing.style._DPI", 20)


def learn(path, output, *options):
    return cli.main(["learn", str(path), "--radius", "0.3", "--output", str(output), *options])


@pytest.mark.parametrize("raw", [b"", b"\xef\xbb\xbf", b"\n\n", b"  \r\n", b"\xef\xbb\xbf\n"])
def test_files_with_nothing_in_them(tmp_path, raw):
    path = written(tmp_path / "t.csv", raw)
    for load in (load_signals, lambda path: load_places(path, ["a"])):
        with pytest.raises(DataError, match="is empty"):
            load(path)


@pytest.mark.parametrize("cell", ["1_000", "１２", "٣", "0x10", "1e", "١", "infinity", "1e999"])
def test_numbers_are_decimal_and_ascii(tmp_path, cell):
    path = written(tmp_path / "t.csv", f"a,b\n1,{cell}\n3,4\n")
    with pytest.raises(DataError, match="has 1 cell that is not a finite number: "):
        load_signals(path)


def test_if_all_bad_cells_are_in_one_column_it_is_named_for_ignore(tmp_path):
    path = written(tmp_path / "t.csv", "a,my b,c\n1,x1,2\n3,y2,4\n5,6,7\n")
    with pytest.raises(DataError, match=r"2 cells that .* Add to the command: --ignore 'my b'$"):
        load_signals(path)
    path = written(tmp_path / "t.csv", "a,my b,c\n1,x1,2\n3,7,z4\n5,6,7\n")
    with pytest.raises(DataError, match=r"--na x1 --na z4 .*--ignore NAME leaves a column out"):
        load_signals(path)
    assert load_signals(path, Layout(na=("x1", "z4"))).names == ("a", "my b", "c")


def test_a_row_of_empty_cells_is_missing_and_a_blank_line_is_none(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,2\n,\n\n3,5\n")
    with pytest.raises(DataError, match="2 missing values in 1 of 3 rows"):
        load_signals(path, Layout(missing="error"))
    assert load_signals(path, Layout(missing="drop")).notes == (
        "1 row with missing values left out.",
    )


def test_errors_name_the_line_of_the_file(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n\n\n1,2\n3\n")
    with pytest.raises(DataError, match="row 5 has 1 cell,"):
        load_signals(path)


@pytest.mark.parametrize("name", ["NA", "null", "nan", "None", "#N/A", "<NA>"])
def test_names_that_a_table_would_lose_are_refused(table, name):
    with pytest.raises(DataError, match="read back from a table as a missing value"):
        load_signals(table([name, "b"]))
    assert load_signals(table([name, "b", "c"]), Layout(ignore=(name,))).names == ("b", "c")


@pytest.mark.parametrize("name", ["=cmd()", "+a", "-b", "@c", "＝x"])
def test_names_that_a_spreadsheet_would_run_are_refused(table, name):
    with pytest.raises(DataError, match="spreadsheet formula"):
        load_signals(table([name, "b"]))


@pytest.mark.parametrize("name", ["a\x07", "a\x1b[31m", "a\u202eb", "\ue000", "a\u2028b", "\ufffe"])
def test_names_with_control_characters_are_refused(table, name):
    with pytest.raises(DataError, match="cannot be printed"):
        load_signals(table([name, "b"]))


def test_a_name_that_is_a_paragraph_is_refused(table):
    with pytest.raises(DataError, match="has 300 characters"):
        load_signals(table(["n" * 300, "b"]))


def test_dollars_markup_and_other_scripts_are_names_like_any_other(table, tmp_path, capsys):
    names = ["$x$", "a$b", "<script>", "**bold**", "[a](b)", "a|b", "東京", "🙂", "a_b^2", "&lt"]
    output = tmp_path / "out"
    assert learn(table(names), output) == 0
    edges = pd.read_csv(output / "edges.csv")
    assert set(edges["source"]) | set(edges["target"]) <= set(names)
    space = "{http://graphml.graphdrawing.org/xmlns}"
    nodes = ElementTree.parse(output / "graph.graphml").iter(f"{space}node")
    assert {node.get("id") for node in nodes} == set(names)
    summary = (output / "summary.md").read_text()
    assert "<script>" not in summary
    assert "&lt;script&gt;" in summary
    assert "\\*\\*bold\\*\\*" in summary
    assert "\\[a\\]\\(b\\)" in summary
    said = capsys.readouterr()
    assert "Warning" not in said.err  # of a letter that the font lacks
    assert "\\" not in said.out  # the terminal shows names as they are


def test_a_threshold_that_leaves_no_edge(table, tmp_path):
    output = tmp_path / "out"
    assert learn(table(["a", "b", "c"]), output, "--threshold", "1e9") == 0
    assert pd.read_csv(output / "edges.csv").empty
    assert (output / "graph.png").stat().st_size > 500
    summary = (output / "summary.md").read_text()
    assert "vertices without a selected edge | a, b, c" in summary
    assert "| communities | 0 |" in summary


def test_a_failure_while_writing_leaves_nothing(table, tmp_path, monkeypatch, capsys):
    output = tmp_path / "out"
    original = files.Path.write_bytes

    def full(path, raw):
        if "graphml" in path.name:
            raise OSError(28, "No space left on device")
        return original(path, raw)

    monkeypatch.setattr(files.Path, "write_bytes", full)
    assert learn(table(["a", "b", "c"]), output) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert list(output.iterdir()) == []


@pytest.mark.parametrize("place", ["file", "file/below", "x" * 300])
def test_an_output_that_cannot_be_is_refused_before_work_starts(
    table, tmp_path, place, monkeypatch, capsys
):
    written(tmp_path / "file", "")
    monkeypatch.setattr("experiments.learn.run.load_signals", pytest.fail)
    assert learn(table(["a", "b"]), tmp_path / place) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": 1e300}, "between 1e-06 and 1e"),
        ({"radius": 1e-300}, "as good as 0"),
        ({"eta": 1e300}, "eta must be between"),
        ({"eta": 1e-300}, "eta must be between"),
    ],
)
def test_options_out_of_proportion_are_refused(options, message):
    with pytest.raises(ProblemError, match=message):
        LearnOptions(**options)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_extreme_data_are_scaled_and_solved(scale):
    signals = np.random.default_rng(0).standard_normal((8, 4))
    names = list("abcd")
    options = LearnOptions(radius=0.3)
    expected = learn_graph(SignalTable(pd.DataFrame(signals, columns=names)), options)
    found = learn_graph(SignalTable(pd.DataFrame(scale * signals, columns=names)), options)
    assert found.solved
    assert found.unit == pytest.approx(scale * expected.unit)
    # A gap of 1e-6 in the value leaves about 1e-3 in the graph.
    np.testing.assert_allclose(found.laplacian, expected.laplacian, atol=5e-3)


@pytest.mark.parametrize("value", ["nan", "inf", "1_0", "-1", "x"])
def test_bad_numbers_on_the_command_line(table, tmp_path, value, capsys):
    for option in ("--eta", "--threshold"):
        try:
            code = learn(table(["a", "b"]), tmp_path / "out", f"{option}={value}")
        except SystemExit as leaving:  # argparse
            code = leaving.code
        assert code == 2
        assert option[2:] in capsys.readouterr().err
        assert not (tmp_path / "out").exists()


def test_a_folder_in_use_by_a_file_is_told(tmp_path):
    with pytest.raises(OutputError, match="is a file"):
        files.make_folder(written(tmp_path / "f", "") / "x")


def test_escaping_keeps_tables_whole():
    line = markdown_table(["x"], [[escape_markdown("a|b`c`")]]).splitlines()[-1]
    assert line == "| a\\|b\\`c\\` |"
