"""Learn a graph from a table of signals, in units that the data themselves set."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import networkx as nx
import numpy as np
from scipy import sparse

from experiments.drawing.graphs import communities
from experiments.learn.loading import SignalTable
from solvers import solve
from solvers.selection import RULES, choose_radius, data_scale
from wdro_cvx import (
    AmbiguitySet,
    DataError,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
    Solution,
    Status,
    Verdict,
    judge,
)
from wdro_cvx.edges import EDGE_THRESHOLD
from wdro_cvx.validation import Array, real_number

#: Names on the command line; signals of any distribution have the Gaussian scenario's value.
MODELS: dict[str, AmbiguitySet] = {
    "gaussian": GaussianBall(0.0),
    "general": MomentBall(0.0, p=2.0),
    "saa": Singleton(),
}
#: Radius and eta are relative to the signals; beyond this they are mistakes, or arithmetic fails.
TOLERANCE = 1e-6
_RANGE = 1e-6, 1e6
_ROUNDING = 1e-12  # of signals up to 1: what varies less does not vary
PREPARATIONS = ("raw", "centred", "standardised")


def _within(value: float) -> bool:
    return _RANGE[0] <= value <= _RANGE[1]


@dataclass(frozen=True)
class LearnOptions:
    """How to learn.

    Attributes
    ----------
    model : str
        ``gaussian``, ``general`` or ``saa``.
    radius : float or str
        A number, relative to the root mean square of the signals, or ``cv`` or ``reliability``.
    eta : float
        Relative likewise; a larger one gives more and more even edges.
    signals : str
        ``raw``: edges join vertices of similar level. ``centred``: each vertex's mean is taken
        off, so that edges join vertices that vary together. ``standardised``: each vertex is also
        divided by its deviation, so that only the shape of the variation counts.
    threshold : float
        Edges with less weight are left out; the weights of a graph add up to d/2.
    """

    model: str = "gaussian"
    radius: float | str = "cv"
    eta: float = 0.3
    signals: str = "raw"
    threshold: float = EDGE_THRESHOLD

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ProblemError(f"model must be one of {', '.join(MODELS)}; it is {self.model!r}.")
        if self.signals not in PREPARATIONS:
            raise ProblemError(
                f"signals must be one of {', '.join(PREPARATIONS)}; it is {self.signals!r}."
            )
        if isinstance(self.radius, str):
            if self.radius not in RULES:
                raise ProblemError(
                    f"radius must be a number or one of {', '.join(RULES)}; it is {self.radius!r}."
                )
        elif not (real_number("radius", self.radius, 0.0) == 0.0 or _within(self.radius)):
            raise ProblemError(
                f"radius must be 0 or between {_RANGE[0]:g} and {_RANGE[1]:g}, relative to the "
                f"signals; it is {self.radius:g}. Less is as good as 0, and beyond 1 the worst "
                "case has little to do with the data."
            )
        if not _within(real_number("eta", self.eta, 0.0, strict=True)):
            raise ProblemError(
                f"eta must be between {_RANGE[0]:g} and {_RANGE[1]:g}, relative to the signals; "
                f"it is {self.eta:g}."
            )
        real_number("threshold", self.threshold, 0.0)


@dataclass(frozen=True, eq=False)
class LearnedGraph:
    """A graph with the names of its vertices and the proof of its optimality.

    ``radius`` and ``unit`` are those of the prepared signals: ``signals/unit`` has mean square one.
    """

    names: tuple[str, ...]
    laplacian: Array
    solution: Solution
    options: LearnOptions
    radius: float
    unit: float
    samples: int
    verdict: Verdict

    @property
    def gap(self) -> float:
        """The judge's relative gap."""
        return self.verdict.gap

    @property
    def solved(self) -> bool:
        """Whether the judge calls it solved."""
        return self.verdict.solved(TOLERANCE)

    @property
    def adjacency(self) -> Array:
        """Edge weights, those below the threshold left out."""
        weights = np.diag(np.diagonal(self.laplacian)) - self.laplacian
        return np.where(weights >= self.options.threshold, weights, 0.0)

    @property
    def isolated(self) -> tuple[str, ...]:
        """Vertices without an edge."""
        return tuple(self.names[i] for i in np.flatnonzero(~self.adjacency.any(axis=1)))

    @property
    def communities(self) -> Array:
        """Louvain's community of every vertex."""
        return communities(self.adjacency)

    def to_networkx(self) -> nx.Graph:
        """Return the graph with names, weights and communities."""
        labels = self.communities
        graph = nx.Graph()
        for name, label in zip(self.names, labels, strict=True):
            graph.add_node(name, community=int(label))
        adjacency = self.adjacency
        for i, j in zip(*np.nonzero(np.triu(adjacency)), strict=True):
            graph.add_edge(self.names[i], self.names[j], weight=float(adjacency[i, j]))
        return graph


def learn_graph(table: SignalTable, options: LearnOptions) -> LearnedGraph:
    """Learn a graph from a table; the answer is judged before it is returned."""
    signals, unit = prepare(table, options.signals)
    ambiguity = MODELS[options.model]
    if isinstance(ambiguity, Singleton):
        radius = 0.0
    elif isinstance(options.radius, str):
        radius = choose_radius(
            signals, ambiguity, options.eta, options.radius, progress=sys.stderr.isatty()
        )
    else:
        radius = float(options.radius)
    ball = ambiguity if isinstance(ambiguity, Singleton) else type(ambiguity)(radius)
    problem = GraphProblem(Nominal.from_samples(signals), ball, options.eta)
    solution = solve(problem, tol=TOLERANCE)
    if solution.status is Status.INTERRUPTED:  # half a graph is not what was asked for
        raise KeyboardInterrupt
    # Of many columns it is a sparse array; files and pictures want all of it.
    dense = sparse.csr_array(solution.laplacian).toarray()
    return LearnedGraph(
        table.names, dense, solution, options, radius, unit, len(signals),
        judge(problem, solution),
    )  # fmt: skip


def prepare(table: SignalTable, how: str) -> tuple[Array, float]:
    """Return the prepared signals, divided by their unit, and the unit."""
    # By the largest entry first, so that squares of extreme data stay within range.
    peak = float(np.abs(table.signals).max()) or 1.0
    signals = table.signals / peak
    if how != "raw":
        signals = signals - signals.mean(axis=0)
    if how == "standardised":
        spread = signals.std(axis=0)
        still = [table.names[i] for i in np.flatnonzero(spread <= _ROUNDING)]
        if still:
            raise DataError(
                f"{still[0]!r} never changes, so it cannot be standardised. Leave it out with "
                "--ignore, or use --signals centred."
            )
        signals = signals / spread
    unit = data_scale(signals) / np.sqrt(signals.shape[1])
    if unit <= 1e-12 * float(np.sqrt(np.mean(signals**2))):  # equal but for rounding
        raise DataError("All vertices have the same signals; there is nothing to tell them apart.")
    return signals / unit, float(unit) * peak
