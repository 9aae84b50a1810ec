"""``wdro learn`` writes proofs, and ``wdro verify`` checks them."""

import json

import numpy as np
import pandas as pd
import pytest

from experiments.cli import main
from experiments.learn import run


@pytest.fixture
def learned(tmp_path, unpainted, small_page):
    rng = np.random.default_rng(0)
    table = tmp_path / "table.csv"
    pd.DataFrame(rng.standard_normal((20, 5)), columns=list("abcde")).to_csv(table, index=False)
    folder = tmp_path / "out"

    def learn(*options):
        return main(["learn", str(table), "--radius", "0.3", "--output", str(folder), *options])

    return learn, folder


def test_a_learned_graph_comes_with_a_proof(learned, capsys):
    learn, folder = learned
    assert learn() == 0
    assert "proof.json" in capsys.readouterr().out
    assert main(["verify", str(folder / "proof.json")]) == 0
    assert "proved in exact arithmetic" in capsys.readouterr().out


def test_a_changed_proof_is_refused_with_one_sentence(learned, capsys):
    learn, folder = learned
    learn()
    path = folder / "proof.json"
    path.write_text(path.read_text().replace('"radius": 0.3', '"radius": 0.4'))
    capsys.readouterr()
    assert main(["verify", str(path), str(folder / "missing.json")]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert "something in it was changed" in first
    assert second == f"there is no file {folder / 'missing.json'}"


@pytest.mark.slow
def test_no_stale_proof_stays_beside_another_graph(learned, monkeypatch, capsys):
    learn, folder = learned
    learn()
    monkeypatch.setattr(run, "_MOST_PRODUCTS", 1)
    assert learn("--force") == 0
    assert not (folder / "proof.json").exists()
    out = capsys.readouterr().out
    assert "No proof.json" in out
    assert "proof.json" not in out.splitlines()[-2]


def test_the_threshold_is_the_one_of_the_graph(learned):
    learn, folder = learned
    learn("--threshold", "0.01")
    assert json.loads((folder / "proof.json").read_text())["edges"]["threshold"] == 0.01
