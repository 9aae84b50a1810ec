"""Load variants of users: a Python file from the command line, or an installed package.

A package has an entry point in the group ``wdro_cvx.variants`` that names a module. Importing the
module registers its variants.
"""

from __future__ import annotations

import runpy
import sys
from importlib.metadata import entry_points
from pathlib import Path

from wdro_cvx import WdroError

GROUP = "wdro_cvx.variants"


def load_extension(path: str) -> None:
    """Run a Python file that registers sets, formulations or solvers.

    Raises
    ------
    WdroError
        If there is no such file, or it cannot be run.
    """
    if not Path(path).is_file():
        raise WdroError(f"there is no file {path}; name a Python file that registers variants.")
    try:
        # The whole path tells two files of the same name apart in the registries.
        runpy.run_path(path, run_name=f"extension:{Path(path).resolve()}")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: the file must not end us
        raise WdroError(
            f"the extension {path} cannot be loaded ({type(error).__name__}: {error}). Correct it; "
            "`python FILE` shows where it fails."
        ) from error


def load_installed() -> None:
    """Import the variants of installed packages."""
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too
            raise WdroError(
                f"the variant {point.name!r} of an installed package cannot be loaded "
                f"({type(error).__name__}: {error}). Uninstall or correct it."
            ) from error


def installed_files() -> list[Path]:
    """Return the Python files of variants from installed packages."""
    found: list[Path] = []
    for point in entry_points(group=GROUP):
        module = sys.modules.get(point.module)
        folders = getattr(module, "__path__", ())
        found += [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
        if not folders and getattr(module, "__file__", None):
            found.append(Path(str(module.__file__)))  # type: ignore[union-attr]
    return found
