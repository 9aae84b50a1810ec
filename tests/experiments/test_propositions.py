"""Every verdict of the ledger, and for every check a fault that changes its verdict."""

import json
import re
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from experiments import cli
from experiments.propositions import algorithms, convexity, errata, estimators, gaussian, general
from experiments.propositions import study as ledger
from experiments.propositions.drawn import Drawn, sized
from experiments.propositions.figures import _worst_case, draw_figures
from experiments.propositions.proposition import (
    PROPOSITIONS,
    Attempt,
    Finding,
    Proposition,
    Ruling,
    proposition,
    tally,
)
from solvers import PrintedDescent, PrintedGradient
from wdro_cvx import SolverError, WdroError
from wdro_cvx.metrics import edge_correlation
from wdro_cvx.moments.distribution import uniform

#: How many instances make a ruling: three, more where what is claimed is rare, and two where one
#: takes a third of a second or more.
INSTANCES = {
    "algorithm-2": 10, "lemma-1-few-samples": 10, "algorithm-3-hard-case": 2,
    "proposition-2-larger": 2, "proposition-3-larger": 2,
}  # fmt: skip
#: These repeat a smaller one at sizes that take seconds.
LARGER = {"proposition-2-larger", "proposition-3-larger"}
#: A comparison of times, which no test asserts.
TIMED = "first-order-solvers"


def each(keys, step=1):
    """Return the keys as parameters; those that take long, and all but one in ``step``, slow."""
    slow = pytest.mark.slow
    return [
        pytest.param(key, marks=slow if key in LARGER or number % step else ())
        for number, key in enumerate(sorted(keys))
    ]


def ruling(key, enough=None):
    """Return the ruling of all instances, or of the first ones that lead to it."""
    tried, attempts = PROPOSITIONS[key], []
    for index in range(INSTANCES.get(key, 3)):
        attempts.append(tried.attempt(seed=1, index=index))
        if (found := Finding(tried, attempts).ruling) is enough:
            break
    return found


@pytest.mark.parametrize("key", each(set(PROPOSITIONS) - {TIMED}))
def test_ruling_is_the_documented_one(key):
    assert ruling(key) is PROPOSITIONS[key].known


# --- Breaking each check -------------------------------------------------------------------------


def scaled(module, name, factor=1.01):
    """Replace a number by another."""
    original = getattr(module, name)
    return module, name, lambda *arguments, **options: factor * original(*arguments, **options)


def swapped(module, name, other):
    return module, name, other


def value_scaled(module, name, factor=1.001):
    """Replace a solution by one with another value."""
    original = getattr(module, name)

    class Changed:
        def __init__(self, *arguments, **options):
            found = original(*arguments, **options)
            self.value, self.laplacian = factor * found.value, found.laplacian

    return module, name, Changed


def uncorrected(module, name):
    """Replace corrected gradients by printed ones."""
    original = getattr(module, name)
    return module, name, lambda *problem: original(*problem[:-1], True)


class UncorrectedGradient(PrintedGradient):
    def __init__(self, **options):
        super().__init__(**options | {"as_printed": True})


def tilted(drawn, gamma, laplacian, original=gaussian.printed_objective):
    return original(drawn, gamma, laplacian) + 0.1 * gamma


def wider(drawn, ball, original=Drawn.worst):
    return original(replace(drawn, radius=1.01 * drawn.radius), ball)


def with_other_penalty(problem, tol, original=algorithms.solve):
    return original(problem.replace(trace_penalty=2 * problem.trace_penalty), tol)


def with_other_eta(problem, tol, original=general.solve):
    return original(problem.replace(eta=2 * problem.eta), tol)


def general_form_scaled(form, problem, original=general.by_cvxpy):
    return original(form, problem) * (1.01 if form is general.GeneralSDP else 1.0)


def slow_first_order(form, problem, backend, tol):
    return 2.0 if backend == "SCS" else 1.0


