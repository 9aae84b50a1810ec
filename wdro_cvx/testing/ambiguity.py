"""Checks for authors of ambiguity sets.

Solvers and the judge rely on a few properties of ``worst_case``, those of a support function. Each
is tested on random data and Laplacians and reported by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.ambiguity.fits import misfit
from wdro_cvx.ambiguity.structure import Atoms, Surcharge, Transport
from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.laplacian import laplacian_from_weights
from wdro_cvx.moments.composite import mixture
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.testing.probes import VISIBLE, understated
from wdro_cvx.testing.problems import D
from wdro_cvx.testing.remedies import remedy
from wdro_cvx.testing.report import CheckReport, CheckResult, run_check, subject_of
from wdro_cvx.validation import Array

_EXACT = 1e-8  # identities in double precision
_STEP = 1e-6
_SLOPE = 1e-4  # error of one-sided differences with that step
_SHARES = np.array([0.3, 0.7])  # of a mixture; their products with other numbers are rounded
_FACTORS = (1e-3, 3.0, 1e3)  # of a Laplacian, for homogeneity
_MORE = 9  # vertices of one more case
#: Tolerances of checks that are not identities in double precision.
_LIMITS = {
    "gradient": _SLOPE,
    "derivatives of the divergence": _SLOPE,
    "inside": 1e-6,
    "proves itself": 1e-6,
    "holds mixtures": 1e-6,
}


@dataclass(frozen=True)
class _Case:
    """A set with data and Laplacians to try it on."""

    ambiguity: AmbiguitySet
    nominal: Nominal
    laplacian: Array
    other: Array

    def risk(self, laplacian: Array) -> float:
        return self.ambiguity.worst_case(self.nominal, laplacian).risk

    @property
    def size(self) -> float:
        size = abs(self.risk(self.laplacian)) + abs(self.risk(self.other))
        return max(size, float(np.finfo(float).tiny))  # equal signals have no risk


#: Returns a relative error, or what is wrong in words, or None if the check does not apply.
_Check = Callable[[_Case], float | str | None]


def check_ambiguity(
    ambiguity: AmbiguitySet, nominal: Nominal | None = None, instances: int = 5, seed: int = 0
) -> CheckReport:
    """Check that ``worst_case`` and ``distance`` of a set are consistent, and return a report.

    Parameters
    ----------
    ambiguity : AmbiguitySet
        With a positive radius. If it is for a certain number of vertices, it must be 6, or that of
        the nominal.
    nominal : Nominal, optional
        The data for the checks; random signals on 6 vertices by default. The set, or else the
        ``example`` of its class, is then also tried on 9 vertices, if it fits them.
    instances : int
        The number of pairs of Laplacians.
    seed : int
        The seed of the random data.

    Returns
    -------
    CheckReport
        One line per property; print it.

    Raises
    ------
    ProblemError
        If a class is given instead of a set, or the radius is 0.

    Examples
    --------
    >>> from wdro_cvx import PairBall, check_ambiguity
    >>> report = check_ambiguity(PairBall(0.5), instances=2)
    >>> report.passed
    True
    """
    _check_given(ambiguity)
    rng = np.random.default_rng(seed)
    cases = [_case(rng, ambiguity, nominal or _some_nominal(rng, D)) for _ in range(instances)]
    results = [answers(ambiguity, cases[0].nominal, nominal is None)]
    if results[0].passed:  # else every check would say the same
        cases += [] if nominal else _larger_case(rng, ambiguity)
        results = [run_check(name, _try, name, check, cases) for name, check in _CHECKS.items()]
    return CheckReport(subject_of(ambiguity), tuple(results))


def _check_given(ambiguity: object) -> None:
    """Raise ProblemError unless it is a set with a positive radius."""
    if isinstance(ambiguity, type) and issubclass(ambiguity, AmbiguitySet):
        name = ambiguity.__name__
        raise ProblemError(
            f"check_ambiguity takes a set, not its class {name}: pass {name}(0.5), or "
            f"{name}.example(0.5, {D}) if it has parameters of vertices."
        )
    if not isinstance(ambiguity, AmbiguitySet):
        raise ProblemError(f"check_ambiguity takes an AmbiguitySet; it is {subject_of(ambiguity)}.")
    if ambiguity.radius == 0.0:
        raise ProblemError(
            f"{type(ambiguity).__name__} has the radius 0, and holds the nominal moment alone: "
            "pass it with a positive radius, such as 0.5, and check_ambiguity tries both."
        )


def _some_nominal(rng: np.random.Generator, d: int) -> Nominal:
    return Nominal.from_samples(rng.standard_normal((15, d)) + rng.random(d))


def _case(rng: np.random.Generator, ambiguity: AmbiguitySet, nominal: Nominal) -> _Case:
    return _Case(ambiguity, nominal, *(_random_laplacian(rng, nominal.d) for _ in range(2)))


def _larger_case(rng: np.random.Generator, ambiguity: AmbiguitySet) -> list[_Case]:
    """Return a case with more vertices, of the set or of its class's example, if one fits."""
    nominal = _some_nominal(rng, _MORE)
    if misfit(ambiguity, nominal) is None:
        return [_case(rng, ambiguity, nominal)]
    try:
        example = type(ambiguity).example(ambiguity.radius, _MORE)
    except Exception:  # a user's class may have no example
        return []
    return [] if misfit(example, nominal) is not None else [_case(rng, example, nominal)]


