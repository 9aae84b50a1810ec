"""Learn a graph from a table of signals with ``RobustGraph``; the judge checks every answer."""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score

from experiments.learn.loading import SignalTable
from solvers import RobustGraph
from solvers.learned.evidence import describe_evidence
from solvers.learned.graph import LearnedGraph
from solvers.selection.fitting import check_options
from solvers.selection.preparation import check_preparation
from solvers.selection.radius import ChoiceWarning
from solvers.selection.signals import ROUNDING
from solvers.selection.support import check_selection
from solvers.selection.tables import TableWarning
from wdro_cvx import AmbiguitySet, DataError, ProblemError, Status, WdroError
from wdro_cvx.ambiguity import named_ambiguity
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.validation import Array, real_number, whole_number

TOLERANCE = 1e-6
#: Radius and eta are relative to the signals; values outside are mistakes or break arithmetic.
_RANGE = 1e-6, 1e6
#: The estimator's ``standardise`` for every value of ``signals``.
PREPARATIONS: dict[str, bool | str] = {
    "auto": "auto", "raw": False, "centred": False, "standardised": True,
}  # fmt: skip
#: Arguments of the estimator that have another name as an option, and the form of the others.
_FLAGS = {
    "absolute=True": "--absolute", "standardise=True": "--signals standardised",
    "standardise=False with X - X.mean()": "--signals centred",
}  # fmt: skip
_ARGUMENT = re.compile(
    r"\b(ambiguity|edges|eta|fdr|moment|neighbours|prior|radius)='?([\w.-]*\w)'?"
)
_REPLACED = re.compile(r"X\.replace\((\S+), np\.nan\)")
_DROPPED = re.compile(r"\bdrop (it|them|one|such columns)\b")
_DEFAULT = RobustGraph()
# Five refits for the held-out score; a rough solution suffices.
_LEAST_ROWS, _MOST_SCORED, _FOLD_SECONDS = 20, 200, 2.0


@dataclass(frozen=True)
class LearnOptions:
    """Validated options; those not listed are parameters of ``RobustGraph`` and described there.

    Attributes
    ----------
    ambiguity : str
        The name of a set.
    parameters : tuple of pairs
        Names and values of the set's parameters other than the radius.
    signals : str
        ``auto``: each vertex's mean is subtracted, and it is divided by its standard deviation if
        the vertices are in different units. ``raw``: edges join vertices of similar level.
        ``centred``: each vertex's mean is subtracted, and edges join vertices that vary together.
        ``standardised``: each vertex is also divided by its standard deviation.
    threshold : float
        Edges with less weight are omitted; the weights of a graph add up to d/2.
    stability : int
        The number of refits to resampled signals, which give the frequency of every edge.
    """

    ambiguity: str = str(_DEFAULT.ambiguity)
    parameters: tuple[tuple[str, object], ...] = ()
    radius: float | str = _DEFAULT.radius
    eta: float | str | None = _DEFAULT.eta
    signals: str = "auto"
    threshold: float = EDGE_THRESHOLD
    block: int = 1
    stability: int = 0
    prior: str = str(_DEFAULT.prior)
    neighbours: float | None = None
    edges: str = str(_DEFAULT.edges)
    fdr: float | None = None
    moment: str = str(_DEFAULT.moment)
    absolute: bool = False

    def __post_init__(self) -> None:
        check_options(self.radius, self.eta, self._kind(), self.prior, self.neighbours)
        check_selection(self.edges, self.fdr, self.neighbours)
        check_preparation("auto", self.moment, self.absolute)
        if self.signals not in PREPARATIONS:
            raise ProblemError(
                f"signals must be one of {', '.join(PREPARATIONS)}; it is {self.signals!r}."
            )
        low, high = _RANGE
        if not isinstance(self.radius, str) and not (
            self.radius == 0.0 or low <= self.radius <= high
        ):
            raise ProblemError(
                f"radius must be 0 or between {low:g} and {high:g}, relative to the signals; it is "
                f"{self.radius:g}. Less is as good as 0, and beyond 1 the worst case has little to "
                "do with the data."
            )
        if not (self.eta is None or isinstance(self.eta, str) or low <= self.eta <= high):
            raise ProblemError(
                f"eta must be between {low:g} and {high:g}, relative to the signals; "
                f"it is {self.eta:g}."
            )
        real_number("threshold", self.threshold, 0.0)
        whole_number("block", self.block, 1)
        whole_number("stability", self.stability, 0)

    def _kind(self) -> AmbiguitySet:
        return named_ambiguity(self.ambiguity, dict(self.parameters))

    def estimator(self) -> RobustGraph:
        """Return the estimator that these options describe."""
        return RobustGraph(
            self.radius, self.eta, self._kind(), TOLERANCE, prior=self.prior,
            neighbours=self.neighbours, block=self.block, progress=sys.stderr.isatty(),
            edges=self.edges, fdr=self.fdr, moment=self.moment, absolute=self.absolute,
            standardise=PREPARATIONS[self.signals],
        )  # fmt: skip