H, F = Ruling.HOLDS, Ruling.FAILS
# For each proposition: what to replace, and the ruling that follows.
BREAKS = {
    "proposition-1": (scaled(gaussian, "monge_distance"), F),
    "lemma-1": (scaled(gaussian, "dual_function"), F),
    "theorem-1": (scaled(gaussian, "closed_form_risk"), F),
    "lemma-2": (swapped(convexity, "kronecker_form", lambda a, b, c: np.trace(a @ b @ c @ c)), F),
    "lemma-3": (swapped(convexity, "kronecker_deviation", lambda a, b: 0.0), H),
    "theorem-2": (scaled(convexity, "printed_hessian"), F),
    "gradient-gamma": (swapped(convexity, "printed_slope", lambda drawn, gamma: (0.0, 0.0)), F),
    "gradient-r": (uncorrected(convexity, "gaussian_objective"), F),
    "proposition-2": (scaled(gaussian, "certified", 1.001), F),
    "gamma-curve": (swapped(convexity, "printed_objective", tilted), F),
    "algorithm-2": (swapped(algorithms, "PrintedGradient", UncorrectedGradient), F),
    "algorithm-3": (scaled(algorithms, "block_descent", 1.001), F),
    "algorithm-3-hard-case": (swapped(algorithms, "block_descent", algorithms.certified), H),
    "algorithm-4": (scaled(algorithms, "by_cvxpy", 1.001), F),
    "penalty-bias": (swapped(algorithms, "solve", with_other_penalty), F),
    "lemma-1-few-samples": (scaled(gaussian, "dual_function"), F),
    "theorem-2-few-samples": (scaled(convexity, "printed_hessian"), F),
    "proposition-2-larger": (scaled(gaussian, "by_cvxpy", 1.1), F),
    "proposition-3-larger": (scaled(general, "by_cvxpy", 1.1), F),
    "algorithm-1": (scaled(algorithms, "printed_gamma"), F),
    "one-bracket": (swapped(algorithms, "_BRACKET", (1e-9, 1e9)), H),
    "no-root": (swapped(algorithms, "printed_slope", lambda drawn, gamma: (0.0, 0.0)), H),
    "dropped-domain": (swapped(convexity, "beyond_the_pole", lambda *arguments: np.inf), H),
    "kink": (swapped(algorithms, "gradient_descent", algorithms.certified), H),
    "misprinted-score": (swapped(errata, "printed_score", edge_correlation), H),
    "mean-term": (scaled(Drawn, "resolvent"), F),
    "index-of-adjoint": (scaled(errata, "adjoint"), F),
    "cholesky-eigenvalues": (swapped(errata, "is_definite", lambda matrix: True), F),
    "proof-of-theorem-1": (swapped(errata, "printed_maximiser", errata.own_maximiser), H),
    "reliability-of-the-truth": (swapped(errata, "reliability", lambda *arguments: 1.0), H),
    "one-value": (swapped(general, "by_cvxpy", general_form_scaled), F),
    TIMED: (swapped(errata, "judged_seconds", slow_first_order), F),
    "lemma-4": (scaled(general, "signal_dual"), F),
    "corollary-1": (scaled(general, "matrix_primal"), F),
    "theorem-3": (scaled(general, "order_dual"), F),
    "laplacians-of-any-trace": (scaled(errata, "certified", 1.1), F),
    "equality-in-hoelder": (swapped(errata, "aligned", lambda matrix, power: np.abs(matrix)), F),
    "theorem-3-low-order": (
        swapped(general, "distant_atom", lambda drawn, *rest: uniform(drawn.nominal.samples)), H
    ),
    "proposition-3": (scaled(general, "by_cvxpy"), F),
    "infinite-exponent": (value_scaled(general, "solve"), F),
    "on-the-sample-average-path": (swapped(general, "solve", with_other_eta), F),
    "gradient-m": (uncorrected(general, "general_objective"), F),
    "worst-samples": (swapped(Drawn, "worst", wider), F),
    "worst-gaussian": (swapped(Drawn, "worst", wider), F),
    "adversary-never-wins": (scaled(gaussian, "adversary"), F),
    "wasserstein-shrinkage": (scaled(estimators, "shrunk_precision", 1.1), F),
    "robust-graphical-lasso": (scaled(estimators, "lasso_optimum"), F),
    "sandwich-bound": (swapped(gaussian, "sandwich", lambda drawn: (1e9, 1e9)), F),
}  # fmt: skip


def test_every_check_is_broken_on_purpose():
    assert set(BREAKS) == set(PROPOSITIONS)


@pytest.mark.parametrize("key", each(BREAKS, step=3))
def test_breaking_a_check_turns_its_ruling(key, monkeypatch):
    (module, name, replacement), expected = BREAKS[key]
    monkeypatch.setattr(module, name, replacement)
    found = ruling(key, enough=F)  # no further instance takes back that it fails
    assert found is expected is not PROPOSITIONS[key].known


