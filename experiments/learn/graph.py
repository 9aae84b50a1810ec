"""Learn a graph from a table of signals with ``RobustGraph``, and judge it."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, field
from functools import cached_property

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from experiments.drawing.communities import communities
from experiments.learn.loading import SignalTable
from solvers import RobustGraph
from solvers.learned.edge_table import edge_table
from solvers.selection.radius import RULES, ChoiceWarning
from solvers.selection.signals import ROUNDING, Signals
from wdro_cvx import DataError, GraphProblem, ProblemError, Solution, Status, Verdict, judge
from wdro_cvx.ambiguity import named_ambiguity
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.solution import above
from wdro_cvx.validation import Array, real_number, whole_number

TOLERANCE = 1e-6
#: Radius and eta are relative to the signals; beyond this they are mistakes, or arithmetic fails.
_RANGE = 1e-6, 1e6
PREPARATIONS = ("raw", "centred", "standardised")
_DEFAULT = RobustGraph()


def _within(value: float) -> bool:
    return _RANGE[0] <= value <= _RANGE[1]


@dataclass(frozen=True)
class LearnOptions:
    """How to learn; the words and the defaults are those of ``RobustGraph``.

    Attributes
    ----------
    ambiguity : str
        The name of a set.
    parameters : tuple of pairs
        What the set has beside its radius: names and values.
    radius : float or str
        A number, relative to the root mean square of the signals, or a rule.
    eta : float or str
        Relative likewise; a larger one gives more and more even edges. Or ``auto``.
    signals : str
        ``raw``: edges join vertices of similar level. ``centred``: each vertex's mean is taken
        off, so that edges join vertices that vary together. ``standardised``: each vertex is also
        divided by its deviation, so that only the shape of the variation counts.
    threshold : float
        Edges with less weight are left out; the weights of a graph add up to d/2.
    block : int
        The length of the runs of rows that resampling draws; more than 1 for time series.
    stability : int
        Refits to resampled signals, for the share of them that have an edge; 0 for none.
    prior : str
        ``frobenius`` or ``log-degree``.
    neighbours : float, optional
        How many neighbours a vertex should have on average; chooses eta.
    """

    ambiguity: str = str(_DEFAULT.ambiguity)
    parameters: tuple[tuple[str, object], ...] = ()
    radius: float | str = _DEFAULT.radius
    eta: float | str = _DEFAULT.eta
    signals: str = "raw"
    threshold: float = EDGE_THRESHOLD
    block: int = 1
    stability: int = 0
    prior: str = str(_DEFAULT.prior)
    neighbours: float | None = None

    def __post_init__(self) -> None:
        named_ambiguity(self.ambiguity, dict(self.parameters))
        if self.signals not in PREPARATIONS:
            raise ProblemError(
                f"signals must be one of {', '.join(PREPARATIONS)}; it is {self.signals!r}."
            )
        if isinstance(self.radius, str):
            known = ("auto", *RULES)
            if self.radius not in known:
                raise ProblemError(
                    f"radius must be a number or one of {', '.join(known)}; it is {self.radius!r}."
                )
        elif not (real_number("radius", self.radius, 0.0) == 0.0 or _within(self.radius)):
            raise ProblemError(
                f"radius must be 0 or between {_RANGE[0]:g} and {_RANGE[1]:g}, relative to the "
                f"signals; it is {self.radius:g}. Less is as good as 0, and beyond 1 the worst "
                "case has little to do with the data."
            )
        if isinstance(self.eta, str):
            if self.eta != "auto":
                raise ProblemError(f"eta must be a number or 'auto'; it is {self.eta!r}.")
        elif not _within(real_number("eta", self.eta, 0.0, strict=True)):
            raise ProblemError(
                f"eta must be between {_RANGE[0]:g} and {_RANGE[1]:g}, relative to the signals; "
                f"it is {self.eta:g}."
            )
        real_number("threshold", self.threshold, 0.0)
        whole_number("block", self.block, 1)
        whole_number("stability", self.stability, 0)

    def estimator(self) -> RobustGraph:
        """Return the estimator that these options describe."""
        return RobustGraph(
            self.radius, self.eta, named_ambiguity(self.ambiguity, dict(self.parameters)),
            TOLERANCE, prior=self.prior, neighbours=self.neighbours, block=self.block,
            progress=sys.stderr.isatty(),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class LearnedGraph:
    """A graph with the names of its vertices and the proof of its optimality.

    Attributes
    ----------
    names : tuple of str
    estimator : RobustGraph
        Fitted; its radius and unit are those of the prepared signals.
    options : LearnOptions
    samples : int
    verdict : Verdict
    stability : array (d, d) or None
    notes : tuple of str
        What was remarkable about the choice of radius and eta, or about missing values.
    """

    names: tuple[str, ...]
    estimator: RobustGraph
    options: LearnOptions
    samples: int
    verdict: Verdict
    stability: Array | sparse.csr_array | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def solution(self) -> Solution:
        """What the solver returned."""
        return self.estimator.solution_

    @property
    def problem(self) -> GraphProblem:
        """What was solved."""
        return self.estimator.problem_

    @property
    def laplacian(self) -> Array | sparse.csr_array:
        """The Laplacian, a sparse array of many vertices."""
        return self.estimator.laplacian_

    @property
    def radius(self) -> float:
        """The radius, in ``unit``."""
        return self.estimator.radius_

    @property
    def rule(self) -> float | str:
        """How the radius was chosen, or its number."""
        if self.options.radius != "auto":
            return self.options.radius
        return "prediction" if self.options.neighbours is None else "bootstrap"

    @property
    def eta(self) -> float:
        """The eta, in ``unit`` squared."""
        return self.estimator.eta_

    @property
    def unit(self) -> float:
        """What the prepared signals were divided by."""
        return self.estimator.unit_

    @property
    def gap(self) -> float:
        """The judge's relative gap."""
        return self.verdict.gap

    @property
    def solved(self) -> bool:
        """Whether the judge calls it solved."""
        return self.verdict.solved(TOLERANCE)

    @cached_property
    def adjacency(self) -> Array | sparse.csr_array:
        """Edge weights, those below the threshold left out."""
        return above(self.solution.adjacency, self.options.threshold)

    @cached_property
    def edges(self) -> pd.DataFrame:
        """The edges by weight: source, target, weight, certain, and stability if asked for."""
        threshold = self.options.threshold or EDGE_THRESHOLD
        table = edge_table(self.adjacency, self.verdict.edges, self.names, threshold)
        if self.stability is not None:
            places = {name: place for place, name in enumerate(self.names)}
            ends = [table[end].map(places).to_numpy(int) for end in ("source", "target")]
            table["stability"] = np.asarray(self.stability[ends[0], ends[1]]).ravel()
        return table

    @property
    def isolated(self) -> tuple[str, ...]:
        """Vertices without an edge."""
        degrees = np.asarray(self.adjacency.sum(axis=1)).ravel()
        return tuple(self.names[i] for i in np.flatnonzero(degrees == 0.0))

    @cached_property
    def communities(self) -> Array:
        """Louvain's community of every vertex."""
        return communities(self.adjacency)

    def to_networkx(self) -> nx.Graph:
        """Return the graph with names, weights, certainty and communities."""
        graph = nx.Graph()
        for name, label in zip(self.names, self.communities, strict=True):
            graph.add_node(name, community=int(label))
        nx_edges = nx.from_pandas_edgelist(self.edges, edge_attr=True)
        graph.add_edges_from(nx_edges.edges(data=True))
        return graph


