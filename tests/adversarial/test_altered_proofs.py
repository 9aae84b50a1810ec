"""Altered and broken proof files: the verifier proves nothing false, and does not crash or hang."""

import hashlib
import json
import os
import subprocess
import sys
import time
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from solvers import solve
from wdro_cvx import (
    AmbiguitySet,
    ChiSquareBall,
    CombinedSet,
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    KLBall,
    MahalanobisBall,
    MomentBall,
    Nominal,
    Singleton,
    WassersteinBall,
    judge,
    verify,
)
from wdro_cvx.ambiguity import MomentUncertainty, PairBall
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.priors import LogDegree
from wdro_cvx.proof import proof_document, proof_text

D = 4
ALTERED = 150  # files with a new digest, and as many with the old one
T = np.eye(D) + np.tri(D) / 4
SETS = [
    Singleton(), GaussianBall(0.3), WassersteinBall(0.8), MahalanobisBall.example(0.4, D),
    KLBall(0.3), ChiSquareBall(0.3), MomentBall(0.4), MomentBall(0.4, p=1.5),
    PairBall.example(0.3, D), MomentUncertainty.example(0.2, D),
    0.5 * MomentBall(0.4, p=1.5).in_coordinates(T) + PairBall.example(0.1, D),
    2.0 * KLBall(0.1) + WassersteinBall(0.3),
]  # fmt: skip


@cache
def documents() -> list[dict]:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((5, D)) * np.array([1.0, 2.0, 1.0, 0.5])
    upper = np.full((D, D), np.inf)
    upper[0, 1] = upper[1, 0] = 0.25
    bounds = EdgeBounds.from_matrices(np.zeros((D, D)), upper)
    found = []
    for k, ambiguity in enumerate(SETS):
        repeated = Nominal.from_samples(X[[0, 1, 1, 2, 3, 4]])
        weighted = Nominal.from_samples(X, [1.0, 2.0, 0.5, 1.0, 3.0])
        nominal = repeated if k % 2 or isinstance(ambiguity, KLBall) else weighted
        rules = [{"eta": 0.3}, {"eta": 0.3, "bounds": bounds}, {"prior": LogDegree(1.0, 0.3)}]
        rules.append({"eta": 0.3, "trace_penalty": 0.5})
        problem = GraphProblem(nominal, ambiguity, **rules[k % 4])
        answer = solve(problem, tol=1e-8)
        if k % 3 == 0:  # a graph that is not optimal leaves edges undecided
            blurred = 0.9 * np.asarray(answer.laplacian) + 0.1 * (np.eye(D) - 1 / D)
            answer = replace(answer, laplacian=blurred)
        found.append(proof_document(problem, answer, threshold=0.1))
    return found


# ------------------------------------------------------------------ alterations


def places(value: object, path: tuple = ()) -> list[tuple]:
    """Return the paths to all members and entries of a document."""
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [found for key, part in inside for found in [(*path, key), *places(part, (*path, key))]]


def holder(document: dict, path: tuple) -> dict | list:
    for key in path[:-1]:
        document = document[key]
    return document


