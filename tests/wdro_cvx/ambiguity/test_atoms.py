"""``Atoms``, the structure that sets of reweighed samples declare."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import random_laplacian, random_nominal, seeds

from wdro_cvx import GaussianBall, KLBall, Nominal, check_ambiguity, registered_ambiguities
from wdro_cvx.ambiguity import Atoms, ReweightingBall

SETS = [
    kind
    for kind in registered_ambiguities().values()
    if isinstance(kind.example(0.5, 3).structure(Nominal.from_samples(np.eye(3))), Atoms)
]


def test_the_sets_of_reweighed_samples_declare_atoms_and_others_do_not():
    assert {kind.__name__ for kind in SETS} >= {
        "KLBall",
        "ChiSquareBall",
        "CVaRBall",
        "TotalVariationBall",
    }
    assert GaussianBall not in SETS


@pytest.mark.parametrize("kind", [kind for kind in SETS if issubclass(kind, ReweightingBall)])
@given(seed=seeds, n=st.integers(2, 30), spread=st.sampled_from([0.01, 0.5, 3.0]))
def test_derivatives_by_finite_differences(kind, seed, n, spread):
    """Central differences with steps of 1e-5 of the ratios: errors of 1e-10 and rounding."""
    rng = np.random.default_rng(seed)
    atoms = kind(0.5).structure(random_nominal(rng, 3, n))
    q = atoms.shares * np.exp(spread * rng.standard_normal(n))
    direction = 1e-5 * q * rng.uniform(0.5, 1.0, n)
    slope = (atoms.divergence(q + direction) - atoms.divergence(q - direction)) / 2
    size = float(np.abs(atoms.slope(q)) @ direction)
    assert slope == pytest.approx(atoms.slope(q) @ direction, abs=1e-8 * size + 1e-15)
    bend = (atoms.slope(q + direction) - atoms.slope(q - direction)) / 2
    np.testing.assert_allclose(bend, atoms.bend(q) * direction, rtol=1e-8, atol=1e-15)
    assert (atoms.bend(q) > 0.0).all()
    assert atoms.divergence(atoms.shares) == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(atoms.slope(atoms.shares), atoms.slope(atoms.shares)[0], atol=1e-12)


@pytest.mark.parametrize("kind", SETS)
@given(seed=seeds, radius=st.sampled_from([1e-3, 0.3, 2.0, 50.0]))
def test_equal_samples_are_one_atom(kind, seed, radius):
    rng = np.random.default_rng(seed)
    few = random_nominal(rng, 4, 6).samples
    nominal = Nominal.from_samples(np.vstack([few, few[:2], few[:2], few[3:4]]))
    atoms, laplacian = kind(radius).structure(nominal), random_laplacian(rng, 4)
    assert atoms.signals.shape == (6, 4)
    np.testing.assert_array_equal(atoms.signals[atoms.which], nominal.samples)
    assert atoms.shares.sum() == pytest.approx(1.0, rel=1e-14)
    worst = kind(radius).worst_case(nominal, laplacian)
    q = np.bincount(atoms.which, worst.distribution.weights)
    np.testing.assert_allclose(
        atoms.moment(q).second_moment, worst.second_moment, rtol=1e-9, atol=1e-12
    )
    # Rounding in the weights, of which the hard limit has some at zero.
    assert atoms.divergence(q) <= radius * (1 + 1e-8)


@dataclass(frozen=True)
class Spoilt(KLBall):
    """Declares something else than it is."""

    what: str = ""

    def slope(self, ratios):
        return super().slope(ratios) * (1.01 if self.what == "slope" else 1.0)

    def bend(self, ratios):
        return super().bend(ratios) * (1.01 if self.what == "bend" else 1.0)

    def divergence(self, ratios):
        return super().divergence(ratios) + (1e-3 if self.what == "nominal" else 0.0)

    def structure(self, nominal):
        # More than the risk allows.
        radius = 4 * self.radius if self.what == "radius" else self.radius
        return Atoms(nominal.samples, radius, self)


@pytest.mark.parametrize(
    ("what", "found"),
    [
        ("slope", "derivatives of the divergence"),
        ("bend", "derivatives of the divergence"),
        ("nominal", "structure"),
        ("radius", "structure"),
    ],
)
def test_the_public_check_finds_wrong_declarations(what, found):
    assert found in check_ambiguity(Spoilt(0.01, what=what)).failures
    assert found not in check_ambiguity(Spoilt(0.01)).failures
