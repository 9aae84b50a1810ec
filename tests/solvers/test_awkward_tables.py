"""Tables as people bring them: each gives a sensible graph, or a sentence that helps."""

from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from solvers import RobustGraph
from solvers.selection.codes import describe_codes
from solvers.selection.preparation import in_unlike_units
from solvers.selection.tables import TableWarning
from wdro_cvx import DataError
from wdro_cvx.generators import rbf_graph, smooth_signals

# A table may deserve more than the sentence that a test looks for.
pytestmark = pytest.mark.filterwarnings("ignore::solvers.selection.tables.TableWarning")


def chain(n=100, d=8, seed=0):
    """Return signals on a path, with the names a, b, c, …"""
    rng = np.random.default_rng(seed)
    truth = nx.laplacian_matrix(nx.path_graph(d)).toarray().astype(float)
    level = rng.standard_normal((n, 1))  # what all vertices share
    return pd.DataFrame(smooth_signals(truth, n, rng) + level, columns=list("abcdefghij")[:d])


def pairs(graph):
    return {frozenset(edge) for edge in graph.to_networkx().edges}


def fit_and_note(table, match, **options):
    with pytest.warns(TableWarning, match=match):
        return RobustGraph(**options).fit(table)


PATH = {frozenset(pair) for pair in zip("abcdefg", "bcdefgh", strict=True)}


def test_noise():
    rng = np.random.default_rng(0)
    graph = fit_and_note(rng.standard_normal((100, 12)), "No structure found")
    assert len(graph.edges_) <= 3


def test_wine_in_raw_units():
    wine = load_wine(as_frame=True).data
    graph = fit_and_note(
        wine, "or one is faulty: 'proline' varies .* divided by their standard deviations"
    )
    assert 10 <= len(graph.edges_) <= 40
    assert frozenset(("total_phenols", "flavanoids")) in pairs(graph)
    scaled = (wine - wine.mean()) / wine.std()
    alone = RobustGraph().fit(scaled)
    assert pairs(alone) == pairs(graph)
    with pytest.warns(TableWarning, match="large numbers dominate .* Use standardise=True"):
        RobustGraph(standardise=False).fit(wine)


@pytest.mark.parametrize("factors", [[2.0, 0.5], [5.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]])
def test_columns_that_vary_unequally_are_standardised_with_a_remark(recwarn, factors):
    table = chain()
    scaled = table * np.resize(factors, table.shape[1])
    graph = RobustGraph().fit(scaled)
    assert not recwarn.list
    (note,) = [note for note in graph.graph_.notes if "vary unequally" in note]
    ratio = scaled.std().max() / scaled.std().min()
    assert f"{ratio:.3g} times as much" in note
    assert "standardise=False with X - X.mean() may give better edges" in note
    assert pairs(RobustGraph().fit(table / table.std())) == pairs(graph)
    for alike, options in ((table, {}), (scaled, {"standardise": True})):
        others = RobustGraph(**options).fit(alike).graph_
        assert not any("vary unequally" in note for note in others.notes)


@pytest.mark.parametrize(
    ("spread", "rows", "unlike"),
    [
        (np.r_[5.0, np.ones(39)], 100, True),  # one column in another unit
        (np.r_[3.0, np.ones(39)], 100, False),
        (np.exp(0.36 * np.resize([1.0, -1.0], 40)), 10_000, True),  # all a little
        (np.exp(0.34 * np.resize([1.0, -1.0], 40)), 10_000, False),
        (np.exp(0.40 * np.resize([1.0, -1.0], 40)), 10, False),  # ten rows vary by chance
        (np.r_[5.0, np.ones(39)], 9, False),
        (np.r_[0.0, np.ones(39)], 100, False),  # a column that never changes has no unit
    ],
)
def test_when_columns_are_in_unlike_units(spread, rows, unlike):
    assert in_unlike_units(spread, rows) is unlike


