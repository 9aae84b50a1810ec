"""Tables to learn from: smooth signals, with and without holes."""

import numpy as np

from wdro_cvx.generators import rbf_graph, smooth_signals


def signals(n=20, d=6, seed=0, noise=0.1):
    """Return signals like the paper's: smooth on an RBF graph, with noise."""
    rng = np.random.default_rng(seed)
    return smooth_signals(rbf_graph(d, rng), n, rng, noise=noise)


def with_holes(samples, share=0.1, seed=1):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(samples.shape) < share, np.nan, samples)


def plain(*arguments, **options):
    """Return the estimator of the paper's problem on the signals as they are, with all edges."""
    from solvers import RobustGraph

    settings = {"prior": "frobenius", "standardise": False, "moment": "sample", "edges": "all"}
    return RobustGraph(*arguments, **settings | options)
