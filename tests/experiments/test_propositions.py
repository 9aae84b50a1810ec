"""Every verdict of the ledger, and for every check a way to break it that turns the verdict."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments import cli
from experiments.propositions import (
    algorithms,
    convexity,
    errata,
    gaussian,
    general,
    norms,
    worst,
)
from experiments.propositions import run as ledger
from experiments.propositions.claims import (
    CLAIMS,
    Claim,
    Trial,
    Verdict,
    decide,
    smallest_counterexample,
    try_claim,
)
from experiments.propositions.draw import at_radius
from wdro_cvx import MomentBall
from wdro_cvx.distribution import uniform
from wdro_cvx.laplacian import laplacian_from_weights
from wdro_cvx.metrics import mcc

INSTANCES = 10
FEW = {"erratum-10": 3, "algorithm-3-hard-case": 4}  # these take a second or more each


def verdict(key):
    claim = CLAIMS[key]
    count = FEW.get(key, INSTANCES)
    return decide(claim, [try_claim(claim, seed=1, index=index) for index in range(count)])


@pytest.mark.parametrize("key", sorted(CLAIMS))
def test_verdict_is_the_documented_one(key):
    assert verdict(key) is CLAIMS[key].known


# --- Breaking each check -------------------------------------------------------------------------


def scaled(module, name, factor=1.01):
    """Replace a number by another."""
    original = getattr(module, name)
    return module, name, lambda *arguments: factor * original(*arguments)


def swapped(module, name, other):
    return module, name, other


def solution_scaled(module, name, factor=1.001):
    """Replace a solution by one with another value."""
    original = getattr(module, name)

    class Changed:
        def __init__(self, *arguments, **options):
            self.found = original(*arguments, **options)
            self.value = factor * self.found.value
            self.laplacian = self.found.laplacian

    return module, name, Changed


def right_score(learned, truth):
    return mcc(laplacian_from_weights(1.0 * learned), laplacian_from_weights(1.0 * truth))


def right_mean_term(drawn, gamma):
    mean = drawn.nominal.mean
    inverse = np.linalg.inv(gamma * np.eye(drawn.d) - drawn.laplacian)
    return gamma**2 * mean @ inverse @ mean - gamma * mean @ mean


def right_maximiser(drawn, gamma):
    inverse = np.linalg.inv(gamma * np.eye(drawn.d) - drawn.laplacian)
    return gamma**2 * inverse @ drawn.nominal.covariance @ inverse


def regularised_value(problem):
    ball = MomentBall(problem.ambiguity.radius, p=2.0, alpha=2.0)
    return general.solve(general.GraphProblem(problem.nominal, ball, problem.eta), tol=1e-8).value


def printed_norm_instead(drawn, q):
    return norms.printed_norm_gradient(drawn.laplacian, q)


def corrected_norm_instead(laplacian, q):
    size = np.linalg.norm(laplacian.ravel(), q) ** (1 - q)
    return norms.adjoint(size * np.sign(laplacian) * np.abs(laplacian) ** (q - 1))


def tilted(drawn, gamma, laplacian, original=gaussian.printed_objective):
    return original(drawn, gamma, laplacian) + 0.1 * gamma


def wider(drawn, gaussian, original=worst.worst_case):
    return original(at_radius(drawn, 1.01 * drawn.radius), gaussian)


H, F = Verdict.HOLDS, Verdict.FAILS
# For each claim: what to replace, and the verdict that follows.
BREAKS = {
    "proposition-1": (scaled(gaussian, "printed_distance"), F),
    "lemma-1": (scaled(gaussian, "dual_function"), F),
    "theorem-1": (scaled(gaussian, "closed_form_risk"), F),
    "lemma-2": (swapped(convexity, "kronecker_form", lambda a, b, c: np.trace(a @ b @ c @ c)), F),
    "lemma-3": (swapped(convexity, "kronecker_deviation", lambda a, b: 0.0), H),
    "theorem-2": (scaled(convexity, "printed_hessian"), F),
    "gradient-gamma": (swapped(convexity, "printed_slope", lambda drawn, gamma: (0.0, 0.0)), F),
    "gradient-r": (swapped(convexity, "corrected_gradient_r", convexity.printed_gradient_r), F),
    "erratum-3": (swapped(convexity, "printed_gradient_r", convexity.corrected_gradient_r), H),
    "proposition-2": (solution_scaled(gaussian, "solve"), F),
    "gamma-curve": (swapped(convexity, "printed_objective", tilted), F),
    "algorithm-1": (swapped(algorithms, "own_bisection", algorithms.printed_bisection), F),
    "algorithm-2": (swapped(algorithms, "corrected_gradient_r", convexity.printed_gradient_r), F),
    "algorithm-3": (solution_scaled(algorithms, "block_descent"), F),
    "algorithm-3-hard-case": (swapped(algorithms, "block_descent", algorithms.solve), H),
    "algorithm-4": (solution_scaled(algorithms, "projected_gradient"), F),
    "penalty-bias": (swapped(algorithms, "penalty_sides", lambda problem, graph: (1.0, 2.0)), F),
    "erratum-1": (swapped(general, "general_sdp", regularised_value), H),
    "erratum-2": (scaled(general, "general_sdp"), F),
    "erratum-4": (swapped(norms, "printed_norm_gradient", corrected_norm_instead), H),
    "erratum-5": (swapped(errata, "printed_score", right_score), H),
    "erratum-6": (swapped(errata, "bracket", lambda drawn: (drawn.top, np.inf)), H),
    "erratum-7": (swapped(errata, "penalised_trace", lambda drawn, beta: drawn.d), H),
    "erratum-8": (swapped(errata, "printed_mean_term", right_mean_term), H),
    "erratum-9": (swapped(errata, "printed_maximiser", right_maximiser), H),
    "erratum-10": (swapped(errata, "seconds_by_interior_point", lambda problem: 0.0), H),
    "lemma-4": (scaled(general, "signal_dual"), F),
    "corollary-1": (scaled(general, "matrix_primal"), F),
    "theorem-3": (scaled(general, "order_dual"), F),
    "theorem-3-low-order": (
        swapped(general, "distant_atom", lambda drawn, *rest: uniform(drawn.nominal.samples)), H
    ),
    "proposition-3": (scaled(general, "general_sdp"), F),
    "infinite-exponent": (solution_scaled(norms, "solve"), F),
    "on-the-sample-average-path": (
        swapped(norms, "larger_eta", lambda drawn, graph: drawn.eta), F
    ),
    "gradient-m": (swapped(norms, "corrected_norm_gradient", printed_norm_instead), F),
    "worst-samples": (swapped(worst, "worst_case", wider), F),
    "worst-gaussian": (swapped(worst, "worst_case", wider), F),
    "adversary-never-wins": (scaled(worst, "adversary"), F),
    "sandwich-bound": (swapped(worst, "sandwich", lambda drawn: (1e9, 1e9)), F),
}  # fmt: skip


def test_every_check_is_broken_on_purpose():
    assert set(BREAKS) == set(CLAIMS)


@pytest.mark.parametrize("key", sorted(BREAKS))
def test_breaking_a_check_turns_its_verdict(key, monkeypatch):
    (module, name, replacement), expected = BREAKS[key]
    monkeypatch.setattr(module, name, replacement)
    assert verdict(key) is expected is not CLAIMS[key].known


# --- Verdicts ------------------------------------------------------------------------------------


def claim_with(tolerance=1e-6):
    return Claim("x", "X", "", "", "", tolerance, "", H, lambda rng: None, 100 * tolerance)


def trials(printed, corrected=None):
    corrected = corrected or [None] * len(printed)
    pairs = enumerate(zip(printed, corrected, strict=True), start=1)
    return [Trial(a, {"size": np.zeros(size)}, b) for size, (a, b) in pairs]


@pytest.mark.parametrize(
    ("printed", "corrected", "expected"),
    [
        ([0.0, 1e-7], None, Verdict.HOLDS),
        ([0.0, 1.0], None, Verdict.UNDECIDED),  # one instance is not enough
        ([1.0, 1.0, 0.0], None, Verdict.FAILS),
        ([2e-6, 2e-6], None, Verdict.UNDECIDED),  # above the tolerance, below any doubt
        ([1.0, np.nan], None, Verdict.FAILS),
        ([1.0, 1.0], [0.0, 1e-7], Verdict.CORRECTED),
        ([1.0, 1.0], [0.0, 1.0], Verdict.FAILS),
        ([1.0, 1.0], [0.0, 2e-6], Verdict.UNDECIDED),
        ([1.0, 1.0], [0.0, np.nan], Verdict.FAILS),
    ],
)
def test_verdicts(printed, corrected, expected):
    assert decide(claim_with(), trials(printed, corrected)) is expected


def test_smallest_counterexample():
    found = smallest_counterexample(claim_with(), trials([0.0, 1e-5, np.nan, 1.0]))
    assert np.size(found.data["size"]) == 3
    assert smallest_counterexample(claim_with(), trials([0.0])) is None


# --- The command ---------------------------------------------------------------------------------


@pytest.fixture
def two_claims(monkeypatch):
    """The ledger of a claim that holds and one that fails, both quick."""
    chosen = {key: CLAIMS[key] for key in ("sandwich-bound", "erratum-6")}
    monkeypatch.setattr(ledger, "CLAIMS", chosen)
    monkeypatch.setattr(ledger, "draw_figures", lambda output, seed: None)
    return chosen


def test_command_writes_the_ledger(two_claims, tmp_path, capsys):
    arguments = ["propositions", "--output", str(tmp_path), "--instances", "6", "--seed", "3"]
    assert cli.main(arguments) == 0
    table = pd.read_csv(tmp_path / "ledger.csv")
    assert dict(zip(table["claim"], table["verdict"], strict=True)) == {
        "Sandwich": "holds",
        "Erratum E6": "fails",
    }
    assert (table["instances"] == 6).all()
    example = np.load(tmp_path / table.set_index("claim").loc["Erratum E6", "counterexample"])
    assert example["printed_deviation"] > 1e-7
    assert example["samples"].shape[1] == example["laplacian"].shape[0]
    text = (tmp_path / "ledger.md").read_text()
    assert "--instances 6 --seed 3" in text
    assert "[npz](counterexamples/erratum-6.npz)" in text
    assert json.loads((tmp_path / "provenance.json").read_text())["settings"]["seed"] == "3"
    assert "Sandwich" in capsys.readouterr().out


def test_command_fails_when_a_verdict_is_new(two_claims, tmp_path, monkeypatch, capsys):
    changed = replace(two_claims["sandwich-bound"], known=Verdict.FAILS)
    monkeypatch.setattr(ledger, "CLAIMS", {"sandwich-bound": changed})
    assert cli.main(["propositions", "--output", str(tmp_path), "--instances", "2"]) == 1
    assert "Sandwich holds; docs/propositions.md has it that it fails" in capsys.readouterr().err


def test_one_instance_is_refused(capsys):
    with pytest.raises(SystemExit):
        cli.main(["propositions", "--instances", "1"])
    assert "no verdict rests on one instance" in capsys.readouterr().err


def test_figures_are_drawn(tmp_path):
    ledger.draw_figures(tmp_path, 0)
    for name in ("values", "worst-case", "gamma"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
        assert (tmp_path / f"{name}.pdf").stat().st_size > 5_000