def altered(document: dict, rng: np.random.Generator) -> dict:
    """Return a document with one change somewhere."""
    document = deepcopy(document)
    part = rng.choice(["problem", "graph", "certificate", "edges"])
    paths = places(document[part], (part,))
    lists = [path for path in paths if isinstance(holder(document, path)[path[-1]], list)]
    numbers = [path for path in paths if isinstance(holder(document, path)[path[-1]], int | float)]
    kind = rng.choice(["number", "number", "number", "order", "length", "repeat", "set"])
    if kind == "set":
        names = ["GaussianBall", "WassersteinBall", "KLBall", "ChiSquareBall"]
        document["problem"]["ambiguity"]["kind"] = str(rng.choice(names))
    elif kind == "number" or not lists:
        path = numbers[rng.integers(len(numbers))]
        value = holder(document, path)[path[-1]]
        if isinstance(value, int):
            changed = int(rng.choice([value + 1, max(value - 1, 0), 0, 7]))
        else:
            near = [np.nextafter(value, 9.0), value * 1.001, value * 0.999, value * 1.5]
            changed = float(rng.choice([*near, value / 2, -value, 0.0, value + 0.1, value - 1e-9]))
        holder(document, path)[path[-1]] = changed
    else:
        path = lists[rng.integers(len(lists))]
        entries = holder(document, path)[path[-1]]
        if kind == "order" and len(entries) > 1:
            i, j = rng.choice(len(entries), 2, replace=False)
            entries[i], entries[j] = entries[j], entries[i]
        elif kind == "repeat" and entries:
            entries.insert(0, deepcopy(entries[rng.integers(len(entries))]))
        elif entries:
            del entries[rng.integers(len(entries))]
        else:
            entries.append([0, 1])
    return document


def problem_of(statement: dict) -> GraphProblem:
    """Return the problem that a document states, from the text of the format alone."""
    data, ambiguity, prior = (statement[name] for name in ("data", "ambiguity", "prior"))
    table = np.array(data["table"], dtype=float)
    if data["counts"] is not None:
        table = np.repeat(table, data["counts"], axis=0)
    bounds = None
    if statement["bounds"] is not None:
        lower, upper = np.zeros((D, D)), np.full((D, D), np.inf)
        given = (statement["bounds"][name] for name in ("pairs", "lower", "upper"))
        for (i, j), low, high in zip(*given, strict=True):
            lower[i, j] = lower[j, i] = low
            upper[i, j] = upper[j, i] = np.inf if high is None else high
        bounds = EdgeBounds.from_matrices(lower, upper)
    chosen = set_of(ambiguity)
    nominal = Nominal.from_samples(table, data["weights"])
    if prior["kind"] == "log-degree":
        stated = LogDegree(prior["alpha"], prior["beta"], bounds=bounds)
        return GraphProblem(nominal, chosen, prior=stated)
    return GraphProblem(
        nominal, chosen, prior["eta"], prior["trace"], prior["trace_penalty"], bounds
    )


def set_of(stated: dict) -> AmbiguitySet:
    """Return the set that a document states."""
    name = stated["kind"]
    if name == "CombinedSet":
        return CombinedSet(1.0, tuple(map(set_of, stated["parts"])), tuple(stated["factors"]))
    if name == "SetInCoordinates":
        return set_of(stated["set"]).in_coordinates(stated["coordinates"])
    radius = stated["radius"]
    others = [stated[key] for key in stated if key not in ("kind", "radius")]
    if name == "Singleton":
        return Singleton()
    if name in ("MahalanobisBall", "PairBall"):
        kinds = {"MahalanobisBall": MahalanobisBall, "PairBall": PairBall}
        return kinds[name](radius, tuple(others[0]))
    if name == "MomentUncertainty":
        return MomentUncertainty(radius, stated["mean_radius"], stated["covariance_radius"])
    kinds = (GaussianBall, WassersteinBall, KLBall, ChiSquareBall, MomentBall)
    return {kind.__name__: kind for kind in kinds}[name](radius, *others)


def check_truth(document: dict, result: verify.Result) -> None:
    """Compare what is proved with the optimum, which the judge knows to a billionth."""
    problem = problem_of(document["problem"])
    verdict = judge(problem, solve(problem, tol=1e-9))
    assert verdict.gap <= 1e-8
    assert result.bound <= Fraction(verdict.value)
    assert result.value >= Fraction(verdict.bound)
    threshold = document["edges"]["threshold"]
    edges = verdict.edges
    claimed = {tuple(pair) for pair in document["edges"]["present"]}
    left = {tuple(pair) for pair in document["edges"]["undecided"]}
    for k, pair in enumerate(zip(*(ends.tolist() for ends in edge_index(D)), strict=True)):
        if pair in claimed or pair in result.present:
            assert edges.upper[k] >= threshold
        if pair not in claimed | left or pair not in {*result.present, *result.undecided}:
            assert edges.lower[k] < threshold


