"""Digest the code behind a result: the modules that its trial imports, and the libraries.

A result depends on every module of our four packages that its trial imports at run time, directly
or indirectly, and on the versions of the numerical libraries. Docstrings, comments, formatting,
type-checking imports, drawings, reports and other commands do not count. Digests are comparable
only within one minor version of Python, because the syntax tree changes between versions.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from experiments.measuring.extensions import installed_files

ROOT = Path(__file__).parents[2]
LIBRARIES = (
    "numpy", "scipy", "cvxpy", "clarabel", "scs", "piqp", "osqp", "highspy", "proxsuite",
    "qpsolvers", "cvxopt", "ecos", "qoco", "sdpa-python", "networkx", "scikit-learn",
)  # fmt: skip
PACKAGES = ("wdro_cvx", "formulations", "solvers", "experiments")
#: Modules that import this only draw; results do not depend on them.
_DRAWS = "matplotlib"
#: Modules that only make pages; results depend neither on them nor on what only they import.
_SHOWS = ("solvers.learned.html",)
#: A package whose ``__init__`` calls one of these imports all its modules to register them, except
#: those that it lists in a literal tuple ``_ON_DEMAND``.
_IMPORTS_ALL = ("iter_modules", "walk_packages")
#: Literals of an ``__init__``: the modules that it does not import, and the public names that it
#: loads when they are asked for, with their modules.
_ON_DEMAND, _LAZY = "_ON_DEMAND", "_LAZY"

_WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

#: Digests by module, library or file.
Code = dict[str, str]


@dataclass(frozen=True)
class Source:
    """What the results of a command depend on, besides their settings.

    Attributes
    ----------
    trials : names of modules
        The modules that contain the trials.
    extensions : paths
        Python files that register variants. The files beside them that they import are added
        automatically, and so are files of installed packages.
    data : paths
        Files that the trials read.
    """

    trials: tuple[str, ...]
    extensions: tuple[str, ...] = ()
    data: tuple[Path, ...] = ()

    def code(self) -> Code:
        """Return the digest of every module, library and file, by name."""
        found = {f"{name} (library)": library_version(name) for name in LIBRARIES}
        for name in sorted(modules_of(self.trials)):
            found[name] = _parsed(name).essence
        extensions = _with_imports(map(Path, self.extensions))
        for path in (*extensions, *installed_files(), *self.data):
            inside = path.resolve().is_relative_to(ROOT)
            label = str(path.resolve().relative_to(ROOT)) if inside else str(path)
            found[label] = _digest(path.read_bytes())
        return found

    def digest(self) -> str:
        """Return one digest of everything in ``code``."""
        lines = (f"{name} {digest}" for name, digest in sorted(self.code().items()))
        return _digest("\n".join(lines).encode())


def _with_imports(files: Iterable[Path]) -> list[Path]:
    """Return Python files and the files of their folders that they import, transitively."""
    found = list(files)
    for path in found:  # the list grows
        try:
            imports = _parse(path, path.stat().st_mtime_ns).imports
        except (SyntaxError, ValueError):  # not Python; running the file reports the error
            continue
        for name in sorted({name.partition(".")[0] for name in imports} - set(PACKAGES)):
            place = path.parent / name
            beside = [place.with_suffix(".py"), *sorted(place.rglob("*.py"))]
            found += [file for file in beside if file.is_file() and file not in found]
    return found


def library_version(name: str) -> str:
    """Return the version of a library, or ``not installed``."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def modules_of(starts: Iterable[str]) -> set[str]:
    """Return the given modules and everything they import from our packages, transitively."""
    waiting = list(starts)
    for name in waiting:
        if not _path_of(name).is_file():
            raise ValueError(f"there is no module {name}.")
    found, seen = set(waiting), set(waiting)
    while waiting:
        new = _imported_by(waiting.pop()) - seen - set(_SHOWS)
        seen |= new
        kept = [name for name in new if _path_of(name).is_file() and not _parsed(name).draws]
        found.update(kept)
        waiting += kept
    return found


def _imported_by(name: str) -> set[str]:
    """Return the names that a module imports from our packages, and all parents of these names."""
    parsed = _parsed(name)
    names = {name, *parsed.imports, *_loaded_lazily(parsed)}
    if parsed.imports_all:
        files = {_name_of(file) for file in _path_of(name).parent.rglob("*.py")}
        apart = tuple(f"{name}.{module}." for module in parsed.on_demand)
        names |= {file for file in files if not f"{file}.".startswith(apart)}
    ours = {name for name in names if name.partition(".")[0] in PACKAGES}
    return {name.rsplit(".", cut)[0] for name in ours for cut in range(name.count(".") + 1)}


def _loaded_lazily(parsed: _Parsed) -> Iterator[str]:
    """Yield the modules behind the lazy names of our packages that a module uses."""
    for package in PACKAGES:
        if package in parsed.imports and _path_of(package).is_file():
            for name, module in _parsed(package).lazy:
                if f"{package}.{name}" in parsed.imports or name in parsed.attributes:
                    yield f"{package}.{module}"


@dataclass(frozen=True)
class _Parsed:
    """The digest of a module's code, its imports and attributes, and whether it draws.

    ``on_demand`` and ``lazy`` are the literals of an ``__init__``.
    """

    essence: str
    imports: frozenset[str]
    attributes: frozenset[str]
    imports_all: bool
    on_demand: tuple[str, ...]
    lazy: tuple[tuple[str, str], ...]
    draws: bool


def _parsed(name: str) -> _Parsed:
    path = _path_of(name)
    return _parse(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=4096)
def _parse(path: Path, changed: int) -> _Parsed:
    try:
        tree = ast.parse(path.read_bytes())
    except SystemError:  # Python 3.11 mixes up the depths of threads that parse at once; try again
        tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
        elif isinstance(node, _WITH_DOCSTRINGS) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    imports: set[str] = set()
    attributes: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imports |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Attribute):
            attributes.add(node.attr)
    literals = _literals(tree) if path.name == "__init__.py" else {}
    return _Parsed(
        _digest(ast.dump(tree).encode()),
        frozenset(imports),
        frozenset(attributes),
        path.name == "__init__.py" and not attributes.isdisjoint(_IMPORTS_ALL),
        tuple(literals.get(_ON_DEMAND, ())),
        tuple(literals.get(_LAZY, {}).items()),
        any(name.partition(".")[0] == _DRAWS for name in imports),
    )


def _literals(tree: ast.Module) -> dict[str, Any]:
    """Return the values of ``_ON_DEMAND`` and ``_LAZY`` if a module assigns them."""
    return {
        target.id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in (_ON_DEMAND, _LAZY)
    }


def _path_of(name: str) -> Path:
    path = ROOT.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
