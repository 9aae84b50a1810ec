"""Summarise a learned graph: one list of facts, shown on the terminal and in ``summary.md``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.learn.graph import LearnOptions
from experiments.measuring.text import escape_markdown, markdown_table
from solvers.learned.evidence import edge_evidence
from solvers.learned.graph import LearnedGraph
from wdro_cvx.validation import Array

_RULES = {
    "auto": " (from the data; at most a twentieth of a typical row's length)",
    "bootstrap": " (chosen by bootstrap)",
    "prediction": " (chosen by prediction)",
}
_MOST_NAMES, _FEW_NAMES = 200, 10  # names that the file and the terminal list
_WIDE = 1000  # columns of a log, in which lines are not broken

Facts = dict[str, list[tuple[str, str]]]


@dataclass(frozen=True)
class Summary:
    """What was learned from a table.

    Attributes
    ----------
    source : str
        The name of the table.
    facts : mapping of str to pairs of str
        Headings with labels and values.
    alone : sequence of str
        The vertices without an edge.
    alone_as : str
        What they are without, ``"a selected edge"`` or ``"an edge"``.
    communities : sequence of sequences of str
        The vertices of every community of at least two.
    warnings, notes : sequences of str
    check : str
        The command that checks the proof, if there is one.
    """

    source: str
    facts: Facts
    alone: Sequence[str]
    alone_as: str
    communities: Sequence[Sequence[str]]
    warnings: Sequence[str]
    notes: Sequence[str]
    check: str = ""

    def markdown(self) -> str:
        """Return the content of ``summary.md``."""
        rows = [row for part in self.facts.values() for row in part]
        rows.append((f"vertices without {self.alone_as}", listed(self.alone) or "none"))
        members = [[number, listed(names)] for number, names in enumerate(self.communities, 1)]
        parts = ["# Learned graph", *(f"**{escape_markdown(text)}**" for text in self.warnings)]
        parts += [markdown_table(["", ""], rows), f"Learned from {escape_markdown(self.source)}."]
        parts += map(escape_markdown, self.notes)
        if self.check:  # as code, so that it can be copied
            parts += ["Check the proof with:", f"    {self.check}"]
        parts += ["## Communities", markdown_table(["", "vertices"], members)]
        return "\n\n".join(parts) + "\n"

    def shown(self) -> str:
        """Return table, warnings and notes as text, formatted for the current standard output."""
        console = Console(highlight=False)
        if not console.is_terminal:
            console = Console(highlight=False, width=_WIDE)
        table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
        for heading, rows in self.facts.items():
            table.add_row(Text(heading, style="bold"))
            for label, value in rows:
                table.add_row(Text(f"  {label}"), Text(value))
            table.add_section()
        with console.capture() as captured:  # the caller prints, and handles closed pipes
            console.print(Text(f"Learned from {self.source}"))
            console.print(table)
            if self.alone:
                names = ", ".join(self.alone[:_FEW_NAMES])
                more = ", …" if len(self.alone) > _FEW_NAMES else ""
                console.print(Text(f"Without {self.alone_as}: {names}{more}"))
            for text in self.warnings:
                console.print(Text.assemble(("Warning: ", "bold yellow"), text))
            for text in self.notes:
                console.print(Text(text))
            if self.check:
                console.print(Text(f"Check the proof with: {self.check}"))
        return "\n".join(line.rstrip() for line in captured.get().splitlines())


def summarise(
    graph: LearnedGraph, labels: Array, options: LearnOptions, source: str, notes: Sequence[str]
) -> Summary:
    """Return the summary of a graph whose vertices have communities."""
    names = np.array(graph.names)
    groups = [[str(name) for name in names[labels == label]] for label in np.unique(labels)]
    groups = [group for group in groups if len(group) > 1]
    alone = "an edge" if graph.selection is None else "a selected edge"
    radius, eta = _chosen(options)
    kind = " ".join([options.ambiguity, *(f"{k}={v}" for k, v in options.parameters)])
    facts = {
        "What was found": [
            ("vertices d", f"{graph.problem.d}, {len(graph.isolated) or 'none'} without {alone}"),
            ("observations N", f"{graph.samples}"),
            ("selected edges", _selected(graph, options)),
            ("communities", f"{len(groups)}"),
        ],
        "How sure the edges are": edge_evidence(graph),
        "Solver accuracy": [
            ("certified gap", _gap(graph)),
            ("worst-case value", f"{graph.solution.value:.6g}"),
            ("the optimal graph", _optimum(graph)),
        ],
        "What was asked": [
            ("radius", f"{graph.radius:.4g}{radius}"),
            ("ambiguity", kind),
            ("prior", options.prior),
            ("eta", f"{graph.eta:.4g}{eta}"),
            ("signals", preparation(graph, options)),
        ],
    }
    return Summary(source, facts, graph.isolated, alone, groups, graph.notes, notes)


def listed(names: Sequence[str] | NDArray[np.str_]) -> str:
    """Return names for Markdown, separated by commas; a long list is cut off."""
    text = ", ".join(escape_markdown(str(name)) for name in names[:_MOST_NAMES])
    return text if len(names) <= _MOST_NAMES else f"{text}, … ({len(names)} in all)"


def preparation(graph: LearnedGraph, options: LearnOptions) -> str:
    """Return how the signals were prepared."""
    how, _, clipped = graph.prepared.partition(", ")
    how = f"{how} (auto)" if options.signals == "auto" else options.signals
    parts = [how, *([clipped] if clipped else []), f"divided by {graph.unit:.4g}"]
    return ", ".join(parts)


def _chosen(options: LearnOptions) -> tuple[str, str]:
    """Return how radius and eta were chosen, empty for given numbers."""
    radius = _RULES.get(str(options.radius), "")
    if options.neighbours is not None:
        return radius, f" (chosen for about {options.neighbours:g} neighbours)"
    return radius, " (chosen by prediction)" if options.eta == "auto" else ""


def _selected(graph: LearnedGraph, options: LearnOptions) -> str:
    """Return how many edges are selected and how."""
    count, selection = len(graph.edges), graph.selection
    if selection is None:
        return f"{count}, all of weight ≥ {graph.threshold:g}"
    if options.fdr is not None:
        return f"{count}, at a false-discovery rate of {options.fdr:g}"
    if not selection.found:
        return f"{count}, at a false-discovery rate of 10 %, because no structure was found"
    return f"{count}, the strongest; the cut is where their joint evidence is largest"


def _gap(graph: LearnedGraph) -> str:
    """Return the judge's gap, relative to the scale of the problem, and in units of the value."""
    apart = graph.verdict.value - graph.verdict.bound
    text = f"{graph.gap:.1e} of the problem's scale; value - bound is {apart:.1e}"
    return text if graph.solved else f"{text}: not solved to 1e-6"


def _optimum(graph: LearnedGraph) -> str:
    """Return how many edges of the optimal graph the certificate decides."""
    if graph.threshold == 0.0:
        return "not decided without a threshold"
    counts = graph.verdict.edges.counts(graph.threshold)
    return (
        f"{counts['present']} edges provably in it, {counts['absent']} provably not, "
        f"{counts['undecided']} undecided; this is about the solve, not about the truth of an edge"
    )
