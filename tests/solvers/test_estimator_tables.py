"""Tables as people have them: any unit, holes, weights, knowledge of edges."""

import numpy as np
import pandas as pd
import pytest
from signal_tables import plain, signals, with_holes

from wdro_cvx import (
    DataError,
    EdgeBounds,
    MomentBall,
    Status,
    judge,
)
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.metrics import mcc

ETA = 0.05  # not the default


@pytest.mark.parametrize("ambiguity", ["wasserstein", "moment", MomentBall(0.0, p=1.0)])
@pytest.mark.parametrize("factor", [1e-6, 1e4, 1e120])
def test_the_graph_does_not_depend_on_the_unit(ambiguity, factor):
    samples = signals()
    first = plain(0.3, ambiguity=ambiguity).fit(samples)
    second = plain(0.3, ambiguity=ambiguity).fit(factor * samples + 5.0 * factor)
    assert second.unit_ == pytest.approx(factor * first.unit_)
    # A gap of 1e-6 in the value leaves about 1e-3 in the graph.
    np.testing.assert_allclose(second.laplacian_, first.laplacian_, atol=5e-3)


def test_units_convert_as_the_documents_say():
    """Radius and eta of the data's own unit are those of one times unit_ and unit_ squared."""
    samples = 250.0 * signals()
    own = plain(0.3, eta=ETA).fit(samples)
    raw = plain(0.3 * own.unit_, eta=ETA * own.unit_**2, unit=1.0).fit(samples)
    assert raw.value_ == pytest.approx(own.value_ * own.unit_**2, rel=2e-6)
    np.testing.assert_allclose(raw.laplacian_, own.laplacian_, atol=5e-3)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"radius": "bootstrap"},
        pytest.param({"eta": "auto"}, marks=pytest.mark.slow),
        {"ambiguity": "moment"},
        {"radius": 0, "ambiguity": "singleton"},
    ],
)
@pytest.mark.filterwarnings("ignore::solvers.selection.radius.ChoiceWarning")
def test_tables_with_holes_are_learned_and_judged(settings):
    samples = with_holes(signals(60))
    graph = plain(**settings).fit(samples)
    assert graph.status_ is Status.SOLVED
    assert judge(graph.problem_, graph.laplacian_, graph.certificate_).solved(1e-6)
    assert 0.0 < graph.moved_ < 0.1
    assert 0.0 < graph.score(samples) < 1.0
    assert graph.stability(samples, 3).max() == 1.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::solvers.selection.radius.ChoiceWarning")
@pytest.mark.parametrize("ambiguity", ["wasserstein", "moment", "singleton"])
def test_holes_cost_little_where_signals_are_many(ambiguity):
    """10 % of the cells missing, N = 200: the paper's graphs are found about as well."""
    differences = []
    # Choosing a radius takes a second where the set is this one.
    for seed in range(6 if ambiguity == "wasserstein" else 8):
        rng = np.random.default_rng(seed)
        truth = rbf_graph(20, rng)
        samples = smooth_signals(truth, 200, rng, noise=0.1)
        whole, holes = (
            mcc(plain(ambiguity=ambiguity).fit(x).laplacian_, truth)
            for x in (samples, with_holes(samples, seed=seed))
        )
        differences.append(whole - holes)
    assert abs(np.mean(differences)) <= 0.03


def test_pairs_that_share_few_rows_are_distrusted_more():
    samples = signals()
    gappy = samples.copy()
    gappy[: len(samples) // 2, 0] = np.nan
    fit = plain(0.3, ambiguity="pair").fit(gappy)
    scales = np.array(fit.ambiguity_.scales)
    first = samples.shape[1] - 1  # pairs of the first column, which has half of its cells
    np.testing.assert_allclose(
        scales[:first], np.sqrt(len(samples) / (len(samples) + 1) * 2), rtol=0.1
    )
    assert (scales[first:] == 1.0).all()
    assert fit.status_ is Status.SOLVED
    assert plain(0.3, ambiguity="pair").fit(samples).ambiguity_.scales == ()
    for radius in ("bootstrap", "prediction"):
        assert plain(radius, ambiguity="pair").fit(gappy).status_ is Status.SOLVED


def test_columns_with_too_little_in_common_are_named():
    table = pd.DataFrame(signals(), columns=list("abcdef"))
    table.loc[:9, "b"] = np.nan
    table.loc[9:, "e"] = np.nan
    with pytest.raises(DataError, match="2 rows in common; b and e have fewer"):
        plain(0.1).fit(table)


def test_folds_and_resamples_with_too_little_in_common_are_named():
    table = pd.DataFrame(signals(), columns=list("abcdef"))
    table.loc[2:10, "b"] = np.nan
    table.loc[11:, "e"] = np.nan  # both are in rows 0 and 1, which the first fold leaves out
    fit = plain(0.1).fit(table)
    with pytest.raises(
        DataError, match=r"^A resample, \d+ of 20 rows, .* b and e have fewer.* res"
    ):
        fit.stability(table, resamples=5)
    for options in ({"radius": "prediction"}, {"radius": 0.1, "eta": "auto"}):
        said = r"^A fold, 16 of 20 rows to learn from, .* b and e have fewer.* radius='auto'"
        with pytest.raises(DataError, match=said):
            plain(**options).fit(table)
    assert plain("auto").fit(table).radius_ > 0.0
    with pytest.raises(DataError, match=r"^columns must have at least 2 rows in common"):
        plain("prediction").fit(table[2:])


def test_weights_are_repetitions_in_fit_and_score():
    samples = signals()
    counts = np.random.default_rng(2).integers(0, 3, 20)
    weighted = plain(0.3).fit(samples, sample_weight=counts)
    repeated = plain(0.3).fit(np.repeat(samples, counts, axis=0))
    assert weighted.unit_ == pytest.approx(repeated.unit_)
    np.testing.assert_allclose(weighted.laplacian_, repeated.laplacian_, atol=5e-3)
    assert weighted.score(samples, sample_weight=counts) == pytest.approx(
        weighted.score(np.repeat(samples, counts, axis=0))
    )
    with pytest.raises(DataError, match="one entry for each of the 20"):
        plain(0.3).fit(samples, sample_weight=[1.0])


def test_bounds_by_the_names_of_the_columns():
    table = pd.DataFrame(signals(), columns=list("abcdef"))
    free = plain(0.1).fit(table).to_networkx()
    gone = max(free.edges(data="weight"), key=lambda edge: edge[2])[:2]
    bounds = EdgeBounds.from_edges(list(table), absent=[gone])
    graph = plain(0.1, bounds=bounds).fit(table)
    assert not graph.to_networkx().has_edge(*gone)
    assert judge(graph.problem_, graph.laplacian_, graph.certificate_).solved(1e-6)