# --- Rulings -------------------------------------------------------------------------------------


def proposition_with(tolerance=1e-6, **more):
    limits = {"within": (tolerance, ""), "refuted": 100 * tolerance}
    return Proposition("x", "X", "", "", sized(""), check=None, routes="", **limits, **more)


def finding(printed, corrected=None, **more):
    corrected = corrected or [None] * len(printed)
    pairs = enumerate(zip(printed, corrected, strict=True), start=1)
    attempts = [Attempt(a, {"size": np.zeros(size)}, b) for size, (a, b) in pairs]
    return Finding(proposition_with(**more), attempts)


@pytest.mark.parametrize(
    ("printed", "corrected", "expected"),
    [
        ([0.0, 1e-7], None, Ruling.HOLDS),
        ([0.0, 1.0], None, Ruling.UNDECIDED),  # one instance is not enough
        ([1.0, 1.0, 0.0], None, Ruling.FAILS),
        ([2e-6, 2e-6], None, Ruling.UNDECIDED),  # above the tolerance, but not beyond doubt
        ([1.0, np.nan], None, Ruling.FAILS),
        ([1.0, 1.0], [0.0, 1e-7], Ruling.CORRECTED),
        ([1.0, 1.0], [0.0, 1.0], Ruling.FAILS),
        ([1.0, 1.0], [0.0, 2e-6], Ruling.UNDECIDED),
        ([1.0, 1.0], [0.0, np.nan], Ruling.FAILS),
    ],
)
def test_rulings(printed, corrected, expected):
    assert finding(printed, corrected).ruling is expected


def test_smallest_counterexample():
    assert np.size(finding([0.0, 1e-5, np.nan, 1.0]).counterexample.data["size"]) == 3
    assert finding([0.0]).counterexample is None


def test_a_second_proposition_of_one_name_is_refused():
    def lemma_1(drawn, rng):
        """Compare nothing."""

    with pytest.raises(ValueError, match="two propositions 'lemma-1'"):
        proposition("Lemma 1", "", "", sized(""), (1.0, ""))(lemma_1)


# --- The command ---------------------------------------------------------------------------------


@pytest.fixture
def two_propositions(monkeypatch):
    """The ledger of one of ours that holds and one of the paper's that fails, both quick."""
    chosen = {key: PROPOSITIONS[key] for key in ("sandwich-bound", "no-root")}
    monkeypatch.setattr(ledger, "PROPOSITIONS", chosen)
    monkeypatch.setattr(ledger, "draw_figures", lambda seed: {})
    return chosen


def test_command_writes_the_ledger(two_propositions, tmp_path, capsys):
    arguments = ["propositions", "--output", str(tmp_path), "--instances", "6", "--seed", "3"]
    (tmp_path / "counterexamples").mkdir()
    (tmp_path / "counterexamples/old.npz").touch()
    assert cli.main(arguments) == 0
    assert not (tmp_path / "counterexamples/old.npz").exists()
    table = pd.read_csv(tmp_path / "ledger.csv").set_index("statement")
    assert table["verdict"].to_dict() == {"Sandwich": "holds", "Algorithm 1, hard case": "fails"}
    assert (table["instances"] == 6).all()
    example = np.load(tmp_path / table.loc["Algorithm 1, hard case", "counterexample"])
    assert example["printed_deviation"] > 1e-4
    assert example["samples"].shape[1] == example["laplacian"].shape[0]
    text = (tmp_path / "ledger.md").read_text()
    assert "`wdro propositions --instances 6 --seed 3`" in text
    assert "[npz](counterexamples/no-root.npz)" in text
    said, unsaid = text.split("## What it does not say")
    assert "there is no root" in said
    assert "Sandwich" in unsaid
    assert "count once: 1 × fails." in text
    assert json.loads((tmp_path / "provenance.json").read_text())["settings"]["seed"] == "3"
    assert "Sandwich" in capsys.readouterr().out


def test_the_ledger_begins_with_what_fails(two_propositions):
    fails = Finding(two_propositions["sandwich-bound"], [Attempt(1.0, {})] * 3)
    holds = replace(fails, attempts=[Attempt(0.0, {})])
    text = "\n".join(ledger.describe([holds, fails]))
    assert text.index("**✗ fails**") < text.index("| ✓ holds |")


