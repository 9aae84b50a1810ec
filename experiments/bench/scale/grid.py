"""What is measured at scale: which path, at how many vertices, signals and dimensions."""

from __future__ import annotations

from dataclasses import dataclass

DENSE, SPARSE = "dense path", "sparse path"
LOG_DENSE, LOG_SPARSE = "log-degree, dense path", "log-degree, sparse path"
NEIGHBOURS = "log-degree, near pairs only"
#: What the machine takes for one dense eigendecomposition: the unit of the goals.
EIGEN = "one eigendecomposition"
PLANE, SPACE = 2, 10
N = 200


@dataclass(frozen=True)
class ScaleCell:
    """One measurement.

    Attributes
    ----------
    path : str
    d, n : int
        Vertices and signals.
    dimensions : int
        Of the cube whose neighbours the true graph joins.
    """

    path: str
    d: int
    n: int
    dimensions: int


_SIZES = {
    DENSE: (500, 1000, 2000),
    SPARSE: (500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000),
    LOG_DENSE: (500, 1000, 2000),
    LOG_SPARSE: (500, 1000, 2000, 5000, 10_000, 20_000, 50_000),
    NEIGHBOURS: (500, 1000, 2000, 5000, 10_000, 20_000, 50_000),
}
# Neighbours in ten dimensions are found and priced alike, only more of them: one decade tells.
_SIZES_IN_SPACE = {
    DENSE: (1000, 2000),
    SPARSE: (1000, 2000, 5000, 10_000),
    LOG_DENSE: (1000, 2000),
    LOG_SPARSE: (1000, 2000, 5000, 10_000),
    NEIGHBOURS: (1000, 2000, 5000, 10_000),
}
_SIGNALS = (50, 800)
AT = 2000  # vertices: of the ratios, of the eigendecomposition, and of other numbers of signals
_ALSO_AT = 10_000
# With few signals, as far as a machine's patience goes.
_FEW, _FURTHEST = 50, (100_000, 200_000, 1_000_000)


def cells(largest: int) -> list[ScaleCell]:
    """Return all measurements of at most so many vertices, smallest first."""
    found = [
        ScaleCell(path, d, N, dimensions)
        for dimensions, sizes in ((PLANE, _SIZES), (SPACE, _SIZES_IN_SPACE))
        for path, all_sizes in sizes.items()
        for d in all_sizes
    ]
    found += [ScaleCell(path, AT, n, PLANE) for n in _SIGNALS for path in _SIZES]
    found += [ScaleCell(SPARSE, _ALSO_AT, n, PLANE) for n in _SIGNALS]
    found += [ScaleCell(SPARSE, d, _FEW, PLANE) for d in _FURTHEST]
    found.append(ScaleCell(EIGEN, AT, N, PLANE))
    return sorted((cell for cell in found if cell.d <= largest), key=lambda cell: cell.d)
