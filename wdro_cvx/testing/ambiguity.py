"""Checks for authors of ambiguity sets: that ``worst_case`` keeps its promises.

Everything that the solvers and the judge rely on follows from a few properties of a support
function; each is tried on random data and Laplacians, and reported by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.ambiguity.transport_form import TransportForm
from wdro_cvx.errors import WdroError
from wdro_cvx.graphs.laplacian import laplacian_from_weights
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.testing.report import CheckReport, CheckResult
from wdro_cvx.validation import Array

_EXACT = 1e-8  # identities in double precision
_STEP = 1e-6
_SLOPE = 1e-4  # of one-sided differences with that step
_VISIBLE = 1e-6  # a premium below this share of the risk may be rounding
#: What a check may miss by, where that is not an identity in double precision.
_LIMITS = {"gradient": _SLOPE, "atoms": _SLOPE, "inside": 1e-6, "proves itself": 1e-6}


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


_Check = Callable[[_Case], float | None]


def check_ambiguity(
    ambiguity: AmbiguitySet, nominal: Nominal | None = None, instances: int = 5, seed: int = 0
) -> CheckReport:
    """Check that a set's worst case is one.

    Parameters
    ----------
    ambiguity : AmbiguitySet
        With a positive radius.
    nominal : Nominal, optional
        Data to try it on; random signals of six vertices if not given.
    instances : int
        How many pairs of Laplacians.
    seed : int
    """
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(instances):
        data = nominal or Nominal.from_samples(rng.standard_normal((15, 6)) + rng.random(6))
        cases.append(_Case(ambiguity, data, *(_random_laplacian(rng, data.d) for _ in range(2))))
    results = tuple(_try(name, check, cases) for name, check in _CHECKS.items())
    return CheckReport(repr(ambiguity), results)


def _try(name: str, check: _Check, cases: list[_Case]) -> CheckResult:
    """Run one check; it returns by how much a property is missed, relative, None without it."""
    try:
        found = [check(case) for case in cases]
    except WdroError as error:
        return CheckResult(name, False, f"raised {type(error).__name__}: {error}")
    misses = [miss for miss in found if miss is not None]
    if not misses:
        return CheckResult(name, True, "not offered")
    miss = float(np.max(misses))  # NaN if one is
    limit = _LIMITS.get(name, _EXACT)
    missed = not miss <= limit  # NaN is a miss
    return CheckResult(name, not missed, f"missed by {miss:.1e}, {limit:.0e} allowed")


def _attains(case: _Case) -> float:
    worst = case.ambiguity.worst_case(case.nominal, case.laplacian)
    return abs(float(np.vdot(worst.second_moment, case.laplacian)) - worst.risk) / case.size


def _inside(case: _Case) -> float:
    """See that the matrix alone, as the set explains it to the judge, is in the set."""
    worst = case.ambiguity.worst_case(case.nominal, case.laplacian)
    explained = case.ambiguity.explain(case.nominal, worst.second_moment)
    distance = case.ambiguity.proved_distance(case.nominal, explained)
    return max(distance / case.ambiguity.radius - 1.0, 0.0)


def _proves_itself(case: _Case) -> float:
    """See that what the worst case shows of itself agrees with its matrix, and is in the set."""
    worst = case.ambiguity.worst_case(case.nominal, case.laplacian)
    proved = case.ambiguity.proved_distance(case.nominal, worst.moment)
    differ = float(np.abs(worst.moment.second_moment - worst.second_moment).max())
    return max(
        proved / case.ambiguity.radius - 1.0,
        differ / max(float(np.abs(worst.second_moment).max()), 1e-300),
    )


def _overstates(case: _Case) -> float:
    """See that a moment whose risk exceeds the worst case, and so is outside, is said to be.

    The data are also tried with vertices in very different units, where roots lose digits.
    """
    missed = 0.0
    units = np.geomspace(1e-5, 1e5, case.nominal.d)
    for nominal in (case.nominal, case.nominal.scaled(units)):
        worst = case.ambiguity.worst_case(nominal, case.laplacian)
        centre = nominal.second_moment
        premium = worst.risk - float(np.vdot(centre, case.laplacian))
        if premium <= _VISIBLE * abs(worst.risk):
            continue  # the set is too small for its size to be seen at this Laplacian
        for excess in (1e-3, 1.0):
            outside = centre + (1.0 + excess) * (worst.second_moment - centre)
            distance = case.ambiguity.distance(nominal, outside)
            missed = max(missed, 1.0 - distance / case.ambiguity.radius)
    return missed


def _holds_nominal(case: _Case) -> float:
    theta = case.nominal.second_moment
    below = float(np.vdot(theta, case.laplacian)) - case.risk(case.laplacian)
    outside = case.ambiguity.distance(case.nominal, theta) - case.ambiguity.radius
    return max(outside, below, 0.0) / case.size


def _supports(case: _Case) -> float:
    """No point of the set does worse than the worst case."""
    elsewhere = case.ambiguity.worst_case(case.nominal, case.other).second_moment
    excess = float(np.vdot(elsewhere, case.laplacian)) - case.risk(case.laplacian)
    return max(excess, 0.0) / case.size


def _convex(case: _Case) -> float:
    middle = case.risk((case.laplacian + case.other) / 2)
    chord = (case.risk(case.laplacian) + case.risk(case.other)) / 2
    return max(middle - chord, 0.0) / case.size


def _homogeneous(case: _Case) -> float:
    return abs(case.risk(3.0 * case.laplacian) - 3.0 * case.risk(case.laplacian)) / case.size


def _gradient(case: _Case) -> float:
    """One-sided differences bracket the slope of a convex function, smooth or not."""
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


def _transport_form(case: _Case) -> float | None:
    """Compare the risk of the form, where there is one."""
    form = case.ambiguity.transport_form(case.nominal)
    if form is None:
        return None
    return abs(form.risk(case.laplacian) - case.risk(case.laplacian)) / case.size


def _norm_order(case: _Case) -> float | None:
    """Where a set says that it is a ball of a norm: the dual norm is what the risk adds."""
    order = case.ambiguity.norm_order
    if order is None:
        return None
    dual = np.inf if order == 1.0 else 1.0 if np.isinf(order) else order / (order - 1.0)
    premium = case.ambiguity.radius * float(np.linalg.norm(case.laplacian.ravel(), dual))
    average = float(np.vdot(case.nominal.second_moment, case.laplacian))
    return abs(average + premium - case.risk(case.laplacian)) / case.size


def _row_scales(case: _Case) -> float | None:
    """Where a set says that it moves signals: the risk is that of transport in this metric."""
    scales = case.ambiguity.row_scales
    if scales is None:
        return None
    metric = np.asarray(scales) ** -2.0 if scales else np.ones(case.nominal.d)
    form = TransportForm(case.nominal.factor, metric, case.ambiguity.radius)
    return abs(form.risk(case.laplacian) - case.risk(case.laplacian)) / case.size


def _reaches(case: _Case) -> float | None:
    """Where a set says that it has every moment: the distance is finite and looks at no signals."""
    if not case.ambiguity.reaches_all_moments:
        return None
    moment = case.other @ case.other
    bare = Nominal.from_rows(np.zeros(case.nominal.d), case.nominal.factor)
    here, there = (case.ambiguity.distance(seen, moment) for seen in (case.nominal, bare))
    return abs(here - there) / here if np.isfinite(here) else np.inf


def _atoms(case: _Case) -> float | None:
    """Where a set declares atoms: f′ and f″ belong to f, and what f allows the risk covers."""
    atoms = case.ambiguity.atoms(case.nominal)
    if atoms is None:
        return None
    losses = np.einsum("ij,ij->i", atoms.signals @ case.laplacian, atoms.signals)
    tilt = losses - float(atoms.shares @ losses)
    if not tilt.any():
        return atoms.divergence(atoms.shares)
    tilt *= 0.5 / float(np.abs(tilt).max())
    inside = atoms.shares * (1.0 + tilt)
    while atoms.divergence(inside) > atoms.radius:
        inside = (inside + atoms.shares) / 2
    excess = float(inside @ losses) - case.risk(case.laplacian)
    there = atoms.shares * (1.0 + tilt)
    step = _STEP * (there - atoms.shares)
    ahead, behind = there + step, there - step
    slope = (atoms.divergence(ahead) - atoms.divergence(behind)) / 2
    bend = (atoms.slope(ahead) - atoms.slope(behind)) / 2
    expected_slope, expected_bend = float(atoms.slope(there) @ step), atoms.bend(there) * step
    return max(
        excess / case.size,
        atoms.divergence(atoms.shares),
        abs(slope - expected_slope) / abs(expected_slope),
        float(np.linalg.norm(bend - expected_bend) / np.linalg.norm(expected_bend)),
    )


#: Name → by how much a property is missed.
_CHECKS: dict[str, _Check] = {
    "attains the risk": _attains,
    "inside": _inside,
    "proves itself": _proves_itself,
    "distance never understates": _overstates,
    "holds the nominal": _holds_nominal,
    "support function": _supports,
    "convex": _convex,
    "homogeneous": _homogeneous,
    "gradient": _gradient,
    "radius 0 is the sample average": _neutral,
    "grows with the radius": _grows,
    "unit of the data": _unit,
    "transport form": _transport_form,
    "norm order": _norm_order,
    "row scales": _row_scales,
    "reaches all moments": _reaches,
    "atoms": _atoms,
}


def _random_laplacian(rng: np.random.Generator, d: int) -> Array:
    weights = rng.exponential(size=d * (d - 1) // 2) + 0.01
    return laplacian_from_weights(weights * (d / (2 * weights.sum())))
