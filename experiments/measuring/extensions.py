"""Variants from outside: a Python file named on the command line, or an installed package.

A package registers by an entry point in the group ``wdro_cvx.variants`` that names a module; it is
imported, and its decorators do the rest.
"""

from __future__ import annotations

import runpy
import sys
from importlib.metadata import entry_points
from pathlib import Path

from wdro_cvx import WdroError

GROUP = "wdro_cvx.variants"


def load_extension(path: str) -> None:
    """Run a Python file, which registers sets, formulations or solvers of its own."""
    if not Path(path).is_file():
        raise WdroError(f"there is no file {path}; name a Python file that registers variants.")
    try:
        # By its whole path: two files of one name are two origins, and the registries tell.
        runpy.run_path(path, run_name=f"extension:{Path(path).resolve()}")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a file that ends us is a file that fails
        raise WdroError(
            f"the extension {path} cannot be loaded ({type(error).__name__}: {error}). Mend it: "
            "`python FILE` shows where."
        ) from error


def load_installed() -> None:
    """Import what installed packages register."""
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too
            raise WdroError(
                f"the variant {point.name!r} of an installed package cannot be loaded "
                f"({type(error).__name__}: {error}). Uninstall or mend it."
            ) from error


def installed_files() -> list[Path]:
    """Return the code of what installed packages register, as far as it is Python."""
    found: list[Path] = []
    for point in entry_points(group=GROUP):
        module = sys.modules.get(point.module)
        folders = getattr(module, "__path__", ())
        found += [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
        if not folders and getattr(module, "__file__", None):
            found.append(Path(str(module.__file__)))  # type: ignore[union-attr]
    return found
