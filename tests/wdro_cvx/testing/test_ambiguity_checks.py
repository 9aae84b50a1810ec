"""The public check of sets: correct sets pass, and every kind of error is reported by name."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from instances import random_nominal

from solvers import ProjectedGradient, RobustGraph, solve
from wdro_cvx import (
    AmbiguitySet,
    GaussianBall,
    GraphProblem,
    MahalanobisBall,
    MomentBall,
    Nominal,
    ProblemError,
    WorstCase,
    check_ambiguity,
    judge,
    register_ambiguity,
    registered_ambiguities,
)
from wdro_cvx.ambiguity import Norm, Transport
from wdro_cvx.graphs.laplacian import complete_graph
from wdro_cvx.moments.points import DenseMoment
from wdro_cvx.testing.report import subject_of


@dataclass(frozen=True)
class Shift(AmbiguitySet):
    """``{Θ + t·I : 0 ≤ t ≤ ε}`` with a way to spoil each property."""

    spoil: str = ""
    radius_degree: ClassVar[int] = 2

    def worst_case(self, nominal, laplacian):
        shift = self.radius * np.eye(nominal.d)
        risk = float(np.vdot(nominal.second_moment + shift, laplacian))
        if self.spoil == "gradient":
            # It attains the risk and lies in the set of its own distance, and is no gradient.
            tilt = np.diag(np.arange(nominal.d) - (nominal.d - 1) / 2)
            tilt -= float(np.vdot(tilt, laplacian) / np.vdot(laplacian, laplacian)) * laplacian
            shift = shift + 0.3 * tilt
        if self.spoil == "inside":
            shift = 2 * shift
            risk = float(np.vdot(nominal.second_moment + shift, laplacian))
        if self.spoil == "attains the risk":
            risk *= 1.01
        if self.spoil == "homogeneous":
            risk += 0.1
        if self.spoil == "convex":
            risk -= 0.3 * self.radius * float(np.linalg.norm(laplacian))
        if self.spoil == "radius 0 is the sample average":
            risk += 0.1 * float(np.trace(laplacian))
        if self.spoil == "grows with the radius":
            risk = float(np.vdot(nominal.second_moment - 0.1 * shift, laplacian))
        if self.spoil == "unit of the data":
            risk += float(np.trace(laplacian)) * (0.1 if self.radius > 0 else 0.0)
        if self.spoil == "raises":
            raise ProblemError("cannot do this")
        return WorstCase(risk, nominal.second_moment + shift, 1.0)

    def structure(self, nominal):
        return GaussianBall(self.radius).structure(nominal) if self.spoil == "structure" else None

    def distance(self, nominal, second_moment):
        if self.spoil == "gradient":
            return 0.0
        if self.spoil == "holds the nominal":
            return self.radius + 1.0
        change = second_moment - nominal.second_moment
        if self.spoil == "holds mixtures" and (change - np.diag(np.diag(change))).any():
            return np.inf  # zero where a worst case is exact, and not where mixtures are rounded
        return float(np.linalg.norm(second_moment - nominal.second_moment, 2))


def test_a_right_set_passes():
    """Ours are tried in tests/conformance."""
    report = check_ambiguity(Shift(0.5))
    assert report.passed, str(report)
    assert report.failures == ()
    report.raise_if_failed()
    few = Nominal.from_samples(np.random.default_rng(0).standard_normal((2, 4)))
    assert check_ambiguity(Shift(0.5), few).passed


@pytest.mark.parametrize(
    "spoil",
    [
        "gradient",
        "inside",
        "attains the risk",
        "holds the nominal",
        "holds mixtures",
        "homogeneous",
        "convex",
        "radius 0 is the sample average",
        "grows with the radius",
        "unit of the data",
        "structure",
    ],
)
def test_every_kind_of_wrong_is_caught_by_name(spoil):
    report = check_ambiguity(Shift(0.5, spoil=spoil))
    assert spoil in report.failures
    assert f"FAILED {spoil}" in str(report)
    with pytest.raises(ProblemError, match=spoil):
        report.raise_if_failed()


def test_a_wrong_unit_names_what_to_change():
    lines = str(check_ambiguity(Shift(0.5, spoil="unit of the data"))).splitlines()
    asked = [line.split()[0] for line in lines if "radius_degree" in line]
    assert asked == ["FAILED"]
    assert "radius_degree" not in str(check_ambiguity(Shift(0.5)))


@dataclass(frozen=True)
class NearlyShift(AmbiguitySet):
    """``{Θ + t·I : 0 ≤ t ≤ ε}``, with one property missed by a given share."""

    spoil: str = ""
    share: float = 0.0
    radius_degree: ClassVar[int] = 2

    def worst_case(self, nominal, laplacian):
        reach = self.radius * (1.0 + self.share if self.spoil == "inside" else 1.0)
        moment = nominal.second_moment + reach * np.eye(nominal.d)
        if self.spoil == "gradient":  # as risky, and turned away from the slope
            tilt = np.diag(np.arange(nominal.d) - (nominal.d - 1) / 2)
            tilt -= float(np.vdot(tilt, laplacian) / np.vdot(laplacian, laplacian)) * laplacian
            moment = moment + self.share * tilt
        risk = float(np.vdot(moment, laplacian))
        if self.spoil in ("attains the risk", "radius 0 is the sample average"):
            risk *= 1.0 + self.share
        if self.spoil == "homogeneous":
            risk += self.share
        if self.spoil == "convex":
            risk -= self.share * float(np.linalg.norm(laplacian))
        built = moment * (1.0 + self.share) if self.spoil == "proves itself" else moment
        return WorstCase(risk, moment, 1.0, build_moment=lambda: DenseMoment(built))

    def distance(self, nominal, second_moment):
        if self.spoil == "gradient":
            return 0.0
        found = float(np.linalg.norm(second_moment - nominal.second_moment, 2))
        return found + self.share if self.spoil == "holds the nominal" else found


@pytest.mark.parametrize(
    ("spoil", "seen", "unseen"),
    [
        # Identities may be missed by 1e-8, slopes by 1e-4 and membership by 1e-6, all relative.
        ("attains the risk", 1e-7, 1e-10),
        ("radius 0 is the sample average", 1e-7, 1e-10),
        ("homogeneous", 1e-6, 1e-10),
        ("convex", 1e-5, 1e-10),
        ("gradient", 1e-1, 1e-6),
        ("inside", 3e-6, 1e-9),
        ("proves itself", 3e-6, 1e-9),
    ],
)
def test_small_misses_are_caught_and_rounding_is_not(spoil, seen, unseen):
    """The tolerances of the checks: neither so loose that mistakes pass nor so tight that none."""
    assert spoil in check_ambiguity(NearlyShift(0.5, spoil, seen)).failures
    report = check_ambiguity(NearlyShift(0.5, spoil, unseen))
    assert spoil not in report.failures, str(report)


def test_a_nominal_that_is_barely_outside_is_caught():
    ball = NearlyShift(0.5, "holds the nominal", 0.5 + 1e-6)
    assert "holds the nominal" in check_ambiguity(ball).failures


def test_wrong_structures_are_caught():
    class WrongOrder(MomentBall):
        def structure(self, nominal):
            return Norm(2.0 + 1e-4)

    class WrongRows(GaussianBall):
        def structure(self, nominal):
            scales = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0 + 1e-5])
            return Transport(nominal.factor, self.radius, scales)

    assert check_ambiguity(WrongOrder(0.5)).failures == ("structure",)
    assert check_ambiguity(WrongRows(0.5)).failures == ("structure",)


def test_a_transport_of_all_of_the_data_has_the_radius_of_its_set():
    """The paper's block descent reads the radius off the set, not off its structure."""

    @dataclass(frozen=True)
    class Squared(AmbiguitySet):
        """A right set and a right structure, with two ideas of the radius."""

        radius_degree: ClassVar[int] = 2

        def worst_case(self, nominal, laplacian):
            return GaussianBall(np.sqrt(self.radius)).worst_case(nominal, laplacian)

        def distance(self, nominal, second_moment):
            return GaussianBall(1.0).distance(nominal, second_moment) ** 2

        def structure(self, nominal):
            return Transport(nominal.factor, float(np.sqrt(self.radius)))

    assert "structure" in check_ambiguity(Squared(0.5)).failures


