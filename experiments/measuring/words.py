"""Name methods in words, for figures and reports."""

from __future__ import annotations

_BACKENDS = {
    "CLARABEL": "Clarabel", "SCS": "SCS", "PIQP": "PIQP", "OSQP": "OSQP", "HIGHS": "HiGHS",
    "PROXQP": "ProxQP", "CVXOPT": "CVXOPT", "SDPA": "SDPA", "ECOS": "ECOS", "QOCO": "QOCO",
    "MOSEK": "MOSEK", "COPT": "COPT",
}  # fmt: skip
_FORMS = {
    "GaussianSDP": "the paper's SDP",
    "GaussianClosedForm": "Theorem 1's closed form",
    "GeneralSDP": "the SDP over samples",
    "GeneralRegularized": "the norm form",
    "SampleAverage": "the QP over weights",
    "SampleAverage/matrix": "the QP over matrices",
    "RobustPremium": "the premium form",
    "GaussianDual": "the dual SDP",
    "CombinedProgram": "the program of the parts",
    "WeightsIntersectionProgram": "the intersection of weights",
    "ShiftIntersectionProgram": "the intersection of shifts",
    "CoordinatesProgram": "the program in coordinates",
    "ChiSquarePremium": "the χ² premium",
    "CVaRProgram": "the CVaR program",
    "HellingerDual": "the Hellinger dual",
    "KLDual": "the KL dual",
    "MahalanobisPremium": "the premium with scales",
    "MetricPremium": "the premium in a metric",
    "MomentPremium": "the premium of mean and covariance",
    "PairRegularized": "the QP with a radius per pair",
    "TotalVariationProgram": "the total-variation program",
}
_SOLVERS = {
    "PrintedDescent": "Algorithm 3 as printed, ∇ corrected",
    "PrintedGradient": "Algorithm 4 as printed, ∇ corrected",
    "BlockDescent": "Algorithm 3 improved",
    "ProjectedGradient": "projected gradient improved",
    "CertifiedSolver": "certified solver",
    "MomentNewton": "Newton's method",
    "SparseSolver": "sparse solver",
    "LikelihoodSolver": "likelihood solver",
}


def method_words(method: str) -> str:
    """Return a method's name in words, such as "Clarabel on the paper's SDP".

    Methods without a name here, such as those of extensions, keep their own.

    Examples
    --------
    >>> method_words("GaussianSDP:CLARABEL@1e-8")
    "Clarabel on the paper's SDP, tolerance 1e-8"
    >>> method_words("PrintedGradient@1e-3")
    'Algorithm 4 as printed, ∇ corrected, error 1e-3'
    """
    plain, at, tolerance = method.partition("@")
    name, _, backend = plain.partition(":")
    if backend:
        told = f"{_BACKENDS.get(backend, backend)} on {_FORMS.get(name, name)}"
        rule = f", tolerance {_short(tolerance)}"
    elif name in _BACKENDS:
        told, rule = f"{_BACKENDS[name]}, called directly", f", tolerance {_short(tolerance)}"
    else:
        told, rule = _SOLVERS.get(name, name), f", error {_short(tolerance)}"
    return told + (rule if at else "")


def _short(number: str) -> str:
    """Return 0.001 as 1e-3 and 1e-08 as 1e-8."""
    mantissa, _, exponent = f"{float(number):e}".partition("e") if number else ("", "", "0")
    return f"{float(mantissa):g}e{int(exponent)}" if number else ""