def learn_graph(table: SignalTable, options: LearnOptions) -> LearnedGraph:
    """Learn a graph from a table; the answer is judged before it is returned."""
    frame = pd.DataFrame(prepare(table, options.signals), columns=list(table.names))
    estimator = options.estimator()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ChoiceWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # the summary says it
        estimator.fit(frame)
    if estimator.status_ is Status.INTERRUPTED:  # half a graph is not what was asked for
        raise KeyboardInterrupt
    notes = [str(warning.message) for warning in said]
    if estimator.moved_ > 0.0:
        notes.append(
            f"Missing values: pairs of columns were compared where both are present; the second "
            f"moment was moved by {estimator.moved_:.1%} to be one."
        )
    stability = estimator.stability(frame, options.stability) if options.stability else None
    verdict = judge(estimator.problem_, estimator.solution_)
    return LearnedGraph(
        table.names, estimator, options, len(frame), verdict, stability, tuple(notes)
    )


def prepare(table: SignalTable, how: str) -> Array:
    """Return the signals as they are to be compared."""
    # Relative to the largest entry, so that squares of extreme data stay within range.
    peak = float(np.nanmax(np.abs(table.signals))) or 1.0
    signals = table.signals / peak
    centre = Signals(signals).centred
    if np.linalg.norm(centre) <= ROUNDING * np.linalg.norm(np.nan_to_num(signals)):
        raise DataError("All vertices have the same signals; there is nothing to tell them apart.")
    if how == "raw":
        return table.signals
    signals = signals - np.nanmean(signals, axis=0)
    if how == "standardised":
        spread = np.nanstd(signals, axis=0)
        still = [table.names[i] for i in np.flatnonzero(spread <= ROUNDING)]
        if still:
            raise DataError(
                f"{still[0]!r} never changes, so it cannot be standardised. Leave it out with "
                "--ignore, or use --signals centred."
            )
        return np.asarray(signals / spread)
    if np.linalg.norm(Signals(signals).centred) <= ROUNDING:
        raise DataError("All vertices vary alike; there is nothing to tell them apart.")
    return np.asarray(signals * peak)
