"""Proof files as they are written: complete, without loss, and for the right problem."""

import json
import os
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import signal_tables
from scipy import sparse

from solvers import solve
from wdro_cvx import (
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    KLBall,
    Nominal,
    Singleton,
    Status,
    WassersteinBall,
    verify,
)
from wdro_cvx.ambiguity import MomentUncertainty, PairBall
from wdro_cvx.errors import ProblemError, SolverError
from wdro_cvx.moments.holes import nominal_with_holes
from wdro_cvx.priors import DegreePrior, LogDegree, TraceRule
from wdro_cvx.proof import proof_document, proof_text, save_proof


def signals(d: int = 6, n: int = 15, seed: int = 0) -> np.ndarray:
    return signal_tables.signals(n, d, seed)


BALL = WassersteinBall(0.5)


def problem_of(X: np.ndarray, ambiguity=BALL, **keywords) -> GraphProblem:
    return GraphProblem(Nominal.from_samples(X), ambiguity, **({"eta": 0.3} | keywords))


def test_a_solution_writes_a_proof_that_is_verified(tmp_path):
    problem = problem_of(signals())
    answer = solve(problem, tol=1e-8)
    path = answer.save_proof(tmp_path / "new" / "proof.json", problem)
    assert path == tmp_path / "new" / "proof.json"
    result = verify.verify(str(path))
    assert result.bound <= Fraction(answer.value) * (1 + Fraction(1, 10**12))
    assert float(result.value - result.bound) <= 1e-8 * answer.value
    assert [entry.name for entry in path.parent.iterdir()] == ["proof.json"]


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    problem = problem_of(signals())
    answer = solve(problem, tol=1e-6)
    path = tmp_path / "proof.json"
    save_proof(path, problem, answer)
    before = path.read_bytes()

    def fails(self: Path, text: str, encoding: str) -> None:
        self.write_bytes(text.encode()[:1000])
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_text", fails)
    with pytest.raises(OSError, match="no space"):
        save_proof(path, problem_of(signals(seed=1)), solve(problem_of(signals(seed=1)), tol=1e-6))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["proof.json"]


def test_nothing_is_written_where_there_is_no_proof(tmp_path):
    problem = problem_of(signals(), prior=LogDegree(1.0, 0.3), eta=None)
    answer = solve(problem, tol=1e-6)
    empty = replace(answer, laplacian=np.zeros_like(answer.laplacian))
    with pytest.raises(SolverError, match="no edge"):
        save_proof(tmp_path / "proof.json", problem, empty)
    assert not list(tmp_path.iterdir())


def test_numbers_are_written_without_loss(tmp_path):
    X = signals() * np.logspace(-8, 8, 6) + 1 / 3  # at ±9 the BLAS decides whether it is solved
    X[0, 0] = 5e-324
    nominal = Nominal.from_samples(X, weights=np.geomspace(1e-9, 1e9, len(X)))
    problem = GraphProblem(nominal, GaussianBall(1 / 3), eta=0.1 + 0.2, trace=np.pi)
    answer = solve(problem, tol=1e-3)
    assert answer.status is Status.SOLVED  # the search for τ once stalled on columns so far apart
    document = proof_document(problem, answer)
    path = tmp_path / "proof.json"
    path.write_text(proof_text(document), encoding="utf-8")
    assert verify.read(str(path)) == document
    data = document["problem"]["data"]
    np.testing.assert_array_equal(data["table"], nominal.table)
    np.testing.assert_array_equal(data["weights"], nominal.weights)
    assert document["problem"]["ambiguity"]["radius"] == 1 / 3
    assert document["problem"]["prior"]["eta"] == 0.1 + 0.2
    assert document["problem"]["prior"]["trace"] == np.pi


@dataclass(frozen=True)
class MyBall(WassersteinBall):
    """A set of somebody else."""


