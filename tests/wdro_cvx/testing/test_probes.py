"""Sets that contradict themselves where their own worst cases do not show it."""

from dataclasses import dataclass, replace
from typing import ClassVar

import combinations
import numpy as np
import pytest

from wdro_cvx import (
    AmbiguitySet,
    MomentBall,
    Nominal,
    ProblemError,
    WorstCase,
    check_ambiguity,
    registered_ambiguities,
)
from wdro_cvx.testing.ambiguity import _random_laplacian
from wdro_cvx.testing.probes import directions, understated


@dataclass(frozen=True)
class Nuclear(AmbiguitySet):
    """``{Θ + Δ : ‖Δ‖_* ≤ ε}``, for subclasses with one mistake each."""

    radius_degree: ClassVar[int] = 2

    def size(self, change):
        return np.linalg.norm(change, "nuc")

    def worst(self, laplacian):
        top = np.linalg.eigh(laplacian)[1][:, -1]
        return np.outer(top, top)

    def worst_case(self, nominal, laplacian):
        moment = nominal.second_moment + self.radius * self.worst(laplacian)
        return WorstCase(float(np.vdot(moment, laplacian)), moment, 0.0)

    def distance(self, nominal, second_moment):
        return float(self.size(second_moment - nominal.second_moment))


class Spectral(Nuclear):
    """The worst case of another norm than that of distance."""

    def size(self, change):
        return np.linalg.norm(change, 2)


class Diagonal(Nuclear):
    """A Frobenius ball of which only diagonal shifts are tried."""

    def size(self, change):
        return np.linalg.norm(change)

    def worst(self, laplacian):
        degrees = np.diag(laplacian)
        return np.diag(degrees) / np.linalg.norm(degrees)


class Traced(Nuclear):
    """A distance that does not see most changes."""

    def size(self, change):
        return abs(np.trace(change))


class Chosen(Nuclear):
    """The largest k entries, of a ball that bounds entries and their sum."""

    def size(self, change):
        entries = np.abs(change)
        return max(entries.max(), entries.sum() / 3.5)

    def worst(self, laplacian):
        entries = np.abs(laplacian).ravel()
        chosen = np.zeros(entries.size)
        chosen[np.argsort(-entries, kind="stable")[:3]] = 1.0
        shift = chosen.reshape(laplacian.shape) * np.sign(laplacian)
        return (shift + shift.T) / 2


class Tolerant(Nuclear):
    """A distance that forgives a share of each shift."""

    def size(self, change):
        return max(np.linalg.norm(change, "nuc") - 1e-3, 0.0)


class Impatient(Nuclear):
    """Power steps that stop too early."""

    def worst(self, laplacian):
        top = np.arange(1.0, len(laplacian) + 1)
        for _ in range(3):
            top = laplacian @ top
        return np.outer(top, top) / (top @ top)


def test_a_right_set_passes_at_all_radii():
    for radius in (1e-9, 1e-3, 0.5, 50.0):  # at the first the premium is at rounding level
        report = check_ambiguity(Nuclear(radius))
        assert report.passed, str(report)


@pytest.mark.parametrize("kind", [Spectral, Diagonal, Traced, Chosen, Tolerant, Impatient])
def test_a_worst_case_that_is_not_the_worst_is_caught(kind):
    report = check_ambiguity(kind(0.5))
    assert "support function" in report.failures
    assert "worst_case is not the worst, or distance is too small" in str(report)


def cases():
    rng = np.random.default_rng(0)
    for samples in (15, 3):
        table = rng.standard_normal((samples, 6)) + rng.random(6)
        yield Nominal.from_samples(table), _random_laplacian(rng, 6)


OURS = {name: kind.example(0.5, 6) for name, kind in registered_ambiguities().items()}
OURS |= {f"p = {p:g}": MomentBall(0.5, p=p) for p in (1.0, 1.5, 4.0, np.inf)} | combinations.ALL


@pytest.mark.parametrize("name", [name for name in OURS if name != "Singleton"])
def test_no_moment_that_is_riskier_than_the_worst_is_in_a_set_of_ours(name):
    ball = OURS[name]
    for size in (1e-3, 1.0, 20.0):
        for nominal, laplacian in cases():
            tried = replace(ball, radius=size * ball.radius)
            assert understated(tried, nominal, laplacian) == 0.0


