"""The ``wdro`` command: parses arguments, runs the command, and turns errors into exit codes."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from types import FrameType

from experiments.commands import BENCH, FIGURES, PROPOSITIONS, STRESS, STUDIES, add_verify
from experiments.compare.command import COMMAND as COMPARE
from experiments.learn import command as learn
from wdro_cvx import WdroError

#: These add the commands, in the order of ``wdro --help``; ``wdro study`` comes last.
COMMANDS = (
    learn.add, add_verify, COMPARE.add, PROPOSITIONS.add, FIGURES.add, BENCH.add, STRESS.add,
)  # fmt: skip

#: Exit codes. A result that does not hold is 1; an error of the user or the machine is 2; a defect
#: of wdro-cvx is 3; a signal is 128 plus its number, as in the shell.
ERROR, DEFECT = 2, 3


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of ``wdro`` with all commands and studies."""
    parser = argparse.ArgumentParser(
        prog="wdro",
        description="Robust graph learning under Wasserstein uncertainty: learn and verify graphs, "
        "compare formulations and solvers, and reproduce the paper.",
    )
    parser.add_argument("--version", action="version", version=f"wdro-cvx {version('wdro-cvx')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in COMMANDS:
        add(commands)
    about = "answer one of the finished questions, with a report"
    studies = commands.add_parser("study", help=about, description=f"{about.capitalize()}.")
    names = studies.add_subparsers(required=True, metavar="NAME")
    for study in STUDIES:
        study.add(names)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    options = make_parser().parse_args(arguments)
    received: list[int] = []
    try:
        with _stoppable(received):
            _load_variants()
            code: int = options.command(options)
            if sys.stdout is not None:  # None where the shell has closed it
                sys.stdout.flush()
    except WdroError as error:
        _say(f"wdro: {error}")
        return ERROR
    except KeyboardInterrupt:
        number = received[0] if received else signal.SIGINT
        _say("\nwdro: stopped; the same command resumes.")
        return 128 + number
    except BrokenPipeError:  # the reader of our output is gone, as in `wdro ... | head`
        _forget_output()
        return 128 + signal.SIGPIPE
    except MemoryError:
        _say("wdro: there is not enough memory; use fewer vertices.")
        return ERROR
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            _forget_output()
            _say(f"wdro: the output cannot be written ({error}); saved results are kept.")
            return ERROR
        _say(traceback.format_exc() + "wdro: this is a defect of wdro-cvx; saved results are kept.")
        return DEFECT
    return code


def _say(text: str) -> None:
    with contextlib.suppress(OSError):  # the exit code is enough
        print(text, file=sys.stderr, flush=True)


def _forget_output() -> None:
    """Discard buffered output, which would raise when the interpreter exits."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _load_variants() -> None:
    from experiments.measuring.extensions import load_installed

    load_installed()


@contextlib.contextmanager
def _stoppable(received: list[int]) -> Iterator[None]:
    """Make SIGTERM and SIGHUP end a run as Ctrl-C does: cleanly, with nothing left running."""

    def stop(number: int, frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    sys.exit(main())