def test_unknown_sets_and_priors_are_refused_by_name(tmp_path):
    problem = problem_of(signals())
    answer = solve(problem, tol=1e-3)
    object.__setattr__(problem, "ambiguity", MyBall(0.5))
    with pytest.raises(ProblemError, match="this problem has MyBall"):
        answer.save_proof(tmp_path / "proof.json", problem)
    # A prior with squares and logarithms at once is none that the format can state.
    both = DegreePrior(0.3, 0.7, 0.2, TraceRule(6.0, np.inf))
    problem = GraphProblem(Nominal.from_samples(signals()), Singleton(), prior=both)
    with pytest.raises(ProblemError, match="Frobenius and LogDegree; this problem has DegreePrior"):
        answer.save_proof(tmp_path / "proof.json", problem)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("bounded", [False, True])
def test_sparse_and_dense_laplacians_prove_the_same(bounded):
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6) if (i + j) % 2 or j == i + 2]
    bounds = EdgeBounds.from_list(6, pairs, lower=0.0, upper=1.0) if bounded else None
    problem = problem_of(signals(), bounds=bounds)
    dense = solve(problem, tol=1e-8)
    thin = replace(dense, laplacian=sparse.csr_array(np.asarray(dense.laplacian)))
    results = [verify.prove(proof_document(problem, answer)) for answer in (dense, thin)]
    assert results[0].present == results[1].present
    assert results[0].digest == results[1].digest
    values = [float(result.value) for result in results]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    assert all(float(result.value - result.bound) < 1e-7 * values[0] for result in results)


@pytest.mark.parametrize("ambiguity", [WassersteinBall(1.5), KLBall(0.3), Singleton()], ids=repr)
def test_repeated_rows_are_merged(ambiguity):
    X = signals(n=7)
    repeated = X[[0, 1, 2, 3, 4, 5, 6, 0, 0, 3]]
    problem = problem_of(repeated, ambiguity)
    answer = solve(problem, tol=1e-8)
    document = proof_document(problem, answer)
    data = document["problem"]["data"]
    assert len(data["table"]) == 7
    assert sorted(data["counts"]) == [1, 1, 1, 1, 1, 2, 3]
    result = verify.prove(document)
    assert float(result.value - result.bound) <= 2e-8 * float(result.value)
    # Written out, the problem is the same.
    document["problem"]["data"] |= {"table": repeated.tolist(), "counts": None}
    document["certificate"]["moment"] = None if isinstance(ambiguity, Singleton) else {
        "weights": [1.0] * 10
    } if isinstance(ambiguity, KLBall) else {"moves": [[0.0] * 6] * 10, "spread": []}  # fmt: skip
    assert verify.establish(document).value == pytest.approx(float(result.value), rel=1e-13)


def test_a_factored_table_needs_no_more_spread_than_it_has():
    # With more samples than vertices a certificate moves rows of a triangular factor.
    for n in (4, 6, 7, 30, 80):
        problem = problem_of(signals(n=n), WassersteinBall(0.5))
        result = verify.prove(proof_document(problem, solve(problem, tol=1e-9)))
        assert float(result.value - result.bound) <= 2e-9 * float(result.value)


@pytest.mark.parametrize("complete", [False, True])
def test_rows_that_stand_for_a_table_with_holes_are_what_the_proof_is_about(complete):
    X = signals()
    if not complete:
        X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    nominal = nominal_with_holes(X)[0]
    for ambiguity in (GaussianBall(0.3), MomentUncertainty.example(0.1, 6), PairBall(0.2)):
        problem = GraphProblem(nominal, ambiguity, eta=0.3)
        document = proof_document(problem, solve(problem, tol=1e-7))
        data = document["problem"]["data"]
        assert data["kind"] == "holes"
        np.testing.assert_array_equal(data["rows"], nominal.factor)
        np.testing.assert_array_equal(data["mean"], nominal.mean)
        assert verify.prove(document).holes < 1e-13


def test_the_edges_in_a_document_are_those_that_are_proved():
    problem = problem_of(signals())
    for tol in (1e-1, 1e-8):
        document = proof_document(problem, solve(problem, tol=tol), threshold=0.01)
        result = verify.establish(document)
        assert document["edges"]["present"] == [list(pair) for pair in result.present]
        assert document["edges"]["undecided"] == [list(pair) for pair in result.undecided]
        assert json.loads(proof_text(document))["edges"]["threshold"] == 0.01
    with pytest.raises(SolverError, match="threshold"):
        proof_document(problem, solve(problem, tol=1e-2), threshold=-1.0)
