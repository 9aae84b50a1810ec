"""Checks for every fuzzed call: it ends in time, and fails only with the project's own errors."""

import contextlib
import io
import os
import signal
from dataclasses import dataclass

from effort import examples
from hypothesis import HealthCheck, settings

from experiments.cli import main
from wdro_cvx import WdroError

_EXAMPLES = os.environ.get("FUZZ_EXAMPLES")  # `make fuzz` sets it
LONG = _EXAMPLES is not None

#: A short deterministic run with the other tests, or a long random one that looks for new bugs.
FUZZ = settings(
    max_examples=int(_EXAMPLES or examples(15).max_examples),
    derandomize=not LONG,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
HANG_S = 120  # seconds of CPU time


@contextlib.contextmanager
def within_reason():
    """Fail if the code inside computes for more than ``HANG_S`` seconds."""

    def stop(*_):
        raise AssertionError(f"no end after {HANG_S} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, HANG_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


def run_command(arguments):
    """Run ``wdro`` in this process; fail on a traceback, a leaked warning or a hang."""
    out, err = io.StringIO(), io.StringIO()
    with within_reason(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as leaving:  # argparse
            code = leaving.code
    said = Said(code, out.getvalue(), err.getvalue())
    assert code in (0, 1, 2), said.err
    assert "Traceback" not in said.err
    if code == 2:
        sentences = [line for line in said.err.splitlines() if line.startswith("wdro")]
        assert len(sentences) == 1, said.err
    return said


def call(function, *arguments, **options):
    """Return the value of an API call, or the WdroError that it raised; warnings are errors."""
    with within_reason():
        try:
            return function(*arguments, **options)
        except WdroError as error:
            return error