def test_deviations_that_graphs_have_by_themselves_decide_nothing():
    """Columns of one unit vary unequally too: neighbours of many vary less than leaves."""
    for graph in (nx.barabasi_albert_graph(20, 2, seed=1), nx.grid_2d_graph(4, 5)):
        truth = nx.laplacian_matrix(graph).toarray().astype(float)
        signals = smooth_signals(truth, 200, np.random.default_rng(1))
        spread = signals.std(axis=0)
        assert spread.max() > 1.5 * spread.min()
        assert RobustGraph().fit(signals).graph_.prepared == "centred"


def test_a_survey_with_an_identifier():
    table = chain()
    table.insert(0, "id", np.arange(1001, 1101))
    graph = fit_and_note(table, "'id' rises or falls by whole numbers with every row")
    assert len(PATH & pairs(graph)) >= 6
    assert not any("id" in pair for pair in pairs(graph))


def test_ordinary_tables_cause_no_warning(recwarn):
    assert len(PATH & pairs(RobustGraph().fit(chain(200)))) >= 6
    assert not recwarn.list


def test_likert_scales():
    answers = chain(300)
    table = pd.DataFrame(np.clip(np.round(answers + 3.0), 1, 5).astype(int))
    table.columns = answers.columns
    graph = RobustGraph().fit(table)
    assert len(PATH & pairs(graph)) >= 6


def test_constants():
    table = chain().assign(still=7.0)
    graph = fit_and_note(table, "'still' never changes, so it gets no edge; drop it")
    assert "still" in graph.graph_.isolated
    assert len(PATH & pairs(graph)) >= 6


def test_duplicates():
    table = chain()
    table["copy of a"] = table["a"]
    graph = fit_and_note(table, "'a' and 'copy of a' are copies of each other; drop one")
    assert frozenset(("a", "copy of a")) in pairs(graph)
    assert len(PATH & pairs(graph)) >= 5
    assert np.isfinite(graph.edges_["weight"]).all()


def test_stock_returns():
    """A market that all share, sectors and heavy tails."""
    rng = np.random.default_rng(0)
    market, sectors = rng.standard_t(4, (500, 1)), rng.standard_t(4, (500, 4))
    own = rng.standard_t(4, (500, 16))
    table = 0.01 * (market + np.repeat(sectors, 4, axis=1) + own)
    graph = RobustGraph().fit(table)
    same = np.repeat(np.arange(4), 4)
    inside = [same[i] == same[j] for i, j in graph.to_networkx().edges]
    assert np.mean(inside) >= 0.9
    assert len(inside) >= 12


