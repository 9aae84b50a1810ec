"""What to mend in a set that misses a property; ``check_ambiguity`` prints it."""

from __future__ import annotations

from wdro_cvx.ambiguity.base import AmbiguitySet

#: Name → what is missing if the property does not hold.
_REMEDIES = {
    "attains the risk": "worst_case must return a second_moment M with ⟨M, L⟩ equal to its risk",
    "inside": "membership.explain and distance must accept the matrix of a worst case",
    "proves itself": "build_moment must return pieces of the same second moment, which "
    "membership.read accepts and membership.measure finds within the radius",
    "holds mixtures": "the set must be convex: use its convex hull, which has the same risk. If it "
    "is, membership.measure must accept mixtures of worst cases with their rounding errors; where "
    "entries must be exact, allow about 1e-9 of their size",
    "distance never understates": "worst_case is not the worst, or distance (or "
    "membership.measure) is too small outside the set, so that forged certificates would count",
    "holds the nominal": "the nominal moment must be in the set, at distance 0",
    "support function": "worst_case is not the worst, or distance is too small: another point of "
    "the set has a larger risk",
    "convex": "the risk must be a maximum of ⟨M, L⟩ over a fixed set of moments",
    "homogeneous": "the risk of tL must be t times that of L, for small and large t > 0",
    "gradient": "second_moment must be the derivative of the risk in L",
    "radius 0 is the sample average": "worst_case must return ⟨Θ, L⟩ at radius 0",
    "grows with the radius": "a larger radius must not lower the risk",
    "unit of the data": "radius_degree is wrong, or scaled(factor) must scale other parameters",
    "structure": "structure(nominal) describes another set than worst_case",
    "derivatives of the divergence": "slope and bend must be the derivatives of divergence",
    "finite distance": "finite_distance is declared, but distance is infinite or reads more than Θ",
}

#: The same for sets without a membership of their own.
_PLAIN_REMEDIES = {
    "inside": "distance must be at most the radius at the second_moment of a worst case",
    "proves itself": "distance must be at most the radius at the moment of a worst case, and this "
    "must be its second_moment",
    "holds mixtures": "the set must be convex: use its convex hull, which has the same risk. If it "
    "is, distance must accept mixtures of worst cases with their rounding errors; where entries "
    "must be exact, allow about 1e-9 of their size",
    "distance never understates": "worst_case is not the worst, or distance is too small outside "
    "the set, so that forged certificates would count",
}


def remedy(name: str, ambiguity: AmbiguitySet) -> str:
    """Return what to do; sets without a membership of their own have only matrices."""
    plain = type(ambiguity).membership is AmbiguitySet.membership
    return _PLAIN_REMEDIES.get(name, _REMEDIES[name]) if plain else _REMEDIES[name]