def test_the_documents_are_proofs_of_the_truth():
    for document in documents():
        check_truth(document, verify.prove(document))
    undecided = sum(len(document["edges"]["undecided"]) for document in documents())
    assert undecided > 3


def test_altered_files_with_a_new_digest_prove_the_truth_or_nothing(tmp_path):
    rng = np.random.default_rng(11)
    path = tmp_path / "proof.json"
    proved = refused = changed = 0
    for k in range(ALTERED):
        original = documents()[k % len(SETS)]
        document = altered(original, rng)
        path.write_text(proof_text(document), encoding="utf-8")
        try:
            result = verify.verify(str(path))
        except verify.RefusedError:
            refused += 1
            continue
        proved += 1
        changed += document["problem"] != original["problem"]
        check_truth(document, result)
    assert proved > 20
    assert refused > 20
    assert changed > 5


def test_altered_files_with_the_old_digest_are_refused(tmp_path):
    rng = np.random.default_rng(12)
    path = tmp_path / "proof.json"
    for k in range(ALTERED):
        content = proof_text(documents()[k % len(SETS)]).encode()
        place = int(rng.integers(len(content) - 1))  # the last byte is a line end
        kind = k % 4
        if kind == 0:
            other = bytes([(content[place] + int(rng.integers(1, 255))) % 256])
            content = content[:place] + other + content[place + 1 :]
        elif kind == 1:
            content = content[:place] + content[place + 1 :]
        elif kind == 2:
            content = content[:place] + b"1" + content[place:]
        else:
            content = content[:place]
        path.write_bytes(content)
        with pytest.raises(verify.RefusedError, match="digest"):
            verify.verify(str(path))


def test_certificates_from_far_outside_prove_the_truth():
    # Whatever the moment, the multipliers and the guesses are: they are drawn in or prove little.
    rng = np.random.default_rng(13)
    proved = 0
    for document in documents():
        for power in (-300, -9, 0, 9, 150):
            forged = deepcopy(document)
            certificate = forged["certificate"]
            for part in certificate.get("parts", [certificate]):
                for path in places(part["moment"] or {}):
                    values = holder(part["moment"], path)
                    if isinstance(values[path[-1]], float):
                        size = 10.0**power * rng.standard_normal()
                        values[path[-1]] = abs(size) if "weights" in path else size
                part["multiplier"] *= 10.0 ** int(rng.integers(-20, 20))
                part["top"] *= 1.0 + 1e-3 * rng.random()
            forged["edges"]["present"] = []
            forged["edges"]["undecided"] = [[i, j] for i in range(D) for j in range(i + 1, D)]
            try:
                result = verify.prove(forged)
            except verify.RefusedError:
                continue
            proved += 1
            check_truth(forged, result)
    assert proved > 30


def test_false_claims_of_edges_are_refused():
    every = [[i, j] for i in range(D) for j in range(i + 1, D)]
    for document in documents():
        proved = document["edges"]["present"], document["edges"]["undecided"]
        for present, undecided in (
            (every, []), ([], []), ([], proved[1]), (proved[0], [*proved[0], *proved[1]][:1]),
            ([*proved[0], *proved[1]] if proved[1] else every, []),
        ):  # fmt: skip
            edges = {"threshold": 0.1, "present": sorted(present), "undecided": sorted(undecided)}
            if (edges["present"], edges["undecided"]) == proved or len(proved[0]) == len(every):
                continue
            with pytest.raises(verify.RefusedError, match="edge"):
                verify.prove({**document, "edges": edges})
        weaker = {"threshold": 0.1, "present": [], "undecided": every}
        verify.prove({**document, "edges": weaker})


