"""A browser, and the page of a graph that was learned from a table with hostile names."""

import numpy as np
import pandas as pd
import pytest
from browser import Watched, started_browser
from graph_pages import HOSTILE

from experiments.learn.graph import LearnOptions
from experiments.learn.run import run_learn
from wdro_cvx.generators import rbf_graph, smooth_signals


@pytest.fixture(scope="module")
def browser():
    with started_browser() as found:
        yield found


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learned")
    rng = np.random.default_rng(2)
    d = 16
    signals = smooth_signals(rbf_graph(d, rng), 40, rng, noise=0.1)
    names = HOSTILE + [f"station {i}" for i in range(d - len(HOSTILE))]
    pd.DataFrame(signals, columns=names).to_csv(folder / "signals.csv", index=False)
    places = pd.DataFrame(
        {
            "name": names,
            "lat": rng.uniform(40, 50, d),
            "lon": rng.uniform(5, 15, d),
            "height": np.arange(d),
            "country": ["no number", *range(1, d)],
        }
    )
    places.to_csv(folder / "places.csv", index=False)
    graph, _ = run_learn(
        folder / "signals.csv", LearnOptions(radius=0.3), folder / "out", folder / "places.csv"
    )
    return graph, folder / "out" / "graph.html"


@pytest.fixture
def opened(browser, learned):
    watched = Watched(browser, learned[1])
    yield watched
    watched.check()
    watched.context.close()
