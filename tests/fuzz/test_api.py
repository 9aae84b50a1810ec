"""The API with wrong types, extreme numbers and odd shapes: a value, or one of our errors.

Each case of ``CALLS`` is a function of drawn arguments; a new part of the API is one more entry.
"""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from fuzzing import FUZZ, call
from hypothesis import event, given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from solvers import RobustGraph, solve, solve_path
from solvers.selection.radius import ChoiceWarning
from solvers.selection.tables import TableWarning
from wdro_cvx import (
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    LogDegree,
    MomentBall,
    Nominal,
    Singleton,
    WassersteinBall,
    WdroError,
    judge,
    registered_ambiguities,
)

NUMBERS = st.sampled_from([
    0.3, 1, 0, 0.0, -1.0, 1e-3, 1e3, float("nan"), float("inf"), -float("inf"), None, "0.3", True,
    [0.3], (), 1j, b"1", {}, Fraction(1, 3), np.float32(0.5), np.int64(2), object(), Decimal("0.2"),
    np.True_, pd.NA, 10**400, 1e300, 1e-300, 1e150, 1e-150, np.array(0.4), np.array([0.4]),
])  # fmt: skip
#: From the smallest to the largest that a number can be, and what people use most.
SIZES = st.sampled_from([
    1.0, 0.3, 0.0, 1e-6, 1e6, 1e-30, 1e30, 1e-60, 1e60, 1e-114, 1e-150, 1e150, 1e-300, 1e300,
    5e-324, 1e307,
])  # fmt: skip
ARRAYS = st.sampled_from([
    np.eye(3), np.ones((4, 3)), np.zeros((4, 3)), np.ones((1, 3)), np.ones((3, 1)), np.ones(3),
    np.ones((0, 3)), np.ones((3, 0)), np.ones((2, 3, 3)), np.full((4, 3), np.nan), [[1, 2], [3]],
    [["a", "b"]], None, 3, "data", [[1, 2], [3, 5]], np.eye(3, dtype=bool), np.eye(3) * 1j,
    np.array([[1, None], [2, 3]], dtype=object), pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 0.0]}),
    np.random.default_rng(0).standard_normal((5, 3)), np.arange(12).reshape(4, 3),
])  # fmt: skip
EDGES = st.sampled_from([
    [], [(0, 1)], [(0, 0)], [(0, 3)], [(-1, 2)], [(0, 1, 2)], [0, 1], "ab", None, [("a", "b")],
    [(0, 1), (1, 0)], [(0.0, 1.0)], [(0, 1), (0, 2), (1, 2)], np.array([[0, 1]]), 5,
])  # fmt: skip
GOOD = np.random.default_rng(1).standard_normal((6, 3))


def problem(ball=GaussianBall, radius=0.3, eta=0.3, **options):
    return GraphProblem(Nominal.from_samples(GOOD), ball(radius), eta, **options)


def solved(name, scale, radius, eta):
    """Solve a problem with numbers of any size."""
    ambiguity = registered_ambiguities()[name].example(radius, 3)
    return solve(GraphProblem(Nominal.from_samples(GOOD * scale), ambiguity, eta), time_limit=2.0)


def solved_with_logarithms(name, alpha, beta, radius):
    ambiguity = registered_ambiguities()[name].example(radius, 3)
    prior = LogDegree(alpha, beta)
    return solve(GraphProblem(Nominal.from_samples(GOOD), ambiguity, prior=prior), time_limit=2.0)


def fitted(X, settings):
    """Fit the estimator; what it warns of itself is not a leak."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChoiceWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", TableWarning)
        return RobustGraph(**settings).fit(X)


SETTINGS = st.sampled_from(sorted(RobustGraph().get_params()))
WORDS = st.sampled_from([
    "auto", "cv", "bootstrap", "prediction", "reliability", "kl", "moment", "frobenius",
    "log-degree", "", "x", GaussianBall(0.0), EdgeBounds.from_edges(3, absent=[(0, 1)]),
])  # fmt: skip
SETS = st.sampled_from(sorted(set(registered_ambiguities()) - {"Singleton"}))

CALLS = {
    "solve any size": (solved, [SETS, SIZES, SIZES, SIZES]),
    "solve with logarithms of any size": (solved_with_logarithms, [SETS, SIZES, SIZES, SIZES]),
    "every set": (lambda name, r: registered_ambiguities()[name].example(r, 3), [SETS, NUMBERS]),
    "EdgeBounds": (EdgeBounds, [ARRAYS, ARRAYS]),
    "EdgeBounds.from_edges": (
        lambda d, edges: EdgeBounds.from_edges(d, absent=edges),
        [st.one_of(st.just(3), NUMBERS), EDGES],
    ),
    "bounds": (
        lambda edges: solve(problem(bounds=EdgeBounds.from_edges(3, absent=edges))),
        [EDGES],
    ),
    "LogDegree": (LogDegree, [NUMBERS, NUMBERS]),
    "tol": (lambda tol: solve(problem(), tol), [NUMBERS]),
    "time_limit": (lambda limit: solve(problem(), time_limit=limit), [NUMBERS]),
    "Nominal.from_samples": (Nominal.from_samples, [ARRAYS]),
    "Nominal.from_moments": (Nominal.from_moments, [ARRAYS, ARRAYS]),
    "GaussianBall": (GaussianBall, [NUMBERS]),
    "WassersteinBall": (WassersteinBall, [NUMBERS]),
    "MomentBall": (lambda radius, p: MomentBall(radius, p=p), [NUMBERS, NUMBERS]),
    "eta": (lambda eta: problem(eta=eta), [NUMBERS]),
    "trace": (lambda trace: problem(trace=trace), [NUMBERS]),
    "trace_penalty": (lambda penalty: problem(trace_penalty=penalty), [NUMBERS]),
    "RobustGraph": (
        lambda radius, name, value: fitted(GOOD, {"radius": radius} | {name: value}),
        [st.sampled_from([0.3, "bootstrap"]), SETTINGS, st.one_of(NUMBERS, WORDS)],
    ),
    "fit": (lambda X: fitted(X, {"radius": 0.3}), [ARRAYS]),
    "solve_path": (
        lambda radius, tol: solve_path(problem(), [radius], tol=tol),
        [NUMBERS, NUMBERS],
    ),
    "judge": (lambda matrix: judge(problem(), matrix), [ARRAYS]),
    "solve": (
        lambda samples: solve(GraphProblem(Nominal.from_samples(samples), Singleton(), 0.3)),
        [ARRAYS],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_returns_or_refuses_with_a_sentence(name, few_halves):
    function, strategies = CALLS[name]

    @FUZZ
    @given(st.tuples(*strategies))
    def check(arguments):
        found = call(function, *arguments)
        event("refused" if isinstance(found, WdroError) else "accepted")

    check()