def test_graphs_outside_their_bounds_are_refused():
    document = deepcopy(documents()[1])
    every = [[i, j] for i in range(D) for j in range(i + 1, D)]
    bounds = document["problem"]["bounds"]
    assert (bounds["pairs"], bounds["upper"], document["problem"]["prior"]["trace"]) == (
        [[0, 1]], [0.25], 4.0,
    )  # fmt: skip
    document["certificate"] |= {"top": 2.0, "multiplier": 4.0}
    document["graph"] = {"pairs": every, "weights": [0.25, 0.25, 0.25, 0.25, 0.5, 0.5]}
    verify.establish(document)
    for weights, change in (
        ([0.5, 0.25, 0.25, 0.25, 0.25, 0.5], {}),
        ([np.nextafter(0.25, 1.0).item(), 0.25, 0.25, 0.25, 0.5, 0.5], {}),
        ([0.125, 0.375, 0.25, 0.25, 0.5, 0.5], {"lower": [0.1875]}),
        ([0.25, 0.25, 0.25, 0.25, 0.5, 0.5], {"others": "absent"}),
    ):
        document["problem"]["bounds"] = bounds | change
        document["graph"]["weights"] = weights
        with pytest.raises(verify.RefusedError, match="outside its bounds"):
            verify.establish(document)
    # Nor can any edge of these make up for a trace that is missing.
    document["problem"]["bounds"] = bounds | {
        "pairs": every,
        "lower": [0.0] * 6,
        "upper": [0.5] * 6,
    }
    document["graph"]["weights"] = [0.5, 0.5, 0.0, 0.0, 0.0, 0.0]
    with pytest.raises(verify.RefusedError, match="no edge can make up"):
        verify.establish(document)


# ------------------------------------------------------------------ broken files


def sealed(body: bytes) -> bytes:
    """Return the bytes of an object's members with the digest that belongs to them."""
    return body + b'"digest": "sha256:' + hashlib.sha256(body).hexdigest().encode() + b'"}\n'


def with_text(old: str, new: str) -> bytes:
    text = json.dumps(documents()[1])
    assert old in text
    return sealed(text.replace(old, new, 1)[:-1].encode() + b", ")


def with_change(*path: str | int, value: object) -> bytes:
    document = deepcopy(documents()[1])
    holder(document, path)[path[-1]] = value
    return proof_text(document).encode()


def without(*path: str | int) -> bytes:
    document = deepcopy(documents()[1])
    del holder(document, path)[path[-1]]
    return proof_text(document).encode()


def whole() -> bytes:
    return proof_text(documents()[1]).encode()