def test_sixty_rows_of_two_thousand_genes():
    rng = np.random.default_rng(0)
    modules = rng.standard_normal((60, 100))
    table = np.repeat(modules, 20, axis=1) + rng.standard_normal((60, 2000))
    graph = RobustGraph().fit(table)
    inside = np.mean([i // 20 == j // 20 for i, j in graph.to_networkx().edges])
    assert inside >= 0.8  # of all pairs, 1 % are
    assert 1000 <= len(graph.edges_) <= 6000


def test_holes():
    table = chain(200)
    gaps = np.random.default_rng(1).random(table.shape) < 0.2
    graph = RobustGraph().fit(table.mask(gaps))
    assert len(PATH & pairs(graph)) >= 6
    filled = graph.transform(table.mask(gaps))
    np.testing.assert_array_equal(filled[~gaps], table.to_numpy()[~gaps])
    error = np.square(filled - table.to_numpy())[gaps].mean()
    plain = table.mask(gaps).mean().to_numpy()
    assert error < 0.5 * np.square(plain - table.to_numpy())[gaps].mean()


def test_opposites():
    table = chain()
    table.loc[:, ["c", "d"]] *= -1.0
    graph = fit_and_note(
        table, r"'b' and 'c' \(correlation -0\.77\) and 'd' and 'e' \(-0\.64\) vary in opposite "
    )  # fmt: skip
    assert frozenset("bc") not in pairs(graph)
    both = RobustGraph(absolute=True).fit(table)
    assert len(PATH & pairs(both)) >= 6
    assert both.signs_.tolist() in ([1, 1, -1, -1, 1, 1, 1, 1], [-1, -1, 1, 1, -1, -1, -1, -1])


@pytest.mark.parametrize("alike", [1, 2, 3, 4, 9])
def test_a_column_is_opposite_to_its_strongest_partner_which_may_have_others(alike):
    rng = np.random.default_rng(alike)
    level = rng.standard_normal((500, 1))
    same = level + 0.1 * rng.standard_normal((500, alike))
    other = -level + 0.2 * rng.standard_normal((500, 1))
    table = np.hstack([same, other, rng.standard_normal((500, 4))])
    fit_and_note(table, rf"^\d and {alike} vary in opposite directions .correlation -0.9")


def test_three_opposite_pairs_are_named_and_the_others_counted():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((400, 10))
    table[:, 1::2] = -table[:, ::2] + 0.3 * rng.standard_normal((400, 5))
    with pytest.warns(TableWarning) as said:
        RobustGraph().fit(table)
    (text,) = [str(note.message) for note in said if "opposite" in str(note.message)]
    assert text.count("(") == 3
    assert "and 2 more pairs vary in opposite directions" in text


def test_rows_that_sum_to_zero_have_no_opposites(recwarn):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        RobustGraph().fit(smooth_signals(rbf_graph(12, rng), 40, rng, noise=0.1))
    assert not recwarn.list


def test_a_table_without_structure_has_no_opposites():
    walks = np.cumsum(np.random.default_rng(0).standard_normal((300, 12)), axis=0)
    with pytest.warns(TableWarning) as said:
        RobustGraph().fit(walks)
    (note,) = said
    assert "No structure found" in str(note.message)
    few = np.random.default_rng(0).standard_normal((200, 2)) @ [[1.0, -1.0], [0.1, 0.2]]
    fit_and_note(few, "0 and 1 vary in opposite directions")  # the test leaves these out


def test_codes_for_missing_values():
    table = chain()
    table.loc[40:, "c"] = -999.0
    fit_and_note(table, r"^-999 is there 60 times .* use X.replace\(-999, np.nan\)")


def test_numbers_that_are_rare_or_near_or_not_the_least_are_no_codes():
    codes = np.full((100, 1), 5.0)
    codes[:40] = -999.0
    rest = np.random.default_rng(0).standard_normal((100, 3))
    assert describe_codes(np.hstack([codes, rest]))
    assert not describe_codes(np.hstack([np.where(np.arange(100)[:, None] < 38, 5.0, codes), rest]))
    assert not describe_codes(np.hstack([codes + 1.0, rest]))
    spread = np.where(codes > 0, 1e4 * np.abs(rest[:, :1]), codes)
    assert not describe_codes(np.hstack([spread, rest]))
    assert not describe_codes(np.hstack([codes, rest - 2000.0]))


def test_factor_data():
    """One cause of all columns: no pair is nearer than another."""
    rng = np.random.default_rng(0)
    table = rng.standard_normal((100, 1)) + rng.standard_normal((100, 12))
    graph = fit_and_note(table, "No structure found")
    assert len(graph.edges_) <= 3


def test_dates():
    table = chain().assign(day=pd.date_range("2026-01-01", periods=100))
    with pytest.raises(DataError, match=r"dates or times in column 'day'.*set_index"):
        RobustGraph().fit(table)
    with pytest.raises(DataError, match="dates or times in column 'day'"):
        RobustGraph().fit(table.assign(day=table["day"].astype(str)))


def test_text():
    with pytest.raises(DataError, match="text in column 'who', such as 'Ann'"):
        RobustGraph().fit(chain().assign(who="Ann"))


def test_long_format():
    table = chain().stack().reset_index()
    table.columns = ["day", "place", "value"]
    table["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(table["day"], "D")
    with pytest.raises(DataError, match=r"pivot\(index='day', columns='place', values='value'\)"):
        RobustGraph().fit(table)
    wide = table.pivot(index="day", columns="place", values="value")
    assert len(PATH & pairs(RobustGraph().fit(wide))) >= 6


def test_one_row():
    with pytest.raises(DataError, match=r"learning a graph needs 2 or more.*radius as a number"):
        RobustGraph().fit(chain(1))


def test_two_columns():
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((50, 1)) + 0.5 * rng.standard_normal((50, 2))
    assert len(RobustGraph().fit(shared).edges_) == 1
    apart = fit_and_note(rng.standard_normal((50, 2)), "No structure found")
    assert len(apart.edges_) == 0


def test_outlying_rows_and_cells():
    table = chain(200)
    rows = np.random.default_rng(1).choice(200, 20, replace=False)
    table.iloc[rows] *= 10.0
    assert len(PATH & pairs(RobustGraph().fit(table))) >= 6
    wrong = chain(200)
    wrong.iloc[::40, 3] = 1e4
    assert len(PATH & pairs(RobustGraph().fit(wrong))) >= 5


# --- What is no table of numbers ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda t: t.assign(t=pd.to_timedelta(range(100), unit="h")), "dates or times in column"),
        (lambda t: t.to_numpy() + 1j, r"^Complex data not supported; take real parts"),
        (lambda t: t.rename(columns={"b": "a"}), "unique column names; 'a' occurs more than once"),
        (lambda t: t.rename(columns={"b": 1}), "are not, such as 1. Use X.columns = "),
        (lambda t: t.replace(t.iloc[3, 2], np.inf), "infinity, in row 3 of column 'c'.*replace"),
        (lambda t: t.map("{:.2f}".format).replace(r"\.", ",", regex=True), "with decimal=','"),
    ],
)
def test_a_refusal_says_where_and_what_to_do(spoil, message):
    with pytest.raises(DataError, match=message):
        RobustGraph().fit(spoil(chain()))


@pytest.mark.parametrize(
    ("names", "first"),
    [
        (pd.MultiIndex.from_product([["N", "S"], list("pqrs")]), "N/p"),
        (range(1950, 1958), "1950"),
    ],
)
def test_names_that_are_no_text_are_kept(names, first):
    table = chain()
    table.columns = names
    graph = RobustGraph().fit(table)
    assert first in graph.to_networkx()
    assert set(graph.edges_["source"]) <= set(graph.graph_.names)


class DataArray:
    """As much of xarray's class as is used."""

    __module__ = "xarray.core.dataarray"

    def __init__(self, frame, ndim=2):
        self.frame, self.ndim, self.dims = frame, ndim, ("time", "place", "height")[:ndim]

    def to_pandas(self):
        return self.frame


def test_an_xarray_array_keeps_its_labels():
    graph = RobustGraph().fit(DataArray(chain()))
    assert list(graph.feature_names_in_) == list("abcdefgh")
    with pytest.raises(DataError, match="time, place, height; give a DataArray with two"):
        RobustGraph().fit(DataArray(chain(), 3))


# --- Columns that say little -------------------------------------------------------------------


class PolarsFrame(DataArray):
    """As much of polars' class as is used; it has columns, but no iloc."""

    __module__ = "polars.dataframe.frame"

    @property
    def columns(self):
        return list(self.frame.columns)


def test_a_polars_frame_keeps_its_names():
    frame = PolarsFrame(chain())
    graph = RobustGraph().fit(frame)
    assert list(graph.feature_names_in_) == frame.columns
    assert PATH & pairs(graph)
    assert graph.score(frame) == graph.score(chain())
    dated = PolarsFrame(chain().assign(day=pd.date_range("2026-01-01", periods=100)))
    with pytest.raises(DataError, match=r"dates or times in column 'day'"):
        RobustGraph().fit(dated)


def test_a_conversion_that_needs_another_package_says_so(monkeypatch):
    def refuse(self):
        raise ModuleNotFoundError("pyarrow is required")

    monkeypatch.setattr(PolarsFrame, "to_pandas", refuse)
    with pytest.raises(DataError, match=r"cannot be converted to pandas .pyarrow is required"):
        RobustGraph().fit(PolarsFrame(chain()))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (type("LazyFrame", (), {"collect": None})(), r"call .collect\(\) first"),
        (chain().astype(pd.SparseDtype(float, 0.0)), r"pass X.sparse.to_dense\(\)"),
        ({"a": [1.0, 2.0], "b": [2.0, 1.0]}, r"X is a dict; pass pd.DataFrame\(X\)"),
        ([{"a": 1.0, "b": 2.0}, {"a": 2.0}], r"list of dicts; pass pd.DataFrame\(X\)"),
        ("table.csv", r"'table.csv'.*pass pd.read_csv\(path\)"),
        (Path("table.csv"), r"'table.csv'.*pass pd.read_csv\(path\)"),
    ],
)
def test_what_is_nearly_a_table_is_told_how_to_become_one(table, message):
    with pytest.raises(DataError, match=message):
        RobustGraph().fit(table)


