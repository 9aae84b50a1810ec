"""The command line itself: help without arguments, suggestions, and output for terminals."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from experiments import cli
from experiments.learn.summary import Summary


class Terminal(io.StringIO):
    def isatty(self):
        return True


def refused(arguments, capsys):
    with pytest.raises(SystemExit) as leaving:
        cli.main(arguments)
    assert leaving.value.code == cli.ERROR
    return capsys.readouterr().err


def test_without_a_command_the_help_is_printed(capsys):
    assert cli.main([]) == 0
    text = capsys.readouterr().out
    assert text.startswith("usage: wdro COMMAND")
    data, paper = text.index("Your data:"), text.index("The paper:")
    assert data < text.index("\n  learn ") < text.index("\n  verify ") < paper
    names = [line.split()[0] for line in text[paper:].splitlines()[1:7]]
    assert "against d\n" not in text  # it reads as cut off
    assert names == ["compare", "propositions", "figures", "bench", "stress", "study"]
    assert cli.main(["study"]) == 0
    assert "temperature" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["lern"], "wdro: argument COMMAND: invalid choice: 'lern'; did you mean learn?"),
        (["study", "shft"], "did you mean shift?"),
        (["learn", "t.csv", "--radus", "3"], "wdro learn: no option --radus; did you mean --radiu"),
        (["learn", "t.csv", "--radus=3"], "wdro learn: no option --radus; did you mean --radius?"),
        (["learn", "t.csv", "--prior", "frobenus"], "'frobenus'; did you mean frobenius?"),
        (["bench", "--zzz"], "wdro bench: no option --zzz\n"),
        (["zzz"], "choose from"),
    ],
)
def test_typos_get_suggestions(arguments, sentence, capsys):
    assert sentence in refused(arguments, capsys)


def test_a_defect_says_where_to_report_it(monkeypatch, capsys):
    def break_down():
        raise TypeError("of our making")

    monkeypatch.setattr(cli, "load_installed", break_down)
    assert cli.main([]) == cli.DEFECT
    told = capsys.readouterr().err
    assert "TypeError: of our making" in told
    assert "Please report it" in told
    place, heading = re.search(r"\((\S+), (\w+)\)\.$", told).groups()
    assert f"## {heading}" in (Path(__file__).parents[2] / place).read_text()


def test_the_options_of_learn_are_grouped_and_have_examples(capsys):
    with pytest.raises(SystemExit):
        cli.main(["learn", "--help"])
    text = capsys.readouterr().out
    assert text.index("which edges:") < text.index("--fdr RATE") < text.index("which problem")
    examples = text[text.index("examples:") :].splitlines()[1:]
    assert len(examples) == 2
    for line in examples:  # they are accepted
        program, *arguments = line.split()
        assert program == "wdro"
        assert cli.make_parser().parse_args(arguments).tables


def test_colours_are_for_terminals_that_want_them(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    long = "word " * 60
    summary = Summary("t.csv", {"Found": [("[b]edges", long)]}, ["a"], "an edge", [], ["No."], [])
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    plain = summary.shown()
    assert "\x1b" not in plain
    assert long.strip() in plain  # lines of a log are not broken
    assert "[b]edges" in plain
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert "\x1b[1;33mWarning" in summary.shown()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "33m" not in summary.shown()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("t.csv", "out already holds edges.csv. Use --force to replace them, or another --output."),
        ("absent.csv", "absent.csv is not a file; give the path of a table."),
    ],
)
def test_files_are_checked_before_libraries_load(tmp_path, table, message):
    """Importing pandas and scikit-learn is forbidden, so nothing that takes seconds was loaded."""
    (tmp_path / "t.csv").touch()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "edges.csv").touch()
    words = ["learn", str(tmp_path / table), "--output", str(tmp_path / "out")]
    code = (
        f"import sys; sys.argv[1:] = {words!r}\n"
        "sys.modules['pandas'] = sys.modules['sklearn'] = sys.modules['networkx'] = None\n"
        "from experiments.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]


def test_learn_says_something_before_it_loads_libraries():
    """Imports are forbidden, so what is said was said before them."""
    code = (
        "import sys; sys.argv[1:] = ['learn', 't.csv']\n"
        "sys.modules['experiments.cli'] = sys.modules['numpy'] = None\n"
        "from experiments.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, env=os.environ
    )
    assert done.stderr.splitlines()[0] == "  loading libraries"