def answers(ambiguity: AmbiguitySet, nominal: Nominal, by_default: bool = True) -> CheckResult:
    """Check that a set has a worst case for data at all."""
    told = misfit(ambiguity, nominal)
    if told is not None and by_default and "vertices" in told:
        told += f", or pass a nominal that it fits (by default it has {nominal.d} vertices)"
    return CheckResult("answers", told is None, told or "it has a worst case and a distance")


def _try(name: str, check: _Check, cases: list[_Case]) -> tuple[bool, str]:
    """Run one check in all cases."""
    misses: dict[int, float] = {}  # the largest error by the number of vertices
    for case in cases:
        miss = check(case)
        if isinstance(miss, str):
            return False, miss
        if miss is not None:
            misses[case.nominal.d] = float(np.max([miss, misses.get(case.nominal.d, 0.0)]))
    if not misses:
        return True, "not offered"
    worst = float(np.max(list(misses.values())))  # NaN if one of them is
    limit = _LIMITS.get(name, _EXACT)
    detail = f"missed by {worst:.1e}, {limit:.0e} allowed"
    failed = [d for d, miss in misses.items() if not miss <= limit]  # NaN is a miss
    if not failed:
        return True, detail
    where = f" with {failed[0]} vertices" if len(failed) < len(misses) else ""
    return False, f"{detail}{where}; {remedy(name, cases[0].ambiguity)}"


def _attains(case: _Case) -> float | str:
    worst = case.ambiguity.worst_case(case.nominal, case.laplacian)
    moment, rounding = worst.second_moment, worst.rounding
    if rounding is not None and not 0.0 <= rounding < np.inf:
        return f"WorstCase.rounding must be None or a number ≥ 0; it is {rounding:g}"
    skew = float(np.abs(moment - moment.T).max())
    if skew > _EXACT * float(np.abs(moment).max()):
        return (
            f"second_moment must be symmetric; entries ij and ji differ by up to {skew:.1e}: "
            "return (M + M.T) / 2"
        )
    return abs(float(np.vdot(moment, case.laplacian)) - worst.risk) / case.size


def _inside(case: _Case) -> float | None:
    """Check that the worst-case matrix, as the set explains it to the judge, is in the set."""
    worst = case.ambiguity.worst_case(case.nominal, case.laplacian)
    membership = case.ambiguity.membership(case.nominal)
    if not membership.explains:
        return None
    distance = membership.distance(membership.explain(worst.second_moment))
    return max(distance / case.ambiguity.radius - 1.0, 0.0)


def _proves_itself(case: _Case) -> float:
    """Check that the worst case's moment agrees with its matrix and is in the set."""
    worst = case.ambiguity.worst_case(case.nominal, case.laplacian)
    proved = case.ambiguity.membership(case.nominal).distance(worst.moment)
    differ = float(np.abs(worst.moment.second_moment - worst.second_moment).max())
    return max(
        proved / case.ambiguity.radius - 1.0,
        differ / max(float(np.abs(worst.second_moment).max()), 1e-300),
    )