def test_command_fails_when_a_ruling_is_new(two_propositions, tmp_path, monkeypatch, capsys):
    changed = replace(two_propositions["sandwich-bound"], known=Ruling.FAILS)
    monkeypatch.setattr(ledger, "PROPOSITIONS", {"sandwich-bound": changed})
    assert cli.main(["propositions", "--output", str(tmp_path), "--instances", "2"]) == 1
    expected = "Sandwich holds, but docs/propositions.md says that it fails."
    assert expected in capsys.readouterr().err


def test_one_statement_of_one_size_is_tried_alone(tmp_path):
    arguments = ["propositions", "equation 30", "--dimensions", "9,12", "--instances", "3"]
    assert cli.main([*arguments, "--output", str(tmp_path)]) == 0
    (name,) = pd.read_csv(tmp_path / "ledger.csv")["statement"]
    assert name == "Equation 30"
    command = "`wdro propositions 'equation 30' --dimensions 9,12 --instances 3`"
    assert command in (tmp_path / "ledger.md").read_text()


def test_dimensions_are_taken_in_turn():
    seen = []
    tried = replace(proposition_with(), check=lambda d, rng: seen.append(d), dimensions=(3, 4))
    for index in range(4):
        tried.attempt(0, index, (7, 9))
    assert seen == [7, 9, 7, 9]
    for index in range(30):
        tried.attempt(0, index)
    assert set(seen[4:]) == {3, 4}


def test_statements_are_found_by_the_beginning_of_their_names():
    chosen = ledger.chosen_propositions
    assert list(chosen(["Proposition 2"])) == ["proposition-2"]  # not the larger too
    assert set(chosen(["Algorithm 4"])) == {"algorithm-4"}
    assert len(chosen(["Lemma"])) == 5
    with pytest.raises(WdroError, match=r"no statement 'Lemma 9'.*Lemma 4"):
        chosen(["Lemma 9"])
    with pytest.raises(WdroError, match="no statement ' '"):
        chosen([" "])


def test_statements_that_show_one_erratum_count_once():
    cases = [
        ("E1", 1.0, False), ("E1", 1.0, False), ("E1", 0.0, False), ("", 0.0, False),
        ("E2", 1.0, False), ("E3", 1.0, True),
    ]  # fmt: skip
    found = [finding([printed] * 3, erratum=e, ours=ours) for e, printed, ours in cases]
    assert tally(found) == {Ruling.FAILS: 2, Ruling.HOLDS: 2}


def test_every_erratum_of_the_documents_is_shown_by_a_proposition():
    text = (Path(__file__).parents[2] / "docs" / "paper.md").read_text()
    listed = set(re.findall(r'<a id="(E\d+)">', text))
    shown = {tried.erratum for tried in PROPOSITIONS.values()} - {""}
    assert shown <= listed
    assert listed - shown == {"E16"}  # misprints that leave nothing to compute


def test_one_instance_is_refused(capsys):
    with pytest.raises(SystemExit):
        cli.main(["propositions", "--instances", "1"])
    assert "no verdict rests on one instance" in capsys.readouterr().err


@pytest.mark.slow
def test_figures_are_drawn(tmp_path):
    for name, figure in draw_figures(0).items():
        figure.savefig(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    assert len(list(tmp_path.iterdir())) == 3


def test_the_picture_of_the_worst_case_moves_the_samples_by_the_radius():
    figure = _worst_case(np.random.default_rng(0))
    for panel, radius in zip(figure.axes, (0.2, 0.5, 1.0), strict=True):
        moves = np.array([np.diff(line.get_xydata(), axis=0)[0] for line in panel.lines])
        assert len(moves) == 25
        assert np.sqrt(np.mean(np.sum(moves**2, axis=1))) == pytest.approx(radius, rel=1e-6)
    plt.close(figure)


def test_a_descent_that_never_ends_has_no_value(monkeypatch):
    """Its bracket may miss the root; this must not stop the other statements."""

    def misses_the_root(*arguments):
        raise SolverError("The bracket contains no root.")

    monkeypatch.setattr(PrintedDescent, "solve", misses_the_root)
    found = PROPOSITIONS["algorithm-3-hard-case"].attempt(seed=0, index=14)
    assert np.isnan(found.printed)


def test_every_statement_has_a_place_in_the_ledger():
    """The order is used only if the ledger is written, at the end of a run."""
    places = [ledger._place(key) for key in ledger.PROPOSITIONS]
    assert len(set(places)) == len(places)
