import numpy as np
import pytest
from instances import random_laplacian, random_nominal

from wdro_cvx import Certificate, ProblemError, Singleton, registered_ambiguities
from wdro_cvx.graphs.laplacian import adjoint
from wdro_cvx.judging.edge_costs import safe_costs
from wdro_cvx.moments.composite import checked_copy
from wdro_cvx.moments.points import (
    DenseMoment,
    ReweighedMoment,
    TransportedMoment,
    as_moment,
    nuclear_size,
)

RNG = np.random.default_rng(0)
ROWS, SPREAD = RNG.standard_normal((3, 4)), RNG.standard_normal((2, 4))
SHIFT = np.diag([0.1, 0.2, 0.3, 0.4])
KINDS = [
    DenseMoment(ROWS.T @ ROWS),
    TransportedMoment(ROWS),
    TransportedMoment(ROWS, SPREAD),
    TransportedMoment(ROWS, SPREAD, SHIFT),
    ReweighedMoment(ROWS, np.array([0.2, 0.5, 0.3])),
]
NOMINAL = random_nominal(RNG, 4, 6)


@pytest.mark.parametrize("moment", KINDS, ids=lambda moment: type(moment).__name__)
class TestEveryKind:
    def test_rows_and_rest_make_up_the_matrix(self, moment):
        total = np.zeros((4, 4))
        if moment.rows is not None:
            total += moment.rows.T @ moment.rows
        if moment.rest is not None:
            total += moment.rest
        np.testing.assert_allclose(total, moment.second_moment, atol=1e-14)

    def test_scaling_is_that_of_the_data(self, moment):
        np.testing.assert_allclose(
            moment.scaled(3.0).second_moment, 9.0 * moment.second_moment, rtol=1e-13
        )

    def test_costs_are_those_of_the_matrix_and_never_more(self, moment):
        exact = adjoint(moment.second_moment)
        for exactly in (False, True):
            costs, slack = safe_costs(NOMINAL, moment, exactly)
            assert np.all(costs <= exact)
            np.testing.assert_allclose(costs, exact, rtol=1e-12)
            assert slack.max() < 1e-12

    def test_its_size_bounds_its_singular_values(self, moment):
        values = np.linalg.svd(moment.second_moment, compute_uv=False)
        assert values.sum() <= nuclear_size(moment) * (1 + 1e-12)


def test_half_way_to_the_centre():
    centre = TransportedMoment(np.zeros((3, 4)), shift=np.eye(4))
    half = TransportedMoment(ROWS, SPREAD, SHIFT).pulled(centre, 0.5)
    np.testing.assert_allclose(half.moved, ROWS / 2)
    np.testing.assert_allclose(half.spread, SPREAD / 2)
    np.testing.assert_allclose(half.shift, (SHIFT + np.eye(4)) / 2)
    weights = ReweighedMoment(ROWS, np.array([1.0, 0.0, 0.0]))
    equal = ReweighedMoment(ROWS, np.ones(3))
    np.testing.assert_allclose(weights.pulled(equal, 0.5).weights, [2 / 3, 1 / 6, 1 / 6])


@pytest.mark.parametrize("name", sorted(registered_ambiguities()))
def test_the_centre_is_the_nominal_moment_and_in_the_set(name):
    ambiguity = registered_ambiguities()[name].example(0.5, 4)
    centre = ambiguity.membership(NOMINAL).centre
    np.testing.assert_allclose(centre.second_moment, NOMINAL.second_moment, atol=1e-13)
    assert ambiguity.membership(NOMINAL).distance(centre) <= 1e-12


@pytest.mark.parametrize("name", sorted(registered_ambiguities()))
def test_an_explanation_is_the_matrix_and_proves_its_distance(name):
    ambiguity = registered_ambiguities()[name].example(0.5, 4)
    worst = ambiguity.worst_case(NOMINAL, random_laplacian(np.random.default_rng(1), 4))
    explained = ambiguity.membership(NOMINAL).explain(worst.second_moment)
    np.testing.assert_allclose(explained.second_moment, worst.second_moment, atol=1e-12)
    if not isinstance(ambiguity, Singleton):
        proved = ambiguity.membership(NOMINAL).distance(explained)
        assert proved <= ambiguity.radius * (1 + 1e-6)
        assert ambiguity.distance(NOMINAL, worst.second_moment) >= proved * (1 - 1e-9)


def test_a_moment_of_the_wrong_kind_proves_nothing():
    weights = ReweighedMoment(NOMINAL.samples * 2.0, np.ones(6))
    kinds = registered_ambiguities()
    assert kinds["KLBall"](0.5).membership(NOMINAL).distance(weights) == np.inf
    few = TransportedMoment(NOMINAL.factor[:2])
    assert kinds["WassersteinBall"](0.5).membership(NOMINAL).distance(few) == np.inf


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: DenseMoment(np.ones((2, 3))), "shape"),
        (lambda: as_moment(np.full((2, 2), np.nan)), "NaN"),
        (lambda: checked_copy("it", TransportedMoment(ROWS, np.full((1, 4), np.inf))), "NaN"),
        (lambda: TransportedMoment(ROWS, np.ones((1, 3))), "spread must be rows of 4 columns"),
        (lambda: TransportedMoment(ROWS, shift=np.eye(3)), "shift"),
        (lambda: ReweighedMoment(ROWS, np.array([1.0, -1.0, 1.0])), "nonnegative"),
        (lambda: ReweighedMoment(ROWS, np.zeros(3)), "nonnegative"),
        (lambda: ReweighedMoment(ROWS, np.ones(2)), "3 nonnegative"),
    ],
)
def test_bad_pieces_are_named(build, message):
    with pytest.raises(ProblemError, match=message):
        build()


def test_certificates_take_matrices_and_are_short_to_read():
    certificate = Certificate(np.eye(3), np.ones(3), 1.0)
    assert as_moment(certificate.moment) is certificate.moment
    assert len(repr(certificate)) < 80
    scaled = certificate.scaled(2.0)
    np.testing.assert_allclose(scaled.second_moment, 4 * np.eye(3))
    np.testing.assert_allclose(scaled.degree_multipliers, 4.0)


def test_a_spread_without_rows_is_none():
    """Couplings of factors of equal rank end with one; the judge refuses arrays of nothing."""
    moment = TransportedMoment(ROWS, np.empty((0, 4)))
    assert moment.spread is None
    copied = checked_copy("moment", moment)
    np.testing.assert_array_equal(copied.second_moment, ROWS.T @ ROWS)
