"""CVXPY backends by name: which are installed, and how each is told an accuracy."""

from __future__ import annotations

from typing import Any

import cvxpy as cp

from wdro_cvx.errors import SolverError

# The options through which a backend takes a tolerance. A backend that is not listed still works
# by name; it then runs at its own default accuracy unless the caller passes its options.
_TOLERANCE_OPTIONS: dict[str, tuple[str, ...]] = {
    "CLARABEL": ("tol_gap_abs", "tol_gap_rel", "tol_feas"),
    "SCS": ("eps_abs", "eps_rel"),
    "OSQP": ("eps_abs", "eps_rel"),
    "PIQP": ("eps_abs", "eps_rel"),
}

# First-order backends stop by default after fewer iterations than tight accuracy takes.
_EXTRA_OPTIONS: dict[str, dict[str, Any]] = {
    "SCS": {"max_iters": 1_000_000},
    "OSQP": {"max_iter": 1_000_000},
}


def installed_backends() -> list[str]:
    """Return the names of the installed CVXPY backends."""
    return sorted(str(name) for name in cp.installed_solvers())


def check_backend(name: str) -> str:
    """Return the backend's name in capitals, or say which ones there are."""
    backend = str(name).upper()
    if backend not in installed_backends():
        raise SolverError(
            f"solver {name!r} is not an installed CVXPY backend; installed are "
            f"{', '.join(installed_backends())}. Install it with pip, or name one of these."
        )
    return backend


def backend_options(backend: str, tol: float) -> dict[str, Any]:
    """Return the backend's options for the accuracy ``tol``."""
    options: dict[str, Any] = dict.fromkeys(_TOLERANCE_OPTIONS.get(backend, ()), tol)
    return options | _EXTRA_OPTIONS.get(backend, {})