def test_probes_are_symmetric_and_raise_the_risk_of_every_graph():
    for _, laplacian in cases():
        found = list(directions(laplacian, np.eye(6)))
        assert all(np.array_equal(direction, direction.T) for direction in found)
        assert sum(float(np.vdot(direction, laplacian)) > 0 for direction in found) > 15


def test_a_risk_that_is_homogeneous_near_one_only_is_caught():
    class Regularised(Nuclear):
        def worst_case(self, nominal, laplacian):
            found = super().worst_case(nominal, laplacian)
            lost = 1e-10 / np.trace(laplacian)  # of no weight at the trace of the checks
            return replace(found, risk=found.risk - lost)

    class Clipped(Nuclear):
        def worst_case(self, nominal, laplacian):
            return super().worst_case(nominal, laplacian / max(np.trace(laplacian) / 100.0, 1.0))

    assert "homogeneous" in check_ambiguity(Regularised(0.5)).failures
    assert "homogeneous" in check_ambiguity(Clipped(0.5)).failures


class Six(Nuclear):
    """Only the first six vertices are seen."""

    def worst(self, laplacian):
        shift = np.zeros(laplacian.shape)
        shift[:6, :6] = super().worst(laplacian[:6, :6])
        return shift


def test_more_vertices_are_tried_and_told():
    report = check_ambiguity(Six(0.5))
    assert "support function" in report.failures
    assert "with 9 vertices" in str(report)
    six = Nominal.from_samples(np.random.default_rng(0).standard_normal((15, 6)))
    assert check_ambiguity(Six(0.5), six).passed  # these data were asked for


@dataclass(frozen=True, eq=False)
class Fixed(Six):
    """A set for six vertices, and an example for any number that is right for six only."""

    shift: np.ndarray = None
    fits: ClassVar[bool] = True

    def worst(self, laplacian):
        return super().worst(laplacian) if len(laplacian) == len(self.shift) else 1 / 0

    @classmethod
    def example(cls, radius, d):
        return cls(radius, np.eye(d)) if d == 6 or cls.fits else 1 / 0


def test_a_set_for_six_vertices_is_tried_by_its_example():
    assert "support function" in check_ambiguity(Fixed.example(0.5, 6)).failures

    class Bound(Fixed):
        fits = False

    assert check_ambiguity(Bound.example(0.5, 6)).passed


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rounding": -0.1}, "WorstCase.rounding must be None or a number ≥ 0; it is -0.1"),
        ({"rounding": float("nan")}, "WorstCase.rounding must be None or a number ≥ 0; it is nan"),
        ({"second_moment": None}, "second_moment must be symmetric"),
    ],
)
def test_a_worst_case_that_cannot_be_used_is_told(change, told):
    class Odd(Nuclear):
        def worst_case(self, nominal, laplacian):
            found = super().worst_case(nominal, laplacian)
            skewed = {"second_moment": 2 * np.tril(found.second_moment, -1)
                      + np.diag(np.diag(found.second_moment))}  # fmt: skip
            return replace(found, **(skewed if "second_moment" in change else change))

    report = check_ambiguity(Odd(0.5))
    assert "attains the risk" in report.failures
    assert told in str(report)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (Nuclear, r"not its class Nuclear: pass Nuclear\(0.5\), or Nuclear.example\(0.5, 6\)"),
        (0.5, "check_ambiguity takes an AmbiguitySet; it is 0.5"),
        (Nuclear(0.0), "Nuclear has the radius 0.*pass it with a positive radius"),
    ],
)
def test_what_cannot_be_checked_is_refused_at_once(given, told):
    with pytest.raises(ProblemError, match=told):
        check_ambiguity(given)


class Strict(Nuclear):
    """The moments of rank one around Θ, and no mixtures of them; nothing else is right either."""

    def distance(self, nominal, second_moment):
        sizes = np.linalg.svd(second_moment - nominal.second_moment, compute_uv=False)
        return 2 * sizes[0] if sizes[1] < 1e-9 else np.inf


def test_remedies_speak_of_members_that_the_set_has():
    told = str(check_ambiguity(Strict(0.5))) + str(check_ambiguity(Tolerant(0.5)))
    for name in ("inside", "proves itself", "holds mixtures", "distance never understates"):
        assert f"FAILED {name}" in told
    for word in ("membership", "build_moment"):
        assert word not in told
    assert "the set must be convex: use its convex hull, which has the same risk" in told

    class Owner(Strict):
        def membership(self, nominal):
            return super().membership(nominal)

    assert "membership.explain and distance must accept" in str(check_ambiguity(Owner(0.5)))