ETA = '"eta": 0.3'
HEAD = b'{"format": "wdro-cvx proof", "version": 1, '
TABLE = ("problem", "data", "table")
BROKEN = {
    "nothing": lambda: b"",
    "no JSON": lambda: b"digest",
    "cut": lambda: whole()[:-70],
    "cut in the digest": lambda: whole()[:-10],
    "a list": lambda: sealed(b'["digest", '),
    "only a digest": lambda: sealed(b"{"),
    "no members": lambda: sealed(HEAD),
    "another member that ends like a digest": lambda: sealed(HEAD + b'"x\\'),
    "two digests": lambda: sealed(HEAD + b'"digest": 1, '),
    "a digest inside": lambda: sealed(HEAD + b'"problem": {'),
    "deep lists": lambda: sealed(HEAD + b'"problem": ' + b"[" * 10**6 + b"]" * 10**6 + b", "),
    "deep objects": lambda: sealed(HEAD + b'"x": ' + b'{"a":' * 10**5 + b"1" + b"}" * 10**5),
    "a deep table": lambda: with_change(*TABLE, 0, 0, value=eval("[" * 80 + "]" * 80)),
    "NaN": lambda: with_text(ETA, '"eta": NaN'),
    "Infinity": lambda: with_text(ETA, '"eta": Infinity'),
    "-Infinity": lambda: with_text(ETA, '"eta": -Infinity'),
    "1e999": lambda: with_text(ETA, '"eta": 1e999'),
    "an exponent of a million digits": lambda: with_text(ETA, '"eta": 1e' + "9" * 10**6),
    "an integer of 400 digits": lambda: with_text(ETA, '"eta": ' + "9" * 400),
    "an integer of a million digits": lambda: with_text(ETA, '"eta": ' + "9" * 10**6),
    "a count of a million digits": lambda: with_text('"vertices": 4', '"vertices": ' + "4" * 10**6),
    "version 2": lambda: with_change("version", value=2),
    "version true": lambda: with_change("version", value=True),
    "version 1.0": lambda: with_change("version", value=1.0),
    "another format": lambda: with_change("format", value="wdro-cvx"),
    "no version": lambda: without("version"),
    "no edges": lambda: without("edges"),
    "no prior": lambda: without("problem", "prior"),
    "no kind": lambda: without("problem", "prior", "kind"),
    "a list for a kind": lambda: with_change("problem", "prior", "kind", value=["frobenius"]),
    "one member too many": lambda: with_change("extra", value=1),
    "one too many inside": lambda: with_change("problem", "prior", "alpha", value=1.0),
    "two members of the same name": lambda: with_text(ETA, '"eta": 0.3, "eta": 0.3'),
    "the same name, escaped": lambda: with_text(ETA, '"eta": 0.3, "\\u0065ta": 0.4'),
    "true for a number": lambda: with_change("problem", "ambiguity", "radius", value=True),
    "false for a vertex": lambda: with_change("graph", "pairs", 0, value=[False, 1]),
    "a string for a number": lambda: with_change("problem", "prior", "eta", value="0.3"),
    "null for a number": lambda: with_change(*TABLE, 0, 0, value=None),
    "null for a list": lambda: with_change("certificate", "nu", value=None),
    "a string for a list": lambda: with_change("certificate", "nu", value="0123"),
    "an object for a list": lambda: with_change("certificate", "nu", value={"0": 1.0}),
    "a number for an object": lambda: with_change("problem", "data", value=1.0),
    "no rows": lambda: with_change(*TABLE, value=[]),
    "rows of different lengths": lambda: with_change(*TABLE, 0, value=[1.0, 2.0]),
    "too few counts": lambda: with_change("problem", "data", "counts", value=[]),
    "a count of zero": lambda: with_change("problem", "data", "counts", value=[0, 1, 1, 1, 1]),
    "a huge count": lambda: with_change("problem", "data", "counts", value=[10**300, 1, 1, 1, 1]),
    "counts and weights": lambda: with_change("problem", "data", "weights", value=[1.0] * 5),
    "too few multipliers": lambda: with_change("certificate", "nu", value=[0.1]),
    "two vertices": lambda: with_change("problem", "vertices", value=2),
    "one vertex": lambda: with_change("problem", "vertices", value=1),
    "-4 vertices": lambda: with_change("problem", "vertices", value=-4),
    "4.0 vertices": lambda: with_change("problem", "vertices", value=4.0),
    "100,000 vertices": lambda: with_change("problem", "vertices", value=100_000),
    "a radius below zero": lambda: with_change("problem", "ambiguity", "radius", value=-0.1),
    "eta of zero": lambda: with_change("problem", "prior", "eta", value=0),
    "an unknown set": lambda: with_change("problem", "ambiguity", "kind", value="MyBall"),
    "a pair twice": lambda: with_change("graph", "pairs", value=[[0, 1], [0, 1]]),
    "a pair backwards": lambda: with_change("graph", "pairs", 0, value=[1, 0]),
    "a pair of one vertex": lambda: with_change("graph", "pairs", 0, value=[1, 1]),
    "a vertex that is none": lambda: with_change("graph", "pairs", 0, value=[0, 4]),
    "a pair of three": lambda: with_change("graph", "pairs", 0, value=[0, 1, 2]),
    "a weight below zero": lambda: with_change("graph", "weights", 0, value=-1e-300),
    "no graph": lambda: with_change("graph", value={"pairs": [], "weights": []}),
    "no guess of the eigenvalue": lambda: with_change("certificate", "top", value=0.0),
    "guesses that are too low": lambda: with_change(
        "certificate", value=documents()[1]["certificate"] | {"top": 1e-3, "multiplier": 0.0}
    ),
    "edges out of range": lambda: with_change("edges", "present", value=[[0, 9]]),
    "bounds without an end": lambda: with_change("problem", "bounds", "upper", value=[]),
    "bounds that contradict": lambda: with_change("problem", "bounds", "lower", value=[1.0]),
    "other bounds": lambda: with_change("problem", "bounds", "others", value="maybe"),
    "a byte order mark": lambda: sealed(b"\xef\xbb\xbf" + whole()[: whole().rindex(b'"digest"')]),
    "bytes that are no UTF-8": lambda: sealed(HEAD + b'"x": "\xff\xfe", '),
    "UTF-16": lambda: whole().decode().encode("utf-16"),
    "a zero byte": lambda: sealed(HEAD + b'\x00"x": 1, '),
}  # fmt: skip