def test_clipped_cells_are_counted_by_column():
    table = chain(200)
    wrong = table.copy()
    wrong.iloc[::40, 3], wrong.iloc[7, 5] = 1e4, -1e4
    wrong.iloc[9, 3] = np.nan
    middle = wrong.median()
    far = ((wrong - middle).abs() > 3.0 * 1.4826 * (wrong - middle).abs().median()).sum()
    said = RobustGraph(moment="clipped").fit(wrong).graph_.prepared
    assert f"clipped ({far.sum()} cells: {far['d']} in 'd'" in said
    assert f"{far['f']} in 'f'" in said
    even = pd.DataFrame(np.tile([[1.0, 2.0, 3.0], [2.0, 3.0, 1.0]], (9, 1)), columns=list("abc"))
    even.iloc[0] = [1.5, 2.5, 2.0]
    assert "clipped (no cell)" in RobustGraph(moment="clipped").fit(even).graph_.prepared
    assert "cell" not in RobustGraph(moment="sample").fit(wrong).graph_.prepared


def test_columns_that_are_mostly_missing_or_mostly_zero():
    rng = np.random.default_rng(0)
    table = chain()
    table.loc[5:, "c"] = np.nan
    fit_and_note(table, r"'c': more than 90% of the cells are missing \(5 are not\)")
    rare = chain().assign(rare=rng.random(100) < 0.05)
    fit_and_note(rare, "'rare': more than 90% of the cells are the same")