def _mixes(case: _Case) -> float:
    """Check that a mixture of two worst cases is in the set, as certificates are mixtures."""
    worst = [case.ambiguity.worst_case(case.nominal, at) for at in (case.laplacian, case.other)]
    mixed = mixture([each.moment for each in worst], _SHARES)
    distance = case.ambiguity.membership(case.nominal).distance(mixed)
    return max(distance / case.ambiguity.radius - 1.0, 0.0)


def _overstates(case: _Case) -> float:
    """Check that a moment with a larger risk than the worst case is outside the set.

    The data are also tried with vertices in very different units, where matrix roots lose digits.
    """
    missed = 0.0
    for nominal in _in_units(case.nominal):
        worst = case.ambiguity.worst_case(nominal, case.laplacian)
        centre = nominal.second_moment
        premium = worst.risk - float(np.vdot(centre, case.laplacian))
        if premium <= VISIBLE * abs(worst.risk):
            continue  # the premium is at rounding level
        for excess in (1e-3, 1.0):
            outside = centre + (1.0 + excess) * (worst.second_moment - centre)
            distance = case.ambiguity.distance(nominal, outside)
            missed = max(missed, 1.0 - distance / case.ambiguity.radius)
    return missed


def _in_units(nominal: Nominal) -> tuple[Nominal, Nominal]:
    """Return data as they are and with the vertices in very different units."""
    return nominal, nominal.scaled(np.geomspace(1e-5, 1e5, nominal.d))


def _holds_nominal(case: _Case) -> float:
    theta = case.nominal.second_moment
    below = float(np.vdot(theta, case.laplacian)) - case.risk(case.laplacian)
    outside = case.ambiguity.distance(case.nominal, theta) - case.ambiguity.radius
    return max(outside, below, 0.0) / case.size


def _supports(case: _Case) -> float:
    """Check that no other point of the set has a larger risk than the worst case.

    The other points are worst cases of another Laplacian, and moments that ``distance`` accepts.
    """
    elsewhere = case.ambiguity.worst_case(case.nominal, case.other).second_moment
    excess = float(np.vdot(elsewhere, case.laplacian)) - case.risk(case.laplacian)
    accepted = [
        understated(case.ambiguity, data, case.laplacian) for data in _in_units(case.nominal)
    ]
    return max(excess / case.size, *accepted, 0.0)


def _convex(case: _Case) -> float:
    middle = case.risk((case.laplacian + case.other) / 2)
    chord = (case.risk(case.laplacian) + case.risk(case.other)) / 2
    return max(middle - chord, 0.0) / case.size


def _homogeneous(case: _Case) -> float:
    """Check the risk of multiples of a Laplacian, far smaller and far larger ones too."""
    risk = case.risk(case.laplacian)
    misses = [abs(case.risk(factor * case.laplacian) / factor - risk) for factor in _FACTORS]
    return float(np.max(misses)) / case.size  # NaN if one of them is


def _gradient(case: _Case) -> float:
    """Check that one-sided differences bracket the slope, which holds even if R is not smooth."""
    direction = case.other - case.laplacian
    moment = case.ambiguity.worst_case(case.nominal, case.laplacian).second_moment
    slope = float(np.vdot(moment, direction))
    here = case.risk(case.laplacian)
    ahead = (case.risk(case.laplacian + _STEP * direction) - here) / _STEP
    behind = (here - case.risk(case.laplacian - _STEP * direction)) / _STEP
    return max(slope - ahead, behind - slope, 0.0) / case.size


def _neutral(case: _Case) -> float:
    at_zero = replace(case.ambiguity, radius=0.0).worst_case(case.nominal, case.laplacian).risk
    return abs(at_zero - float(np.vdot(case.nominal.second_moment, case.laplacian))) / case.size


def _grows(case: _Case) -> float:
    larger = replace(case.ambiguity, radius=1.5 * case.ambiguity.radius)
    shrunk = case.risk(case.laplacian) - larger.worst_case(case.nominal, case.laplacian).risk
    return max(shrunk, 0.0) / case.size