def refusal(path: str, capsys) -> str:
    """Return the sentence with which a file is refused, having seen that there is but one."""
    start = time.process_time()
    assert verify.main([path]) == 1
    assert time.process_time() - start < 10.0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"{path}: not proved: ")
    assert printed.err.count("\n") == 1
    assert len(printed.err) < 600
    return printed.err


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_in_one_sentence(name, tmp_path, capsys):
    path = tmp_path / "proof.json"
    path.write_bytes(BROKEN[name]())
    assert refusal(str(path), capsys).endswith(".\n")


@pytest.mark.parametrize(
    ("which", "path", "value", "reason"),
    [
        (1, ("problem", "prior", "eta"), True, "eta must be a finite number"),
        (1, ("problem", "prior", "eta"), -0.0, "eta must not be -0.0, which is too small"),
        (1, ("graph",), {"pairs": [[0, 1], [0, 1]], "weights": [0.1, 1.9]}, "strictly increasing"),
        (1, ("graph",), {"pairs": [[2, 3], [0, 1]], "weights": [0.1, 1.9]}, "strictly increasing"),
        (1, ("problem", "bounds", "lower"), [1.0], "upper must not be 0.25, which is too small"),
        (2, ("certificate", "tau"), 1e-9, "tau must be 0 where the trace is free"),
        (2, ("certificate", "nu"), [-1.0, -1.0, -1.0, 0.0], "nu must be negative"),
        (2, ("certificate", "nu"), [-1.0, -1.0, -1.0, 1.0], "nu must be negative"),
        (2, ("graph",), {"pairs": [[0, 1]], "weights": [1.0]}, "vertex 2 has no edge"),
        (4, ("certificate", "moment", "weights"), [0.0] * 5, "must not all be zero"),
        (4, ("certificate", "moment", "weights"), [-1.0] * 5, "too small"),
        (4, ("problem", "data", "weights"), [1.0] * 5, "must be null where there are weights"),
        (10, ("problem", "ambiguity", "factors"), [0.5, -1.0], "factors must not be -1.0"),
        (10, ("problem", "ambiguity", "factors"), [0.5], "factors must be a list of 2"),
        (10, ("problem", "ambiguity", "parts"), [], "parts must have 1 to 20 entries"),
        (10, ("problem", "ambiguity", "parts", 1), {"kind": "CombinedSet"}, "kind must be"),
        (10, ("problem", "ambiguity", "parts", 0, "set", "kind"), "WassersteinBall", "members"),
        (10, ("certificate", "parts"), [], "certificate.parts must be a list of 2"),
        (10, ("certificate", "moment"), None, "certificate must have exactly the members parts"),
        (11, ("certificate", "parts", 0, "moment", "weights"), [0.0] * 5, "not all be zero"),
    ],
)
def test_the_reason_is_named(which, path, value, reason):
    document = deepcopy(documents()[which])
    holder(document, path)[path[-1]] = value
    with pytest.raises(verify.RefusedError, match=reason):
        verify.prove(document)


