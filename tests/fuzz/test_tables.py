"""``wdro learn`` on mutated tables and extreme options."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from fuzzing import FUZZ, run_command
from hypothesis import event, given
from hypothesis import strategies as st

from experiments.learn.run import FILES
from solvers.selection.radius import RULES

GOOD_NAMES = [
    "a", "Oslo", "x y", "$x", "$a$", "a$b$c", "a_b^2", "<b>", "**bold**", "`code`", "[a](b)", "é",
    "\\alpha", "東京", "🙂", "a|b", "#1", "'", "%s", "{0}", "../x", "n" * 150, "_", "<script>",
    "&amp;",
]  # fmt: skip
NAMES = [
    *GOOD_NAMES, "NA", "null", "nan", "None", "=cmd()", "+1", "-b", "@c", "|", "e\u0301", "\ufeffq",
    "\u202eabc", "\x07", "\x1b[31m", "a\u2028b", "date", "lat", "1", "１２", "1_000", "0x10", "inf",
    "", " ", "n" * 300, '"', "a,b", "a;b", "C:\\x", "\x00",
]  # fmt: skip
CELLS = [
    "0", "1", "-1", "1.5", "2e3", "1e-300", "1e300", "1e308", "-1e308", "1e400", "1e-320", "nan",
    "NA", "", " ", "inf", "-inf", "1_000", "１２", "٣", "0x10", "1,5", "1.5.2", "1e", "e5", "+3",
    "--1",
    "∞", "2024-01-01", "12:30", "true", "None", "?", "-", "=1+1", "1 2", "9" * 400, ".5", "1d3",
]  # fmt: skip
SEPARATORS = [",", ";", "\t", "|"]


@st.composite
def tables(draw):
    """A table of random signals, with some of its names, cells and bytes exchanged."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d, n = draw(st.integers(2, 5)), draw(st.integers(2, 6))
    broken = draw(st.sampled_from(["not", "not", "cells", "lines", "bytes", "few", "all"]))
    if broken == "few":
        d, n = draw(st.integers(1, 2)), draw(st.integers(0, 2))
    scale = draw(st.sampled_from([1.0, 1.0, 1.0, 1e-3, 1e6, 1e-150, 1e150, 1e-310, 1e307, 0.0]))
    cells = [[repr(float(x)) for x in row] for row in scale * rng.standard_normal((n, d))]
    header = [f"v{i}" for i in range(d)]
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        header[draw(st.integers(0, d - 1))] = draw(st.sampled_from(NAMES) | st.text(max_size=5))
    if n and broken in ("cells", "all"):
        for _ in range(draw(st.integers(0, 3))):
            row = draw(st.integers(0, n - 1))
            cells[row][draw(st.integers(0, d - 1))] = draw(
                st.sampled_from(CELLS) | st.text(max_size=4)
            )
        if draw(st.booleans()):  # a constant column, or equal columns
            column = draw(st.integers(0, d - 1))
            for row in cells:
                row[column] = cells[0][0]
    separator = draw(st.sampled_from(SEPARATORS))
    lines = [separator.join(row) for row in (header, *cells)]
    if broken in ("lines", "all"):
        place = draw(st.integers(0, len(lines)))
        lines.insert(place, draw(st.sampled_from(["", separator * (d - 1), "#", "  ", *lines])))
    raw = draw(st.sampled_from(["\n", "\r\n", "\r"])).join(lines).encode("utf-8", "surrogatepass")
    if broken in ("bytes", "all"):
        place = draw(st.integers(0, len(raw)))
        raw = raw[:place] + draw(st.binary(max_size=4)) + raw[place + draw(st.integers(0, 8)) :]
    return draw(st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf", b"\xff\xfe"])) + raw


@st.composite
def whole_tables(draw):
    """A table that can be read, of signals that may be hard to learn from."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d, n = draw(st.integers(2, 6)), draw(st.integers(2, 8))
    signals = rng.standard_normal((n, d)) * rng.choice([1.0, 1e-8, 1e8], d)
    kind = draw(st.sampled_from(["plain", "plain", "level", "twins", "still", "sparse", "whole"]))
    if kind == "level":
        signals += draw(st.sampled_from([1e3, 1e9, -1e15]))
    elif kind == "twins":
        signals[:, 1] = signals[:, 0]
    elif kind == "still":
        signals[:, 0] = 3.0
    elif kind == "sparse":
        signals *= rng.random((n, d)) < 0.3
    elif kind == "whole":
        signals = np.round(signals)
    signals = signals * draw(st.sampled_from([1.0, 1.0, 1e-3, 1e-150, 1e150, 1e-300, 1e290]))
    names = draw(st.lists(st.sampled_from(GOOD_NAMES), min_size=d, max_size=d, unique=True))
    lines = [";".join(names), *(";".join(repr(float(x)) for x in row) for row in signals)]
    return "\n".join(lines).encode()


@st.composite
def places(draw):
    """A table of coordinates for v0, v1, …, often broken."""
    rows = [
        [f"v{i}", draw(st.sampled_from(["0", "10.5", "-90", "90", "91", "", "x", "1e5"])),
         draw(st.sampled_from(["0", "20", "-180", "360", "361", "NA", "1_0"]))]
        for i in range(5)
    ]  # fmt: skip
    header = draw(
        st.sampled_from(["name,lat,lon", "lat,lon", "name,lat", "a,latitude,lng", "", "\ufeff"])
    )
    text = "\n".join([header, *(",".join(row) for row in rows)])
    return draw(st.sampled_from([text, text, text, "", "\ufeff", "\n\n", header])).encode()


def numbers(*values):
    return st.sampled_from([str(value) for value in values])


# Extreme, and in a few cases beyond what is accepted.
OPTIONS = st.fixed_dictionaries(
    {"--radius": numbers(0.3, 0, 1e-6, 1e-3, 1, 30, 1e4, 1e6, *RULES)},
    optional={
        "--eta": numbers(0.1, 1e-6, 1e6, 1e-5, 10, "auto"),
        "--threshold": numbers(0, 1e-4, 0.5, 3, 1e9),
        "--ambiguity": st.sampled_from(
            ["wasserstein", "gaussian", "moment", "singleton", "kl", "chi-square"]
        ),
        "--stability": numbers(0, 2),
        "--block": numbers(1, 2),
        "--signals": st.sampled_from(["auto", "raw", "centred", "standardised"]),
        "--missing": st.sampled_from(["pairs", "error", "drop", "interpolate"]),
        "--vertices": st.sampled_from(["columns", "rows"]),
        "--decimal": st.sampled_from([".", ","]),
        "--na": st.sampled_from(["0", "-9999", "x", ""]),
    },
)
BAD_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "--radius": numbers(1e-300, 1e300, -1, "nan", "inf", "best", "1_0", ""),
        "--eta": numbers(1e-300, 1e300, 0, -1, "nan", "x"),
        "--threshold": numbers(-1, "nan", "1e400"),
        "--ambiguity": st.sampled_from(["magic", "", "mahalanobis"]),
        "--parameter": st.sampled_from(["p=1", "p", "p=x", "=1", ""]),
        "--stability": numbers(-1, "x", 1.5),
        "--block": numbers(0, -1, 100, "x"),
        "--missing": st.sampled_from(["guess"]),
        "--ignore": st.sampled_from(["v0", "nobody", "", "date"]),
    },
)


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Pictures of few points, pages of few graphs: that they are made is looked at."""
    monkeypatch.setattr("experiments.drawing.style._DPI", 20)
    monkeypatch.setattr("solvers.learned.grid._GRIDS", ((500, 3, 3),))


@FUZZ
@given(tables(), st.just({}) | BAD_OPTIONS, st.none() | places())
def test_a_mutated_table_is_learned_or_refused_with_a_sentence(tmp_path_factory, raw, bad, where):
    learn(tmp_path_factory, raw, {"--radius": "0.3", **bad}, where)


@FUZZ
@given(whole_tables(), OPTIONS)
def test_extreme_data_and_options_are_solved_or_refused(tmp_path_factory, raw, options):
    learn(tmp_path_factory, raw, options, None)


def learn(tmp_path_factory, raw, options, coordinates):
    """Run the command; check that all of its files are there and can be read, or none."""
    folder = tmp_path_factory.mktemp("learn")
    table, output = folder / "table.csv", folder / "out"
    table.write_bytes(raw)
    arguments = [f"{name}={value}" for name, value in options.items()]
    if coordinates is not None:
        (folder / "places.csv").write_bytes(coordinates)
        arguments.append(f"--coordinates={folder / 'places.csv'}")
    said = run_command(["learn", str(table), f"--output={output}", *arguments])
    event("learned" if said.code < 2 else "refused")
    if said.code == 2:
        assert not output.exists()
        return
    assert sorted(path.name for path in output.iterdir()) == sorted(set(FILES) - {"graph.pdf"})
    with np.load(output / "laplacian.npz") as saved:
        laplacian, names = saved["laplacian"], set(saved["names"].tolist())
    assert np.isfinite(laplacian).all()
    edges = pd.read_csv(output / "edges.csv", dtype={"source": str, "target": str})
    assert not edges.isna().any(axis=None)
    assert set(edges["source"]) | set(edges["target"]) <= names
    assert set(nx.read_graphml(output / "graph.graphml")) == names
    assert "<script" not in (output / "summary.md").read_text()
