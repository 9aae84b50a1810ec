"""A browser, and the page of a graph that was learned from a table with hostile names."""

import json

import numpy as np
import pandas as pd
import pytest
from browser import Watched, started_browser
from graph_pages import HOSTILE

from experiments.learn.graph import LearnOptions
from experiments.learn.run import run_learn
from wdro_cvx.generators import rbf_graph, smooth_signals


@pytest.fixture(scope="session")
def browser():
    with started_browser() as found:
        yield found


@pytest.fixture(scope="session")
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
def alone(browser, learned):
    """The page, opened for one test."""
    watched = Watched(browser, learned[1])
    yield watched
    watched.check()
    watched.context.close()


@pytest.fixture(scope="session")
def shared(browser, learned):
    watched = Watched(browser, learned[1])
    yield watched
    watched.context.close()


@pytest.fixture
def opened(shared):
    """The page as a link without a view shows it; kind and order of the table stay as they were."""
    shared.page.evaluate("""() => new Promise((done) => {
        addEventListener("hashchange", done, { once: true });
        location.hash = `other=${performance.now()}`;
    })""")
    yield shared
    shared.check()


@pytest.fixture(scope="session")
def bench(browser, learned):
    """A page whose judge can be given any data."""
    watched = Watched(browser, learned[1])

    def judged(given):
        # As its worker would: nothing but the page's own code touches the numbers.
        return watched.page.evaluate(
            "(text) => { const data = $data.decode(JSON.parse(text));"
            "return data.points.map((_, k) => {"
            "try { return $judge.judge($data.task(data, k)); }"
            "catch ({ message }) { return { refused: message }; } }); }",
            json.dumps(given).replace("Infinity", "1e999"),  # which is how JSON can say it
        )

    yield judged
    watched.check()
    watched.context.close()
