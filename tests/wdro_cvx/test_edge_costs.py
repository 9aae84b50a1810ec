"""The judge's edge costs against exact fractions: never above, and only slightly below."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, random_nominal, seeds

from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.judging.edge_costs import safe_costs
from wdro_cvx.moments.points import TransportedMoment


def exact_costs(rows, rest):
    """``M_ii + M_jj - 2M_ij`` of rows and rest, edge by edge."""
    rows = [[Fraction(float(x)) for x in row] for row in rows]
    rest = [[Fraction(float(x)) for x in row] for row in rest]
    pairs = zip(*edge_index(len(rest)), strict=True)
    return [
        sum((row[i] - row[j]) ** 2 for row in rows) + rest[i][i] + rest[j][j] - 2 * rest[i][j]
        for i, j in pairs
    ]


@given(seeds, dimensions, st.sampled_from([0.0, 1e3]), st.booleans(), st.booleans())
def test_they_are_never_above_the_exact_ones(seed, d, level, exactly, shifted):
    """A common level of the vertices is where differences cancel."""
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, 6)
    rows = rng.standard_normal((6, d)) + level
    shift = rng.standard_normal((d, d))
    shift = (shift + shift.T) / 2 if shifted else np.zeros((d, d))
    moment = TransportedMoment(rows, shift=shift if shifted else None)
    costs, slack = safe_costs(nominal, moment, exactly)
    for found, room, exact in zip(costs, slack, exact_costs(rows, shift), strict=True):
        assert Fraction(float(found)) <= exact
        assert float(exact) - found <= 2 * room
    if level == 0.0:
        assert costs == pytest.approx([float(x) for x in exact_costs(rows, shift)], abs=1e-11)
