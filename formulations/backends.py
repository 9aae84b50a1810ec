"""CVXPY backends by name: which are installed, and which options set their accuracy."""

from __future__ import annotations

from typing import Any

import cvxpy as cp

from wdro_cvx.errors import SolverError

# The options that set a backend's tolerances. Any other installed backend works too: it runs at
# its default accuracy unless the caller passes options.
_TOLERANCE_OPTIONS: dict[str, tuple[str, ...]] = {
    "CLARABEL": ("tol_gap_abs", "tol_gap_rel", "tol_feas"),
    "COPT": ("RelGap", "FeasTol", "DualTol"),
    "CVXOPT": ("abstol", "reltol", "feastol"),
    "ECOS": ("abstol", "reltol", "feastol"),
    "HIGHS": ("primal_feasibility_tolerance", "dual_feasibility_tolerance"),
    "MOSEK": ("eps",),
    "OSQP": ("eps_abs", "eps_rel"),
    "PIQP": ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"),
    "PROXQP": ("eps_abs", "eps_rel"),
    "QOCO": ("abstol", "reltol"),
    "SCS": ("eps_abs", "eps_rel"),
    "SDPA": ("epsilonStar", "epsilonDash"),
}

# HiGHS and COPT refuse tighter tolerances.
_TIGHTEST = {"HIGHS": 1e-10, "COPT": 1e-9}

# By default, first-order backends stop before they reach a tight accuracy.
_EXTRA_OPTIONS: dict[str, dict[str, Any]] = {
    "SCS": {"max_iters": 1_000_000},
    "OSQP": {"max_iter": 1_000_000},
}

# Where the package's name is not the backend's in lower case.
_PACKAGES = {"COPT": "coptpy", "HIGHS": "highspy", "PROXQP": "proxsuite", "SDPA": "sdpa-python"}
#: Commercial backends, which are never a dependency.
LICENSED = ("COPT", "MOSEK")


def installed_backends() -> list[str]:
    """Return the names of the installed CVXPY backends, sorted.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from formulations import installed_backends
    >>> "CLARABEL" in installed_backends()
    True
    """
    return sorted(str(name) for name in cp.installed_solvers())


def how_to_install(backend: str) -> str:
    """Return how to install a backend, and that it needs a licence if it does."""
    command = f"pip install '{_PACKAGES.get(backend, backend.lower())}'"
    return f"{command}, and a licence" if backend in LICENSED else command


def check_backend(name: str) -> str:
    """Return the backend's name in capitals; raise SolverError if it is not installed."""
    backend = str(name).upper()
    if backend not in installed_backends():
        known = backend in _TOLERANCE_OPTIONS
        raise SolverError(
            f"solver must be an installed CVXPY backend; it is {name!r}, and installed are "
            f"{', '.join(installed_backends())}. Choose one of these, or install it with "
            f"{how_to_install(backend) if known else 'pip'}."
        )
    return backend


def backend_options(backend: str, tol: float) -> dict[str, Any]:
    """Return the options that make the backend solve to the accuracy ``tol``."""
    tol = max(tol, _TIGHTEST.get(backend, 0.0))
    options: dict[str, Any] = dict.fromkeys(_TOLERANCE_OPTIONS.get(backend, ()), tol)
    return options | _EXTRA_OPTIONS.get(backend, {})
