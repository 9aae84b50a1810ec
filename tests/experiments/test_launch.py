"""The command while its libraries load."""

import importlib.abc
import signal
import sys

import experiments
from experiments.__main__ import main


class Interrupted(importlib.abc.MetaPathFinder):
    """Ctrl-C while the command line is imported."""

    def find_spec(self, name, path=None, target=None):
        if name == "experiments.cli":
            raise KeyboardInterrupt


def test_stopped_while_libraries_load_it_says_so(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "experiments.cli", raising=False)
    monkeypatch.delattr(experiments, "cli", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    assert main() == 128 + signal.SIGINT
    assert capsys.readouterr().err == "\nwdro: stopped before it began.\n"
