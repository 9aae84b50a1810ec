"""Load user-defined variants from a Python file or an installed package.

A file registers classes. It may also assign sets and terms to names, such as
``both = KLBall(0.2) + WassersteinBall(0.5)``; comparisons take these by name. It may import files
beside it, as with ``python FILE``. A package declares an entry point in the group
``wdro_cvx.variants`` that names a module. Importing the module registers its variants.
"""

from __future__ import annotations

import contextlib
import runpy
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from wdro_cvx import AmbiguitySet, Term, WdroError, registered_ambiguities, registered_terms

GROUP = "wdro_cvx.variants"
#: The sets and terms that files assign to names, with the file of each.
_NAMED: dict[str, tuple[AmbiguitySet | Term, Path]] = {}
#: The modules of each folder that its files have imported, by name.
_BESIDE: dict[Path, dict[str, ModuleType]] = {}


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
        found = _run(Path(path).resolve())
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


def _run(path: Path) -> dict[str, Any]:
    """Return what a file defines: run it, unless a file beside it has imported it."""
    beside = _BESIDE.setdefault(path.parent, {})
    name = f"extension:{path}"  # distinguishes files of the same name in the registries
    for module in beside.values():
        if getattr(module, "__file__", None) == str(path) and module.__name__ != name:
            return vars(module)
    with _importing_from(path.parent):
        found = runpy.run_path(str(path), run_name=name)
    # If a file beside it imports it later, it gets this module and registers no class again.
    beside[path.stem] = ModuleType(path.stem)
    vars(beside[path.stem]).update(found)
    return found


@contextlib.contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """Let a file import others of its folder, apart from modules of the same name elsewhere."""
    if folder in [Path(entry).resolve() for entry in sys.path]:
        yield
        return
    beside = _BESIDE[folder]
    sys.modules.update({name: beside[name] for name in beside.keys() - sys.modules.keys()})
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in list(sys.modules):
            if sys.modules[name] is beside.get(name) or _is_in(folder, name):
                beside[name] = sys.modules.pop(name)


def _is_in(folder: Path, name: str) -> bool:
    """Return whether a module was imported from a folder of files."""
    file, place = getattr(sys.modules[name], "__file__", None), folder.joinpath(*name.split("."))
    return file is not None and Path(file) in (place.with_suffix(".py"), place / "__init__.py")


def _keep(name: str, value: AmbiguitySet | Term, path: Path) -> None:
    known = {**registered_ambiguities(), **registered_terms()}
    if name in _NAMED and _NAMED[name][0] is value:  # imported from a file beside
        return
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