def test_a_set_that_claims_all_moments_has_a_distance_to_them():
    class Claims(MomentBall):
        def distance(self, nominal, second_moment):
            inside = np.linalg.norm(second_moment - nominal.second_moment) <= 1.0
            return super().distance(nominal, second_moment) if inside else np.inf

    assert check_ambiguity(Claims(0.5)).failures == ("finite distance",)


def test_a_point_that_does_worse_is_caught():
    @dataclass(frozen=True)
    class Understated(GaussianBall):
        def worst_case(self, nominal, laplacian):
            half = GaussianBall(self.radius * (0.5 if laplacian[0, 0] > 1.0 else 1.0))
            return half.worst_case(nominal, laplacian)

    assert "support function" in check_ambiguity(Understated(1.0), instances=20).failures


def test_errors_of_a_set_are_reported():
    report = check_ambiguity(Shift(0.5, spoil="raises"))
    assert report.failures == ("answers",)
    assert "raised ProblemError: cannot do this" in str(report)


@dataclass(frozen=True, eq=False)
class Weighted(AmbiguitySet):
    """A ball whose parameter belongs to vertices."""

    trust: np.ndarray = None
    radius_degree: ClassVar[int] = 2

    def worst_case(self, nominal, laplacian):
        weights = np.outer(self.trust, self.trust)
        size = np.linalg.norm(laplacian / weights)
        moment = nominal.second_moment + self.radius * laplacian / weights**2 / size
        return WorstCase(
            np.vdot(nominal.second_moment, laplacian) + self.radius * size, moment, size
        )

    def distance(self, nominal, second_moment):
        weights = np.outer(self.trust, self.trust)
        return np.linalg.norm(weights * (second_moment - nominal.second_moment))


