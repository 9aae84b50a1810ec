import gc
import os
from collections import defaultdict

# Two test workers share two cores; more threads would only slow them down.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Tests start many processes. Without bytecode, each would compile our modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import pytest
from effort import PROFILES
from hypothesis import HealthCheck, settings
from products import covering, values_of

for profile, examples in PROFILES.items():
    settings.register_profile(
        profile,
        max_examples=int(os.environ.get("FUZZ_EXAMPLES", examples)),  # `make fuzz` sets it
        deadline=None,  # a loaded machine is not a failure
        derandomize=True,  # the same examples on every run
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("quick")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep modules and tests out of garbage collection, because they live until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Keep cases of a product of parameters that cover every value; mark the others as slow.

    A fault is found by a test that aims at it or by a value that takes another path through the
    code. A single combination of values is hardly ever needed (tests/mutants).
    """
    products = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec") and not item.get_closest_marker("slow"):
            products[item.parent.nodeid, item.originalname].append(item)
    for cases in products.values():
        kept = covering([set(values_of(case)) for case in cases])
        for number, case in enumerate(cases):
            if number not in kept:
                case.add_marker("slow")


@pytest.fixture
def own_registries():
    """Restore the registries when the test ends."""
    # Imported here, because the process that only distributes tests needs none of it.
    import formulations
    import solvers
    from experiments.measuring import extensions
    from wdro_cvx.ambiguity import base
    from wdro_cvx.terms import base as terms

    modules = (base, formulations.base, solvers.base, terms)
    registries = [module._REGISTRY for module in modules]
    known = [dict(registry._known) for registry in registries]
    named, beside = dict(extensions._NAMED), dict(extensions._BESIDE)
    yield
    extensions._NAMED, extensions._BESIDE = named, beside
    for registry, before in zip(registries, known, strict=True):
        registry._known = before


@pytest.fixture
def few_halves(monkeypatch):
    """Let the bootstrap compare a table with few of its halves; its radius is then less exact."""
    monkeypatch.setattr("solvers.selection.bootstrap._COLUMNS", 20)


@pytest.fixture
def cheap_choice(monkeypatch, few_halves):
    """Choose a radius from few candidates, for tests of something else."""
    monkeypatch.setattr("solvers.selection.radius.PREDICTION_RADII", (0.01, 0.1, 0.5))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give every worker consecutive tests, so that most files run in one worker only.

    What a file shares (a browser, a cluster, learned graphs) is then not made in every worker.
    """
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_addoption(parser):
    parser.addoption(
        "--with",
        action="append",
        default=[],
        help="a Python file that registers variants; tests/conformance tries them like ours",
    )


def pytest_configure(config):
    for path in config.getoption("--with"):
        from experiments.measuring.extensions import load_extension

        load_extension(path)
