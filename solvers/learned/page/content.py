"""The content of ``graph.html``: the graphs it shows, and what is said about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from wdro_cvx import GraphProblem, Verdict
from wdro_cvx.moments.points import Moment
from wdro_cvx.validation import Array


@dataclass(frozen=True, eq=False)
class PathPoint:
    """A problem, its answer, the judge's verdict, and the evidence for the page.

    ``radius`` and ``eta`` are indices into the grid. ``multiplier`` is only a hint for finding the
    worst case; the page proves what it finds. ``moment`` is given only if the graph's own worst
    case does not prove it optimal (hard case, p = 1).
    """

    radius: int
    eta: int
    problem: GraphProblem
    laplacian: Array | sparse.csr_array
    verdict: Verdict
    multiplier: float
    nu: Array | None = None
    moment: Moment | None = None


@dataclass(frozen=True, eq=False)
class Path:
    """The grid, its computed points, and the index of the chosen one."""

    radii: tuple[float, ...]
    etas: tuple[float, ...]
    points: tuple[PathPoint, ...]
    chosen: int


@dataclass(frozen=True, eq=False)
class GraphPage:
    """The content of a page.

    Attributes
    ----------
    title : str
    names : sequence of str
    places : array (d, 2)
        The positions of the vertices: longitude and latitude, or a layout.
    on_map : bool
    communities : array (d,)
        The community of every vertex in the chosen graph.
    path : Path
    threshold : float
        Edges with less weight are not drawn.
    signals : array (N, d) or None
        The problem's samples, if it has them.
    unit : float
        The number by which the signals were divided.
    outlines : sequence of arrays (k, 2)
    columns : mapping of str to array (d,)
        Further numbers by which to colour the vertices.
    support : array or sparse array (d, d) of bool, optional
        The selected edges of the chosen graph; by default all are shown.
    edge_columns : mapping of str to arrays (m,)
        ``heads`` and ``tails`` of edges of the chosen graph, and further numbers for them by name.
    evidence : sequence of pairs of str
        What the data say about the edges of the chosen graph.
    warnings : sequence of str
        Shown above the picture.
    facts, made : mappings of str to str
        How the graph was learned, and with which versions.
    notes : sequence of str
    """

    title: str
    names: Sequence[str]
    places: Array
    on_map: bool
    communities: Array
    path: Path
    threshold: float
    signals: Array | None = None
    unit: float = 1.0
    outlines: Sequence[Array] = ()
    columns: Mapping[str, Array] = field(default_factory=dict)
    support: NDArray[np.bool_] | sparse.csr_array | None = None
    edge_columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    evidence: Sequence[tuple[str, str]] = ()
    warnings: Sequence[str] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    made: Mapping[str, str] = field(default_factory=dict)