def test_weights_of_a_table_with_holes_must_be_one_per_row(tmp_path, capsys):
    document = deepcopy(documents()[0])
    table = document["problem"]["data"]["table"]
    holes = {
        "kind": "holes", "rows": table, "mean": [0.0] * D, "rest": [], "weights": None,
        "table": [[None, *row[1:]] if k == 0 else row for k, row in enumerate(table)],
    }  # fmt: skip
    path = tmp_path / "proof.json"
    document["problem"]["data"] = holes
    assert verify.establish(document).holes > 0.1
    for weights in ([], [1.0], [1.0] * 20, [0.0] * len(table)):
        holes["weights"] = weights
        path.write_text(proof_text(document), encoding="utf-8")
        assert "weights must" in refusal(str(path), capsys)
    holes |= {"weights": None, "table": [[None] * D] * 3}
    path.write_text(proof_text(document), encoding="utf-8")
    assert "no signal in common" in refusal(str(path), capsys)


def test_what_looks_odd_and_is_right_is_proved():
    document = deepcopy(documents()[2])  # logarithms, weighted signals
    weights = document["problem"]["data"]["weights"]
    document["problem"]["data"]["table"].append([9.0] * D)
    weights.append(-0.0)  # a signal that does not count
    document["certificate"]["moment"]["moves"].append([1e300] * D)
    assert verify.prove(document).value == verify.prove(documents()[2]).value
    long = json.loads(
        json.dumps(document).replace('"alpha": 1.0', '"alpha": 1.' + "0" * 10**6 + "1")
    )
    assert verify.prove(long).value == verify.prove(document).value


@pytest.mark.parametrize("turn", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
def test_absurd_exponents_end_soon(turn):
    """Each place has one of three values, by turns."""
    for document in documents():
        for number, path in enumerate(places(document), turn):
            if isinstance(holder(document, path)[path[-1]], float) and path[0] != "edges":
                changed = deepcopy(document)
                holder(changed, path)[path[-1]] = (1e308, 1e-308, 5e-324)[number % 3]
                start = time.process_time()
                try:
                    result = verify.establish(changed)
                    assert result.bound <= result.value
                except verify.RefusedError:
                    pass
                assert time.process_time() - start < 5.0


def test_what_cannot_be_read_is_refused(tmp_path, capsys):
    refusal(str(tmp_path), capsys)


@pytest.mark.parametrize("name", ["missing.json", "missing/proof.json"])
def test_a_missing_file_is_told(name, tmp_path, capsys):
    path = str(tmp_path / name)
    assert verify.main([path]) == 1
    assert capsys.readouterr() == ("", f"there is no file {path}\n")


def test_pipes_and_devices_are_refused_at_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (str(pipe), "/dev/zero"):
        found = subprocess.run(
            [sys.executable, "-I", "-S", verify.__file__, path],
            capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
        assert found.returncode == 1
        assert found.stdout == ""
        assert found.stderr == f"{path}: not proved: it is not a regular file.\n"


def test_problems_that_would_take_hours_are_refused():
    document = deepcopy(documents()[1])
    document["problem"]["vertices"] = 2000
    with pytest.raises(verify.RefusedError, match="list of 2000"):
        verify.establish(document)
    document["certificate"]["moment"]["spread"] = [[]] * 10_000
    with pytest.raises(verify.RefusedError, match="hours"):
        verify.establish(document)


def test_large_files_are_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(verify, "MOST_BYTES", 1000)
    path = tmp_path / "proof.json"
    path.write_bytes(whole())
    assert "larger than" in refusal(str(path), capsys)


def test_documents_in_memory_are_checked_as_files_are():
    for document in (None, [], 1, {}, {"format": verify.FORMAT}, documents()[1] | {"version": 2}):
        with pytest.raises(verify.RefusedError):
            verify.prove(document)
