"""Load data with a known graph, or a proxy for it, from installed packages.

The data are the income growth of US states (libpysal), temperatures of a climate model
(iris-sample-data), power grids with simulated states (PYPOWER), and the paper's random graphs.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wdro_cvx import DataError
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.graphs.laplacian import weights_from_laplacian
from wdro_cvx.validation import Array

_STRIDE = 4  # in the climate model's grid, which leaves 10 by 13 places
_SITUATIONS = 100  # simulated states of a power grid
_SPREAD = 0.3  # of the loads, relative to their nominal values
_RANDOM_D = 20
_NOISE = 0.1

#: Tables that cannot be drawn again.
GIVEN = ("us-growth", "climate")
#: Known networks with real or simulated states.
NETWORKS = (*GIVEN, "power-57", "power-118")
#: The paper's random graphs, by the number of signals.
RANDOM = ("rbf-20", "rbf-50", "rbf-200")


@dataclass(frozen=True, eq=False)
class KnownGraph:
    """Signals with the graph behind them.

    Attributes
    ----------
    name : str
    table : array (N, d)
        The signals; every column is standardised.
    truth : array (d, d) of bool
    block : int
        The number of consecutive rows to resample together.
    """

    name: str
    table: Array
    truth: NDArray[np.bool_]
    block: int = 1

    @property
    def chance(self) -> float:
        """The share of pairs that are edges, which is the average precision of a random ranking."""
        return float(self.truth[np.triu_indices(len(self.truth), 1)].mean())


def load_source(name: str, trial: int = 0) -> KnownGraph:
    """Return one draw of a source.

    Random graphs and states of power grids are drawn anew. A draw of a given table is half of its
    rows, in whole blocks.
    """
    if name == "us-growth":
        return _half(_us_growth(), trial)
    if name == "climate":
        return _half(_climate(), trial)
    if name.startswith("power-"):
        return _power(name, trial)
    return _random(name, trial)


def _half(source: KnownGraph, trial: int) -> KnownGraph:
    rng = np.random.default_rng([13, trial])
    count = len(source.table) // source.block
    blocks = np.sort(rng.choice(count, count // 2, replace=False))
    rows = (blocks[:, np.newaxis] * source.block + np.arange(source.block)).ravel()
    return replace(source, table=_standardised(source.table[rows]))


def _standardised(table: Array) -> Array:
    return np.asarray((table - table.mean(axis=0)) / table.std(axis=0))


def _us_growth() -> KnownGraph:
    """Return yearly growth of income per head, 1930 to 2009; edges join adjacent states."""
    import pandas as pd

    folder = _folder("libpysal") / "examples" / "us_income"
    income = pd.read_csv(folder / "usjoin.csv").set_index("Name").drop(columns="STATE_FIPS")
    growth = np.diff(np.log(income.to_numpy(float)), axis=1).T
    lines = (folder / "states48.gal").read_text().split("\n")
    d = int(lines[0])
    truth = np.zeros((d, d), dtype=bool)
    for head, neighbours in zip(lines[1::2], lines[2::2], strict=False):
        if head.strip():
            truth[int(head.split()[0]), [int(other) for other in neighbours.split()]] = True
    return KnownGraph("us-growth", _standardised(growth), truth | truth.T, block=4)


def _climate() -> KnownGraph:
    """Return yearly air temperatures in North America, 1860 to 2099; edges join grid neighbours."""
    _folder("netCDF4")
    from netCDF4 import Dataset

    path = _folder("iris_sample_data") / "sample_data" / "A1B_north_america.nc"
    with Dataset(path) as file:
        grid = np.asarray(file["air_temperature"][:, ::_STRIDE, ::_STRIDE], dtype=float)
    years, rows, columns = grid.shape
    number = np.arange(rows * columns).reshape(rows, columns)
    truth = np.zeros((number.size, number.size), dtype=bool)
    truth[number[1:].ravel(), number[:-1].ravel()] = True
    truth[number[:, 1:].ravel(), number[:, :-1].ravel()] = True
    return KnownGraph("climate", _standardised(grid.reshape(years, -1)), truth | truth.T, block=8)


def _power(name: str, trial: int) -> KnownGraph:
    """Return voltage angles under random loads from the linear power flow; edges are lines."""
    _folder("pypower")
    from pypower import api

    grid = getattr(api, f"case{name.removeprefix('power-')}")()
    numbers = {int(bus): place for place, bus in enumerate(grid["bus"][:, 0])}
    heads, tails = (np.array([numbers[int(bus)] for bus in grid["branch"][:, k]]) for k in (0, 1))
    d = len(numbers)
    susceptance = np.zeros((d, d))
    np.add.at(susceptance, (heads, tails), 1.0 / grid["branch"][:, 3])
    susceptance += susceptance.T
    laplacian = np.diag(susceptance.sum(axis=1)) - susceptance
    rng = np.random.default_rng([d, trial])
    loads = grid["bus"][:, 2] * (1.0 + _SPREAD * rng.standard_normal((_SITUATIONS, d)))
    makers = np.zeros(d)
    np.add.at(makers, [numbers[int(bus)] for bus in grid["gen"][:, 0]], grid["gen"][:, 8])
    power = makers / makers.sum() * loads.sum(axis=1, keepdims=True) - loads
    angles = power @ np.linalg.pinv(laplacian)
    return KnownGraph(name, _standardised(angles), susceptance > 0.0)


def _random(name: str, trial: int) -> KnownGraph:
    """Return smooth signals on one of the paper's random graphs."""
    kind, _, count = name.partition("-")
    if kind != "rbf":
        raise DataError(f"there is no source {name!r}; choose from {', '.join(NETWORKS + RANDOM)}.")
    rng = np.random.default_rng([7, trial, int(count)])
    laplacian = rbf_graph(_RANDOM_D, rng)
    table = smooth_signals(laplacian, int(count), rng, noise=_NOISE)
    truth = np.zeros((_RANDOM_D, _RANDOM_D), dtype=bool)
    truth[np.triu_indices(_RANDOM_D, 1)] = weights_from_laplacian(laplacian) > 0.0
    return KnownGraph(name, _standardised(table), truth | truth.T)


def _folder(package: str) -> Path:
    """Return the folder of a package; raise DataError if it is not installed."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise DataError(
            f"wdro study validate needs the package {package}; install wdro-cvx with the extra "
            "validate."
        )
    return Path(found.origin).parent