def test_equal_rows_are_constant_columns_and_no_copies():
    table = np.tile(np.random.default_rng(1).standard_normal(6), (30, 1))
    with pytest.warns(TableWarning) as said:
        graph = RobustGraph().fit(table)
    text = " ".join(str(note.message) for note in said)
    assert "0, 1, 2, 3, 4 and 1 more columns never change, so they get no edge" in text
    assert "copies" not in text
    assert not graph.support_.any()


@pytest.mark.parametrize("change", [lambda t: t + 1e9, lambda t: 1e-12 * t, lambda t: 1e160 * t])
def test_level_and_scale_do_not_matter(change):
    assert pairs(RobustGraph().fit(change(chain()))) == PATH


def test_shares_of_a_total():
    parts = np.exp(chain(150))
    graph = RobustGraph().fit(100 * parts.div(parts.sum(axis=1), axis=0))
    assert len(PATH & pairs(graph)) >= 6
    assert len(graph.edges_) <= 10


def test_two_groups_of_rows():
    table = chain(200)
    table.iloc[:100] += [5.0, 5.0, 5.0, 5.0, 0.0, 0.0, 0.0, 0.0]
    graph = RobustGraph().fit(table)
    assert pairs(graph) == PATH - {frozenset("de")}  # the groups differ there
