"""The ``wdro`` command: parses arguments, runs the command, and turns errors into exit codes."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import errno
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from types import FrameType
from typing import Any, NoReturn

from experiments.commands import PAPER, STUDIES, add_verify
from experiments.learn import command as learn
from experiments.measuring.extensions import load_installed
from wdro_cvx import WdroError

#: Functions that add the commands, by heading of ``wdro --help``; ``wdro study`` comes last.
COMMANDS = {
    "Your data": (learn.add, add_verify),
    "The paper": tuple(command.add for command in PAPER),
}

#: Exit codes. A failed check is 1; an error of the user or the machine is 2; a defect of wdro-cvx
#: is 3; a signal is 128 plus its number, as in the shell.
ERROR, DEFECT = 2, 3


class _Parser(argparse.ArgumentParser):
    """A parser that suggests what was meant, and points to the help instead of the usage."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse an unknown option in the parser of its command, which knows similar options."""
        options, rest = super().parse_known_args(args, namespace)
        unknown = [word.partition("=")[0] for word in rest if word.startswith("-")]
        if unknown:
            near = difflib.get_close_matches(unknown[0], self._option_string_actions, 1)
            self.error(f"no option {unknown[0]}" + (f"; did you mean {near[0]}?" if near else ""))
        return options, rest

    def error(self, message: str) -> NoReturn:
        """Exit with a sentence; for a mistyped choice, suggest the nearest one."""
        choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if choice:
            near = difflib.get_close_matches(choice[1], re.findall(r"[\w-]+", choice[2]), 1)
            if near:
                message = f"{message[: choice.end(1)]}'; did you mean {near[0]}?"
        self.exit(ERROR, f"{self.prog}: {message}\nSee {self.prog} --help\n")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of ``wdro`` with all commands and studies."""
    parser: argparse.ArgumentParser = _Parser(
        prog="wdro",
        usage="wdro COMMAND [options]",
        description="Robust graph learning under Wasserstein uncertainty: learn and verify graphs, "
        "compare formulations and solvers, and reproduce the paper.",
        epilog="wdro COMMAND --help explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"wdro-cvx {version('wdro-cvx')}")
    parser.set_defaults(command=_help_of(parser))
    commands = parser.add_subparsers(prog="wdro", metavar="COMMAND", help=argparse.SUPPRESS)
    for heading, members in COMMANDS.items():
        for add in members:
            add(commands)
        section = parser.add_argument_group(heading)
        # argparse lists all commands under one heading; move these under their own.
        section._group_actions, commands._choices_actions = commands._choices_actions, []
    about = "run one of the longer studies, each of one question, and write its report"
    studies = commands.add_parser("study", help=about, description=f"{about.capitalize()}.")
    section._group_actions += commands._choices_actions
    commands._choices_actions = []
    studies.set_defaults(command=_help_of(studies))
    names = studies.add_subparsers(metavar="NAME")
    for study in STUDIES:
        study.add(names)
    return parser


def _help_of(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Return a command that prints the help and returns 0; a missing command is no error."""

    def show(options: argparse.Namespace) -> int:
        parser.print_help()
        return 0

    return show


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    options = make_parser().parse_args(arguments)
    received: list[int] = []
    try:
        with _stoppable(received):
            load_installed()
            code: int = options.command(options)
            if sys.stdout is not None:  # None where the shell has closed it
                sys.stdout.flush()
    except WdroError as error:
        _say(f"wdro: {error}")
        return ERROR
    except KeyboardInterrupt:
        number = received[0] if received else signal.SIGINT
        resumes = hasattr(options, "fresh")  # such commands can also discard what they resume
        _say(f"\nwdro: stopped; {'the same command resumes' if resumes else 'start it again'}.")
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
        _say(
            f"{traceback.format_exc()}wdro: this is a defect of wdro-cvx; saved results are kept. "
            "Please report it, with the command and all of this output (CONTRIBUTING.md, Reports)."
        )
        return DEFECT
    return code


def _say(text: str) -> None:
    with contextlib.suppress(OSError):  # the exit code is enough
        print(text, file=sys.stderr, flush=True)


def _forget_output() -> None:
    """Discard buffered output, which would raise when the interpreter exits."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
