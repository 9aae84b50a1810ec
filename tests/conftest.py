import os

# Two test workers share two cores; more BLAS threads than that only get in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

from experiments.running.extensions import load_extension

settings.register_profile(
    "suite",
    deadline=None,  # a loaded machine is not a failure
    derandomize=True,  # the same examples on every run
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")


def pytest_addoption(parser):
    parser.addoption(
        "--with",
        action="append",
        default=[],
        help="a Python file that registers variants; tests/conformance tries them like ours",
    )


def pytest_configure(config):
    for path in config.getoption("--with"):
        load_extension(path)
