"""Checks for authors of new variants: each property by name, with what was seen."""

from wdro_cvx.testing.ambiguity import check_ambiguity
from wdro_cvx.testing.formulation import check_formulation
from wdro_cvx.testing.report import CheckReport, CheckResult
from wdro_cvx.testing.solver import check_solver
from wdro_cvx.testing.term import check_term

__all__ = [
    "CheckReport",
    "CheckResult",
    "check_ambiguity",
    "check_formulation",
    "check_solver",
    "check_term",
]