def _unit(case: _Case) -> float:
    moved = case.ambiguity.scaled(10.0).worst_case(case.nominal.scaled(10.0), case.laplacian).risk
    return abs(moved / 100.0 - case.risk(case.laplacian)) / case.size


def _structure(case: _Case) -> float | None:
    """Check that the structure, if there is one, has the same risk."""
    structure, risk = case.ambiguity.structure(case.nominal), case.risk(case.laplacian)
    if structure is None:
        return None
    if isinstance(structure, Atoms):
        excess = float(_tilted(structure, case, within=True) @ _losses(structure, case)) - risk
        return max(excess / case.size, structure.divergence(structure.shares))
    if isinstance(structure, Transport):
        if structure.moves_all and structure.radius != case.ambiguity.radius:
            return np.inf
        return abs(structure.risk(case.laplacian) - risk) / case.size
    average = float(np.vdot(case.nominal.second_moment, case.laplacian))
    if isinstance(structure, Surcharge):
        return abs(average + structure.risk(case.laplacian) - risk) / case.size
    norm = float(np.linalg.norm(case.laplacian.ravel(), structure.dual_order))
    return abs(average + case.ambiguity.radius * norm - risk) / case.size


def _derivatives(case: _Case) -> float | None:
    """Check that slope and bend are the derivatives of the divergence of atoms."""
    atoms = case.ambiguity.structure(case.nominal)
    if not isinstance(atoms, Atoms) or atoms.pieces:
        return None
    there = _tilted(atoms, case)
    step = _STEP * (there - atoms.shares)
    if not step.any():
        return 0.0
    ahead, behind = there + step, there - step
    slope = (atoms.divergence(ahead) - atoms.divergence(behind)) / 2
    bend = (atoms.slope(ahead) - atoms.slope(behind)) / 2
    expected_slope, expected_bend = float(atoms.slope(there) @ step), atoms.bend(there) * step
    return max(
        abs(slope - expected_slope) / abs(expected_slope),
        float(np.linalg.norm(bend - expected_bend) / np.linalg.norm(expected_bend)),
    )


def _losses(atoms: Atoms, case: _Case) -> Array:
    return np.asarray(np.einsum("ij,ij->i", atoms.signals @ case.laplacian, atoms.signals))


def _tilted(atoms: Atoms, case: _Case, *, within: bool = False) -> Array:
    """Return probabilities that favour large losses, optionally within the radius."""
    losses = _losses(atoms, case)
    tilt = losses - float(atoms.shares @ losses)
    if not tilt.any():
        return atoms.shares
    found = atoms.shares * (1.0 + tilt * (0.5 / float(np.abs(tilt).max())))
    while within and atoms.divergence(found) > atoms.radius:
        found = (found + atoms.shares) / 2
        if np.array_equal(found, atoms.shares):
            break
    return np.asarray(found)


def _finite(case: _Case) -> float | None:
    """Check that a distance declared finite is finite and depends on the second moment alone."""
    if not case.ambiguity.finite_distance:
        return None
    moment = case.other @ case.other
    bare = Nominal.from_rows(np.zeros(case.nominal.d), case.nominal.factor)
    here, there = (case.ambiguity.distance(seen, moment) for seen in (case.nominal, bare))
    return abs(here - there) / here if np.isfinite(here) else np.inf


#: Name → the error of a property.
_CHECKS: dict[str, _Check] = {
    "attains the risk": _attains,
    "inside": _inside,
    "proves itself": _proves_itself,
    "holds mixtures": _mixes,
    "distance never understates": _overstates,
    "holds the nominal": _holds_nominal,
    "support function": _supports,
    "convex": _convex,
    "homogeneous": _homogeneous,
    "gradient": _gradient,
    "radius 0 is the sample average": _neutral,
    "grows with the radius": _grows,
    "unit of the data": _unit,
    "structure": _structure,
    "derivatives of the divergence": _derivatives,
    "finite distance": _finite,
}


def _random_laplacian(rng: np.random.Generator, d: int) -> Array:
    weights = rng.exponential(size=d * (d - 1) // 2) + 0.01
    return laplacian_from_weights(weights * (d / (2 * weights.sum())))
