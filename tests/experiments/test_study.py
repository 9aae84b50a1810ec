"""The skeleton of studies: the files that it writes, resuming, and exit codes."""

import argparse
from dataclasses import dataclass, replace

import pandas as pd
import pytest
from matplotlib.figure import Figure
from trials import Task, draw

from experiments.measuring.digest import Source
from experiments.measuring.options import add_seed, sizes
from experiments.study import (
    Command,
    Report,
    Study,
    command_line,
    unsolved_failure,
)


def answer(run, options):
    rows = run.trials([Task(options.seed), Task(options.seed + 1)], draw, "test", jobs=1)
    table = pd.DataFrame(rows)
    parts = ["One.", "", "Two."]
    return Report(
        "Title", parts, {"rows": table}, {"figure": Figure()}, {"deep/more.txt": "more"}, "Done."
    )


STUDY = Study("test", Source(("wdro_cvx.errors",)), answer)


@dataclass
class Shell:
    """``wdro test`` in a folder of its own."""

    study: Study = STUDY

    def __call__(self, *arguments):
        parser = argparse.ArgumentParser(prog="wdro")
        command = Command("test", "", "", lambda own: add_seed(own, "rows"), lambda _: self.study)
        command.add(parser.add_subparsers())
        options = parser.parse_args(["test", *arguments])
        return options.command(options)


@pytest.fixture
def shell(tmp_path, monkeypatch, unpainted):
    monkeypatch.chdir(tmp_path)
    return Shell()


def test_it_writes_everything_and_says_where(shell, tmp_path, capsys):
    assert shell("--seed", "3") == 0
    folder = tmp_path / "runs/test"
    report = (folder / "report.md").read_text()
    parts = report.split("\n\n")
    assert parts[:4] == ["# Title", "Made by `wdro test --seed 3`.", "One.", "Two."]
    assert parts[4].startswith("Made with ")
    assert len(pd.read_csv(folder / "rows.csv")) == 2
    for name in ("figure.png", "figure.pdf", "deep/more.txt", "provenance.json"):
        assert (folder / name).exists()
    out = capsys.readouterr().out
    assert out.startswith("Done.\nwrote runs/test/report.md, rows.csv, figure.png, deep/more.txt\n")


def test_a_second_run_resumes_unless_it_is_to_be_fresh(shell, capsys):
    shell()
    assert "from an earlier run" not in capsys.readouterr().err
    shell("--seed", "1")  # shares a task
    assert "1 of them from an earlier run" in capsys.readouterr().err
    shell("--fresh")
    assert "from an earlier run" not in capsys.readouterr().err


def test_a_failure_is_written_and_exits_with_one(shell, tmp_path, capsys):
    failing = Report("Title", [], failure=unsolved_failure(2))
    shell.study = replace(STUDY, answer=lambda run, options: failing)
    assert shell("--output", str(tmp_path / "out")) == 1
    assert capsys.readouterr().err == "wdro: 2 answers were not certified.\n"
    assert (tmp_path / "out/report.md").exists()
    assert unsolved_failure(0) == ""


def test_a_reference_replaces_the_committed_results_without_pdfs(shell, tmp_path, capsys):
    (tmp_path / "results").mkdir()
    assert shell("--reference") == 0
    assert "replaced results/test" in capsys.readouterr().out
    kept = {path.name for path in (tmp_path / "results/test").iterdir()}
    assert kept == {"report.md", "rows.csv", "figure.png", "deep", "provenance.json"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], "wdro"),
        (["--output", "x", "--fresh"], "wdro"),
        (["--dimensions", "5,6", "--quick"], "wdro --dimensions 5,6 --quick"),
        (["--part", "a", "--part", "b c"], "wdro --part a --part 'b c'"),
        (["one", "two", "--limit", "2.50"], "wdro one two --limit 2.5"),
    ],
)
def test_the_command_that_makes_it_again(given, expected):
    parser = argparse.ArgumentParser(prog="wdro")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--dimensions", type=sizes)
    parser.add_argument("--part", action="append")
    parser.add_argument("--limit", type=float, default=1.0)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--output")
    parser.add_argument("--fresh", action="store_true")
    assert command_line(parser, parser.parse_args(given)) == expected
