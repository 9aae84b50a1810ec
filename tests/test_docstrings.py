"""Docstrings keep their promises: their examples run, and every public name has one."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ["wdro_cvx", "formulations", "solvers", "experiments"]
PUBLIC = [
    "wdro_cvx",
    "wdro_cvx.ambiguity",
    "wdro_cvx.generators",
    "wdro_cvx.testing",
    "formulations",
    "solvers",
]

# Found as text: importing every module would cost more than running the examples.
WITH_EXAMPLES = [
    path.relative_to(ROOT).with_suffix("")
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if ">>>" in path.read_text()
]


def public_objects():
    """Every public class and function by its name in the first package that exports it."""
    found = {}
    for package in PUBLIC:
        room = importlib.import_module(package)
        for name in room.__all__:
            thing = getattr(room, name)
            if inspect.isroutine(thing) or inspect.isclass(thing):  # a type alias has no docstring
                found.setdefault(thing, f"{package}.{name}")
    return {name: thing for thing, name in found.items()}


def section(text, title):
    """The body of one section of a docstring in NumPy's style, or nothing."""
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return match[1] if match else ""


def faults(thing):
    """What a public docstring lacks."""
    text = inspect.cleandoc(thing.__doc__ or "")
    first = text.partition("\n")[0]
    if not first.endswith("."):
        yield f"the first line is not a sentence: {first!r}"
    if ">>>" not in section(text, "Examples"):
        yield "there is no example"
    if not inspect.isfunction(thing):
        return
    signature = inspect.signature(thing)
    # "radius, eta : float" describes two, "**options" is described under its own name.
    described = re.findall(r"^\**(\w[\w, *]*?)(?: :.*)?$", section(text, "Parameters"), re.M)
    missing = set(signature.parameters) - {one for line in described for one in line.split(", ")}
    if missing:
        yield f"parameters are not described: {', '.join(sorted(missing))}"
    if signature.return_annotation not in (None, "None") and not section(text, "Returns"):
        yield "there is no section Returns"


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=str)
def test_examples_run(path, own_registries, tmp_path, monkeypatch):
    module = importlib.import_module(".".join(path.parts).removesuffix(".__init__"))
    monkeypatch.chdir(tmp_path)
    heard = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for example in doctest.DocTestFinder().find(module):
        runner.run(example, out=heard.append)
    assert runner.tries > 0
    assert runner.failures == 0, "".join(heard)


def test_every_public_name_has_a_docstring_with_an_example():
    found = {name: list(faults(thing)) for name, thing in public_objects().items()}
    lacking = {name: what for name, what in found.items() if what}
    assert not lacking, "\n".join(f"{name}: {'; '.join(what)}" for name, what in lacking.items())


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('"""Return it."""', "no example"),
        ('"""Return it\n\n    Examples\n    --------\n    >>> 1\n    1\n    """', "not a sentence"),
        (
            '"""Return it.\n\n    Examples\n    --------\n    >>> 1\n    1\n    """',
            "described: tol",
        ),
    ],
)
def test_a_docstring_that_lacks_something_is_found(text, what):
    space = {}
    exec(f"def short(tol: float) -> float:\n    {text}", space)
    assert any(what in fault for fault in faults(space["short"]))
