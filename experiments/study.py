"""A study: one question, answered by trials, and a report that can be made again.

A study is one function, ``answer``. It asks its :class:`Run` for rows and returns a
:class:`Report`: text, tables and figures. The rest is the same for all studies and implemented
here: the folder and its lock, resuming, clusters, provenance, the frame of the report,
``--reference`` and the exit code. A :class:`Command` turns arguments into a study.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from experiments.measuring.digest import Source
from experiments.measuring.display import note
from experiments.measuring.files import (
    choose_output,
    locked,
    publish,
    write_atomically,
    write_table,
)
from experiments.measuring.options import add_output
from experiments.measuring.outcome import Limits, Outcome
from experiments.measuring.parallel import Trial, run_trials
from experiments.measuring.provenance import provenance_line, write_provenance
from experiments.measuring.store import Row, Store, flat

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from experiments.measuring.campaign import Planned
    from experiments.measuring.options import Commands

T = TypeVar("T")
#: Arguments that do not change results.
_NOT_SETTINGS = ("command", "output", "reference", "fresh", "dask")


@dataclass(frozen=True)
class Report:
    """The results of a study; :meth:`Study.carry_out` writes them.

    Attributes
    ----------
    title : str
    parts : sequence of str
        Paragraphs and tables in Markdown. The frame adds title, command and provenance.
    tables : mapping
        Data frames by file name without suffix; written as CSV.
    figures : mapping
        Figures by file name without suffix; written as PNG and PDF.
    files : mapping
        Further files, text or bytes, by file name.
    summary : str
        Text for the terminal.
    failure : str
        What failed, for the terminal; the exit code is then 1.
    name : str
        The file name of the report, without suffix.
    """

    title: str
    parts: Sequence[str]
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    summary: str = ""
    failure: str = ""
    name: str = "report"


@dataclass(frozen=True, eq=False)
class Run:
    """One run of a study: its folder, its stored results, and the command that repeats it."""

    output: Path
    store: Store
    command: str
    scheduler: str | None = None

    def trials(
        self, tasks: Sequence[T], trial: Trial[T], label: str, jobs: int | None = None
    ) -> list[Row]:
        """Return one row for every task; see :func:`experiments.measuring.parallel.run_trials`."""
        return run_trials(tasks, trial, self.store, label, jobs, self.scheduler)

    def table(self, tasks: Sequence[T], trial: Trial[T], label: str) -> pd.DataFrame:
        """Return the fields of every task and its row, as a table."""
        import pandas as pd  # slow to import, and only needed here

        rows = self.trials(tasks, trial, label)
        return pd.DataFrame([flat(task) | row for task, row in zip(tasks, rows, strict=True)])

    def measure(
        self, planned: Sequence[Planned], label: str, extensions: Sequence[str] = ()
    ) -> pd.DataFrame:
        """Return one row for every measurement, each made in a process of its own."""
        from experiments.measuring.campaign import run_campaign  # CVXPY, slow to import

        return run_campaign(planned, self.store, label, tuple(extensions))

    def isolated(
        self, tasks: Mapping[Any, T], trial: Trial[T], limits: Limits, fields: Row
    ) -> pd.DataFrame:
        """Return one row for every cell, each made by a trial in a process of its own.

        Parameters
        ----------
        tasks : mapping
            The argument of the trial for every cell. Results are stored by cell.
        trial : callable
            Defined at the top level of a module. Its row has the CPU time ``total_s``.
        limits : Limits
        fields : mapping
            The fields of a row without an answer.
        """
        import pandas as pd

        from experiments.measuring.isolated import run_isolated

        rows = []
        for cell, task in tasks.items():
            row = self.store.load(cell)
            if row is None:
                found = run_isolated(trial, task, limits)
                row = fields | {"outcome": found.outcome, "message": found.message}
                row |= found.value or {}
                self.store.save(cell, row)
            rows.append(flat(cell) | row)
            told = f"{row['total_s']:.3g} s" if row["outcome"] == Outcome.OK else row["message"]
            note(f"{', '.join(f'{name} {value}' for name, value in flat(cell).items())}: {told}")
        return pd.DataFrame(rows)


@dataclass(frozen=True)
class Study:
    """A question and the code that answers it.

    Attributes
    ----------
    name : str
        The folder below ``runs/`` and ``results/``.
    source : Source
        The modules, extensions and data files that the trials depend on.
    answer : callable
        Returns the report, given a run and the arguments.
    """

    name: str
    source: Source
    answer: Callable[[Run, argparse.Namespace], Report]

    def carry_out(self, options: argparse.Namespace, command: str) -> int:
        """Run the study, write everything below its folder, and return the exit code."""
        output = choose_output(self.name, options.output, options.reference)
        with locked(output):
            store = Store(output, self.source.digest(), getattr(options, "fresh", False))
            run = Run(output, store, command, getattr(options, "dask", None))
            report = self.answer(run, options)
            written = _write(output, report, command)
            write_provenance(output, {"command": command, **_settings(options)}, self.source)
            if report.summary:
                print(report.summary)
            print(f"wrote {output}/{', '.join(written)}")
            if options.reference:
                print(f"replaced {publish(output, self.name)}")
        if report.failure:
            print(f"wdro: {report.failure}", file=sys.stderr)
        return 1 if report.failure else 0


@dataclass(frozen=True)
class Command:
    """A command of ``wdro`` or of ``wdro study``.

    Attributes
    ----------
    name, help, description : str
    arguments : callable
        Adds the command's own arguments to a parser.
    study : callable
        Returns the study for some arguments. It imports the study, which keeps ``wdro --help``
        fast.
    resumes : bool
        Whether it can resume a run that was stopped.
    """

    name: str
    help: str
    description: str
    arguments: Callable[[argparse.ArgumentParser], None]
    study: Callable[[argparse.Namespace], Study]
    resumes: bool = True

    def add(self, commands: Commands) -> None:
        """Add the command to the parser of ``wdro`` or of ``wdro study``."""
        parser = commands.add_parser(self.name, help=self.help, description=self.description)
        self.arguments(parser)
        add_output(parser, self.name, self.resumes)

        def run(options: argparse.Namespace) -> int:
            return self.study(options).carry_out(options, command_line(parser, options))

        parser.set_defaults(command=run)


def command_line(parser: argparse.ArgumentParser, options: argparse.Namespace) -> str:
    """Return the command that gives the same results, without default arguments."""
    words = [parser.prog]
    for action in parser._actions:
        value = getattr(options, action.dest, None)
        if action.dest in _NOT_SETTINGS or value == action.default or value in (None, []):
            continue
        flag = action.option_strings[-1:]
        if action.nargs == 0:
            words += flag
        elif isinstance(action, argparse._AppendAction):
            words += [word for item in value for word in (*flag, _word(item))]
        elif isinstance(value, list) or (isinstance(value, tuple) and not flag):
            words += [*flag, *map(_word, value)]
        elif isinstance(value, tuple):
            words += [*flag, _word(",".join(map(str, value)))]
        else:
            words += [*flag, _word(value)]
    return " ".join(words)


def unsolved_failure(unsolved: int) -> str:
    """Return the failure if answers were not certified, otherwise an empty text."""
    return f"{unsolved} answers were not certified." if unsolved else ""


def _word(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f"'{text}'" if " " in text else text


def _settings(options: argparse.Namespace) -> dict[str, object]:
    return {name: value for name, value in vars(options).items() if name not in _NOT_SETTINGS}


def _write(output: Path, report: Report, command: str) -> list[str]:
    """Write tables, figures, files and the report; return their names, the report first."""
    from experiments.drawing.style import save_figure  # matplotlib, which only figures need

    written = []
    for name, table in report.tables.items():
        write_table(output / f"{name}.csv", table)
        written.append(f"{name}.csv")
    for name, figure in report.figures.items():
        save_figure(figure, output / name)
        written.append(f"{name}.png")
    for name, content in report.files.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(output / name, content)
        written.append(name)
    text = "\n\n".join(
        [f"# {report.title}", f"Made by `{command}`.", *(part for part in report.parts if part),
         f"Made with {provenance_line()}."]
    )  # fmt: skip
    write_atomically(output / f"{report.name}.md", text + "\n")
    return [f"{report.name}.md", *written]
