"""What every fuzzed call must do: end in time, and fail with a sentence of ours or not at all."""

import contextlib
import io
import os
import signal
from dataclasses import dataclass

from hypothesis import HealthCheck, settings

from experiments.cli import main
from wdro_cvx import WdroError

_EXAMPLES = os.environ.get("FUZZ_EXAMPLES")  # `make fuzz` sets it
LONG = _EXAMPLES is not None

#: A short run with the other tests, the same every time; a long one that looks for what is new.
FUZZ = settings(
    max_examples=int(_EXAMPLES or 12),
    derandomize=not LONG,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
HANG_S = 120  # of CPU time


@contextlib.contextmanager
def within_reason():
    """Fail a call that computes for minutes on a problem of a few vertices."""

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
    """Run ``wdro`` here; fail on a traceback, a leaked warning or a hang."""
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
    """Call an API; return its value, or the error of ours that it raised. Warnings are errors."""
    with within_reason():
        try:
            return function(*arguments, **options)
        except WdroError as error:
            return error
