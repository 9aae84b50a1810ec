"""The API with wrong types, extreme numbers and odd shapes: a value, or a sentence of ours.

Each case of ``CALLS`` is a function of drawn arguments; a new part of the API is one more entry.
"""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from fuzzing import FUZZ, call
from hypothesis import event, given
from hypothesis import strategies as st

from solvers import solve
from wdro_cvx import (
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    Singleton,
    WassersteinBall,
    WdroError,
    judge,
)

NUMBERS = st.sampled_from([
    0.3, 1, 0, 0.0, -1.0, 1e-3, 1e3, float("nan"), float("inf"), -float("inf"), None, "0.3", True,
    [0.3], (), 1j, b"1", {}, Fraction(1, 3), np.float32(0.5), np.int64(2), object(),
])  # fmt: skip
ARRAYS = st.sampled_from([
    np.eye(3), np.ones((4, 3)), np.zeros((4, 3)), np.ones((1, 3)), np.ones((3, 1)), np.ones(3),
    np.ones((0, 3)), np.ones((3, 0)), np.ones((2, 3, 3)), np.full((4, 3), np.nan), [[1, 2], [3]],
    [["a", "b"]], None, 3, "data", [[1, 2], [3, 5]], np.eye(3, dtype=bool), np.eye(3) * 1j,
    np.array([[1, None], [2, 3]], dtype=object), pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 0.0]}),
    np.random.default_rng(0).standard_normal((5, 3)), np.arange(12).reshape(4, 3),
])  # fmt: skip
GOOD = np.random.default_rng(1).standard_normal((6, 3))


def problem(ball=GaussianBall, radius=0.3, eta=0.3, **options):
    return GraphProblem(Nominal.from_samples(GOOD), ball(radius), eta, **options)


CALLS = {
    "Nominal.from_samples": (Nominal.from_samples, [ARRAYS]),
    "Nominal.from_moments": (Nominal.from_moments, [ARRAYS, ARRAYS]),
    "GaussianBall": (GaussianBall, [NUMBERS]),
    "WassersteinBall": (WassersteinBall, [NUMBERS]),
    "MomentBall": (lambda radius, p: MomentBall(radius, p=p), [NUMBERS, NUMBERS]),
    "eta": (lambda eta: problem(eta=eta), [NUMBERS]),
    "trace": (lambda trace: problem(trace=trace), [NUMBERS]),
    "trace_penalty": (lambda penalty: problem(trace_penalty=penalty), [NUMBERS]),
    "judge": (lambda matrix: judge(problem(), matrix), [ARRAYS]),
    "solve": (
        lambda samples: solve(GraphProblem(Nominal.from_samples(samples), Singleton(), 0.3)),
        [ARRAYS],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_returns_or_refuses_with_a_sentence(name):
    function, strategies = CALLS[name]

    @FUZZ
    @given(st.tuples(*strategies))
    def check(arguments):
        found = call(function, *arguments)
        event("refused" if isinstance(found, WdroError) else "accepted")

    check()
