"""Load user-defined variants from a Python file or an installed package.

A file registers classes, and may also assign sets and terms to names, such as
``both = KLBall(0.2) + WassersteinBall(0.5)``; comparisons take these by name.
A package declares an entry point in the group ``wdro_cvx.variants`` that names a module. Importing
the module registers its variants.
"""

from __future__ import annotations

import runpy
import sys
from importlib.metadata import entry_points
from pathlib import Path

from wdro_cvx import AmbiguitySet, Term, WdroError, registered_ambiguities, registered_terms

GROUP = "wdro_cvx.variants"
#: The sets and terms that files assign to names, with the file of each.
_NAMED: dict[str, tuple[AmbiguitySet | Term, Path]] = {}


def load_extension(path: str) -> None:
    """Run a Python file that registers variants, and keep the sets and terms that it names.

    Raises
    ------
    WdroError
        If the file does not exist or cannot be run, or a name is taken.
    """
    if not Path(path).is_file():
        raise WdroError(f"there is no file {path}; name a Python file that registers variants.")
    try:
        # The full path distinguishes files of the same name in the registries.
        found = runpy.run_path(path, run_name=f"extension:{Path(path).resolve()}")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # including SystemExit: the file must not end this process
        raise WdroError(
            f"the extension {path} cannot be loaded ({type(error).__name__}: {error}). Correct it; "
            "`python FILE` shows where it fails."
        ) from error
    for name, value in found.items():
        if isinstance(value, (AmbiguitySet, Term)) and not name.startswith("_"):
            _keep(name, value, Path(path).resolve())


def _keep(name: str, value: AmbiguitySet | Term, path: Path) -> None:
    known = {**registered_ambiguities(), **registered_terms()}
    taken = name in known or (name in _NAMED and _NAMED[name][1] != path)
    if taken:
        raise WdroError(f"{path} defines {name}, but there is a {name} already; rename it.")
    _NAMED[name] = value, path


def named_sets() -> dict[str, AmbiguitySet]:
    """Return the ambiguity sets that loaded files assign to names."""
    return {name: v for name, (v, _) in _NAMED.items() if isinstance(v, AmbiguitySet)}


def named_terms() -> dict[str, Term]:
    """Return the terms that loaded files assign to names."""
    return {name: v for name, (v, _) in _NAMED.items() if isinstance(v, Term)}


def load_installed() -> None:
    """Import the variants of installed packages."""
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # including SystemExit
            raise WdroError(
                f"the variant {point.name!r} of an installed package cannot be loaded "
                f"({type(error).__name__}: {error}). Uninstall or correct it."
            ) from error


def installed_files() -> list[Path]:
    """Return the Python files of installed packages that register variants."""
    found: list[Path] = []
    for point in entry_points(group=GROUP):
        module = sys.modules.get(point.module)
        folders = getattr(module, "__path__", ())
        found += [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
        if not folders and getattr(module, "__file__", None):
            found.append(Path(str(module.__file__)))  # type: ignore[union-attr]
    return found
