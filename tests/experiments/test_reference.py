"""The commands that make the committed results."""

import json
import re
import shlex
from types import SimpleNamespace

import pytest

from experiments.cli import make_parser
from experiments.measuring import reference
from experiments.measuring.digest import ROOT
from experiments.measuring.reference import COMMANDS


def test_every_committed_result_has_a_command():
    committed = {path.parent.name for path in ROOT.glob("results/*/provenance.json")}
    assert committed <= set(COMMANDS)


def test_the_documents_name_the_same_commands():
    text = (ROOT / "docs/reports.md").read_text(encoding="utf-8")
    rows = re.findall(r"\(\.\./results/([^/]+)/\w+\.md\) \| `([^`]+)` \|", text)
    told = {name: command for name, command in rows if name in COMMANDS}
    cases = COMMANDS["stress-attacks"].split()[-1]
    assert told == COMMANDS | {"stress-attacks": f"make attacks CASES={cases}"}


@pytest.mark.parametrize("command", [c for c in COMMANDS.values() if c.startswith("wdro")])
def test_commands_are_valid(command):
    make_parser().parse_args(shlex.split(command)[1:])


@pytest.fixture
def started(monkeypatch):
    """The commands that are started; those in ``failing`` fail."""
    found = SimpleNamespace(commands=[], failing=())

    def run(words, cwd):
        found.commands.append(words)
        return SimpleNamespace(returncode=int(any(word in found.failing for word in words)))

    monkeypatch.setattr(reference.subprocess, "run", run)
    monkeypatch.setattr(reference, "COMMANDS", {"a": "wdro a --cells 3", "b": "wdro b"})
    return found


def test_only_stale_results_are_made(started, monkeypatch, capsys):
    monkeypatch.setattr(reference, "reason", {"a": "judge changed", "b": ""}.get)
    assert reference.main() == 0
    (words,) = started.commands
    assert words[1:] == ["-m", "experiments", "a", "--cells", "3", "--reference"]
    assert "b: fresh" in capsys.readouterr().out


def test_a_command_that_fails_does_not_stop_the_others(started, monkeypatch):
    monkeypatch.setattr(reference, "reason", lambda name: "changed")
    started.failing = ("a",)
    assert reference.main() == 1
    assert [words[3] for words in started.commands] == ["a", "b"]


def test_a_result_is_made_again_if_code_or_command_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "COMMANDS", {"a": "wdro a"})
    changed = []
    monkeypatch.setattr(reference, "changes", lambda record: changed)
    assert reference.reason("a", tmp_path) == "there is none"
    (tmp_path / "a").mkdir()
    record = {"settings": {"command": "wdro a"}}
    (tmp_path / "a/provenance.json").write_text(json.dumps(record))
    assert reference.reason("a", tmp_path) == ""
    changed.append("wdro_cvx.judge")
    assert "wdro_cvx.judge" in reference.reason("a", tmp_path)
    changed.clear()
    record["settings"]["command"] = "wdro a --part one"
    (tmp_path / "a/provenance.json").write_text(json.dumps(record))
    assert "--part one" in reference.reason("a", tmp_path)