class WithExample(Weighted):
    @classmethod
    def example(cls, radius, d):
        return cls(radius, np.linspace(0.5, 2.0, d))


SHORT, FOUR = np.ones(4), Nominal.from_samples(np.random.default_rng(0).standard_normal((9, 4)))


@pytest.mark.parametrize(
    ("ball", "hint"),
    [
        (Weighted(0.5), "write the class method example(radius, d)"),
        (Weighted(0.5, SHORT), "write the class method example(radius, d)"),
        (WithExample(0.5), "WithExample.example(radius, 6) does: give trust for 6 vertices"),
        (WithExample(0.5, SHORT), "the set does not fit 6 vertices, and WithExample.example"),
        (MahalanobisBall(0.5, SHORT), "MahalanobisBall.example(radius, 6) does: give scales for 6"),
    ],
)
def test_a_set_for_other_vertices_is_told_once(ball, hint):
    report = check_ambiguity(ball)
    assert report.failures == ("answers",)
    assert len(report.results) == 1
    assert hint in str(report)
    assert "or pass a nominal that it fits (by default it has 6 vertices)" in str(report)


def test_a_set_for_other_vertices_fits_its_own():
    assert check_ambiguity(Weighted(0.5, SHORT), FOUR).passed
    assert check_ambiguity(WithExample.example(0.5, 6)).passed
    told = str(check_ambiguity(WithExample(0.5, np.ones(3)), FOUR))
    assert "does not fit 4 vertices" in told
    assert "by default" not in told


def test_errors_that_have_nothing_to_do_with_vertices_are_told_with_their_line():
    class Broken(Shift):
        def worst_case(self, nominal, laplacian):
            return super().worst_case(nominal, laplacian)[0]

    class Tuple(Weighted):
        def worst_case(self, nominal, laplacian):
            return 1.0, laplacian

    lines = Broken.worst_case.__code__.co_firstlineno + 1
    told = str(check_ambiguity(Broken(0.5)))
    assert f"not subscriptable (test_ambiguity_checks.py, line {lines})" in told

    class WrongExample(WithExample):
        @classmethod
        def example(cls, radius, d):
            return cls(radius, np.ones(d + 1))

    told = str(check_ambiguity(WrongExample.example(0.5, 6)))
    assert "operands could not be broadcast" in told
    assert "write the class method" not in told
    assert "must return a WorstCase; it is tuple" in str(check_ambiguity(Tuple(0.5, SHORT)))


def test_an_error_of_one_check_fails_that_one():
    class Late(Shift):
        def scaled(self, factor):
            raise KeyError("no unit")

    assert check_ambiguity(Late(0.5)).failures == ("unit of the data",)


def test_solving_with_a_set_for_other_vertices_names_it():
    problem = GraphProblem(
        random_nominal(np.random.default_rng(0), 6, 9), Weighted(0.5, SHORT), 0.3
    )
    for run in (solve, ProjectedGradient().solve, lambda p: p.value(complete_graph(6, 6.0))):
        with pytest.raises(ProblemError, match=r"Weighted: .*if the set does not fit 6 vertices"):
            run(problem)
    right = problem.replace(ambiguity=WithExample.example(0.5, 6))
    assert judge(right, solve(right)).solved(1e-6)
    with pytest.raises(ValueError, match="somewhere else"), right.explained():
        raise ValueError("somewhere else")


@pytest.mark.parametrize("radius", ["auto", "bootstrap", "prediction", 0.5])
def test_fitting_with_a_set_for_other_vertices_names_it(radius):
    rows = np.random.default_rng(0).standard_normal((9, 6))
    eta = "auto" if radius == 0.5 else None
    with pytest.raises(ProblemError, match=r"Weighted: .*if the set does not fit 6 vertices"):
        RobustGraph(radius, eta, Weighted(0.0, SHORT)).fit(rows)


def test_long_parameters_do_not_fill_the_screen():
    report = check_ambiguity(Weighted(0.5, np.ones((40, 6, 6))))
    first = str(report).splitlines()[0]
    assert first.startswith("Weighted(radius=0.5, trust=array([[[1., ..., 1.], ")
    assert len(first) < 220
    assert first.endswith(": FAILED")
    assert (
        subject_of(Weighted(0.5, (np.float64(0.5), 2.0)))
        == "Weighted(radius=0.5, trust=(0.5, 2.0))"
    )


def test_incomplete_sets_say_what_is_missing():
    with pytest.raises(ProblemError, match="must implement distance and worst_case"):

        @register_ambiguity
        @dataclass(frozen=True)
        class Empty(AmbiguitySet):
            pass

    with pytest.raises(ProblemError, match="must subclass AmbiguitySet"):
        register_ambiguity(dict)
    assert {"GaussianBall", "MomentBall", "Singleton"} <= set(registered_ambiguities())