def learn_graph(table: SignalTable, options: LearnOptions) -> LearnedGraph:
    """Learn a graph from a table.

    Warnings about the table and about the choice of radius and eta become notes of the graph.

    Raises
    ------
    DataError
        If the signals do not distinguish the vertices.
    ProblemError
        If the options do not fit the table.
    """
    frame = _prepared(table.frame, options.signals)
    estimator = options.estimator()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ChoiceWarning)
        warnings.simplefilter("ignore", TableWarning)  # notes of the graph
        warnings.simplefilter("ignore", ConvergenceWarning)  # the summary reports it
        estimator.fit(frame)
    if estimator.status_ is Status.INTERRUPTED:  # do not return an unfinished graph
        raise KeyboardInterrupt
    graph = replace(
        estimator.graph_,
        threshold=options.threshold,
        stability=estimator.stability(frame, options.stability) if options.stability else None,
    )
    others = describe_evidence(estimator.graph_)  # of the graph without this threshold
    notes = [str(warning.message) for warning in said]
    notes += [note for note in estimator.graph_.notes if note not in others]
    notes += describe_evidence(graph)
    return replace(graph, notes=tuple(map(in_shell, notes)))


def in_shell(message: str) -> str:
    """Return a message of the estimator with its arguments as options of ``wdro learn``."""
    for argument, option in _FLAGS.items():
        message = message.replace(argument, option)
    message = _REPLACED.sub(r"--na \1", message)
    message = _DROPPED.sub(r"leave \1 out (--ignore NAME)", message)
    return _ARGUMENT.sub(r"--\1 \2", message)


def held_out_score(table: SignalTable, options: LearnOptions, graph: LearnedGraph) -> float | str:
    """Return the mean score of graphs with the same radius and eta on rows that they have not seen.

    If there is none, return why: too few rows, too many vertices, or a fold that gives no graph.
    """
    frame = _prepared(table.frame, options.signals)
    if len(frame) < _LEAST_ROWS:
        return f"there are fewer than {_LEAST_ROWS} rows"
    if graph.problem.d > _MOST_SCORED:
        return f"there are more than {_MOST_SCORED} vertices"
    again = options.estimator().set_params(
        radius=graph.radius, eta=graph.eta, neighbours=None, edges="all", fdr=None, tol=1e-4,
        time_limit=_FOLD_SECONDS,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit of all rows has warned
        try:
            score = float(np.mean(cross_val_score(again, frame, error_score="raise")))
        except WdroError as reason:
            return f"four fifths of the rows give no graph ({in_shell(str(reason)).rstrip('.')})"
    return score if round(score, 2) else 0.0  # which is not printed as -0.00


def _prepared(frame: pd.DataFrame, how: str) -> pd.DataFrame:
    """Return the prepared signals; raise DataError if they do not distinguish the vertices."""
    # Divide by the largest entry, so that squares of extreme data stay within range.
    peak = float(np.nanmax(np.abs(frame.to_numpy()))) or 1.0
    signals = frame.to_numpy() / peak
    if _alike(signals):
        raise DataError("All vertices have the same signals; nothing tells them apart.")
    if how == "raw":
        return frame
    signals -= np.nanmean(signals, axis=0)
    if _alike(signals):
        raise DataError("All vertices vary alike; nothing tells them apart.")
    if how != "centred":
        return frame  # the estimator does the rest
    return pd.DataFrame(signals * peak, columns=frame.columns, copy=False)


def _alike(signals: Array) -> bool:
    """Return whether no signal differs between vertices by more than rounding."""
    present = ~np.isnan(signals)
    high = np.where(present, signals, -np.inf).max(axis=1)
    low = np.where(present, signals, np.inf).min(axis=1)
    return bool((high - low).max() <= ROUNDING)
