"""The ``wdro`` command: collects the commands, and answers for how they end."""

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

from experiments.bench.command import COMMAND as BENCH
from experiments.compare.command import COMMAND as COMPARE
from experiments.figures import command as figures
from experiments.learn import command as learn
from experiments.propositions import command as propositions
from experiments.stress.command import COMMAND as STRESS
from experiments.studies.explain import command as explain
from experiments.studies.shift.command import COMMAND as SHIFT
from experiments.studies.temperature import command as temperature
from experiments.studies.validate import command as validate
from experiments.verify import command as verify
from wdro_cvx import WdroError

COMMANDS = (
    COMPARE, BENCH, STRESS, propositions, figures, explain, learn, verify,
    temperature, validate,
)  # fmt: skip

STUDIES = (SHIFT,)

#: Exit codes: something claimed does not hold is 1, an error of the user's or the machine's 2, a
#: defect of ours 3, and a signal 128 plus its number, as the shell has it.
ERROR, DEFECT = 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="wdro",
        description="Robust graph learning under Wasserstein uncertainty: comparisons and benches.",
    )
    parser.add_argument("--version", action="version", version=f"wdro-cvx {version('wdro-cvx')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    studies = commands.add_parser("study", help="the finished questions, each with its report")
    chosen = studies.add_subparsers(required=True, metavar="NAME")
    for study in STUDIES:
        study.add(chosen)
    options = parser.parse_args(arguments)
    received: list[int] = []
    try:
        with _stoppable(received):
            _load_variants()
            code: int = options.command(options)
            if sys.stdout is not None:  # as it is where the shell has closed it
                sys.stdout.flush()
    except WdroError as error:
        _say(f"wdro: {error}")
        return ERROR
    except KeyboardInterrupt:
        number = received[0] if received else signal.SIGINT
        _say("\nwdro: stopped; the same command goes on from here.")
        return 128 + number
    except BrokenPipeError:  # who read our output has gone, as in `wdro ... | head`
        _forget_output()
        return 128 + signal.SIGPIPE
    except MemoryError:
        _say("wdro: there is not enough memory for this; take fewer vertices.")
        return ERROR
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            _forget_output()
            _say(f"wdro: there is no room for what it says ({error}); what was saved is kept.")
            return ERROR
        _say(traceback.format_exc() + "wdro: this is a defect of wdro-cvx; what was saved is kept.")
        return DEFECT
    return code


def _say(text: str) -> None:
    with contextlib.suppress(OSError):  # the exit code says it too
        print(text, file=sys.stderr, flush=True)


def _forget_output() -> None:
    """Leave nothing for the interpreter to write, and to stumble over, when it ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _load_variants() -> None:
    from experiments.measuring.extensions import load_installed

    load_installed()


@contextlib.contextmanager
def _stoppable(received: list[int]) -> Iterator[None]:
    """Have SIGTERM and SIGHUP end a run as Ctrl-C does: cleanly, with nothing left running."""

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
