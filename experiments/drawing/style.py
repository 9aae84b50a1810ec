"""Style all figures: colour shows a method's family, line its backend, marker the method."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox
from scipy.optimize import isotonic_regression

from experiments.measuring.files import write_atomically
from solvers.learned.palette import BLACK as BLACK
from solvers.learned.palette import BLUE as BLUE
from solvers.learned.palette import COLOURS as COLOURS
from solvers.learned.palette import GREEN as GREEN
from solvers.learned.palette import GREY as GREY
from solvers.learned.palette import ORANGE as ORANGE
from solvers.learned.palette import PURPLE as PURPLE
from solvers.learned.palette import SKY as SKY
from solvers.learned.palette import VERMILION as VERMILION
from wdro_cvx.validation import Array

_SLATE = "#555555"  # between black and grey, told from them by its lightness
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]

#: Family → colour and members with their markers.
_FAMILIES = {
    "our solvers": (BLUE, {"solve": "P", "CertifiedSolver": "o", "MomentNewton": "D"}),
    "the paper's algorithms": (BLACK, {"PrintedDescent": "s", "PrintedGradient": "^"}),
    "the paper's algorithms, improved": (GREEN, {"BlockDescent": "s", "ProjectedGradient": "^"}),
    "the paper's SDPs": (
        VERMILION, {"GaussianSDP": "o", "GaussianClosedForm": "s", "GeneralSDP": "^"},
    ),
    "our conic forms": (
        PURPLE,
        {"RobustPremium": "D", "GaussianDual": "P", "KLDual": "o", "ChiSquarePremium": "s",
         "MahalanobisPremium": "^", "MomentPremium": "v"},
    ),
    "the field's algorithms": (
        SKY,
        {"PrimalDual": "s", "FDPG": "^", "RestartedFDPG": "v", "LocalFDPG": "D", "LowRank": "o"},
    ),
    "quadratic and norm programs": (
        ORANGE, {"GeneralRegularized": "v", "SampleAverage": "P", "SampleAverage/matrix": "s"},
    ),
    "QP solvers, called directly": (
        _SLATE,
        {"PIQP": "X", "OSQP": "*", "HIGHS": "<", "PROXQP": ">", "CLARABEL": "d", "SCS": "h",
         "CVXOPT": "H"},
    ),
}  # fmt: skip
#: A line of matplotlib: a name, or an offset with the lengths of dashes and gaps.
Line: TypeAlias = str | tuple[int, tuple[int, ...]]
#: Widths in inches: one column of a journal page, and the full page.
COLUMN, PAGE = 3.5, 7.16
_DPI = 200
#: Text as large as in captions, and PDF fonts that can be searched and edited.
plt.rcParams.update({
    "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "legend.fontsize": 8,
    "xtick.labelsize": 8, "ytick.labelsize": 8, "pdf.fonttype": 42, "axes.linewidth": 0.6,
    "axes.spines.top": False, "axes.spines.right": False, "lines.linewidth": 1.2,
    "lines.markersize": 3.5, "legend.frameon": False, "xtick.major.width": 0.6,
    "ytick.major.width": 0.6, "savefig.dpi": _DPI,
})  # fmt: skip
#: Backend, also one that is called directly → matplotlib's line; a tuple lists dashes and gaps.
_LINES: dict[str, Line] = {
    "": "-", "CLARABEL": "--", "SCS": ":", "CVXOPT": (0, (5, 1, 1, 1)),
    "SDPA": (0, (3, 1, 1, 1, 1, 1)), "ECOS": (0, (7, 2)), "QOCO": (0, (2, 2)), "OSQP": (0, (4, 1)),
    "PIQP": (0, (1, 2, 4, 2)), "HIGHS": (0, (1, 3)), "PROXQP": (0, (6, 1, 2, 1)),
}  # fmt: skip
_OTHER_LINE = "-."
_END, _NOTE = "end of a curve", "note at a point"
_APART = 9.0  # least distance of two labels of curves, in points
_NOTE_SIDES = ((0, 5), (0, -11), (-14, 3), (14, 3), (-14, -9), (14, -9))  # points


@dataclass(frozen=True)
class Style:
    """How a method is drawn."""

    colour: str
    marker: str
    line: Line


def method_style(method: str) -> Style:
    """Return the style of a method, the same in every figure; unknown methods are black."""
    name, _, backend = method.partition("@")[0].partition(":")
    line = _LINES.get(backend, _OTHER_LINE) if backend else _LINES.get(name, _LINES[""])
    for colour, members in _FAMILIES.values():
        if name in members:
            return Style(colour, members[name], line)
    return Style(BLACK, MARKERS[sum(name.encode()) % len(MARKERS)], line)


def panels(columns: int, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels in rows; one panel is as wide as a column of a page.

    Panels that are compared share their axes: those of one row, or those of one column if there are
    several rows.
    """
    size = (COLUMN if columns == 1 else PAGE, 2.4 * rows)
    figure, axes = plt.subplots(
        rows, columns, figsize=size, layout="constrained", sharex=True,
        sharey="col" if rows > 1 else True,
    )  # fmt: skip
    return figure, list(np.atleast_1d(axes).ravel())


def legend_below(axes: Axes, columns: int = 4) -> None:
    """Put the legend of a panel below the figure, where it covers nothing."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)


def draw_band(
    axes: Axes, x: Sequence[float] | Array, means: Array, errors: Array, colour: str, marker: str,
    label: str = "",
) -> None:  # fmt: skip
    """Draw a curve of means with a band of one standard error."""
    axes.plot(x, means, color=colour, marker=marker, label=label)
    axes.fill_between(x, means - errors, means + errors, color=colour, alpha=0.15, linewidth=0)


def label_line(axes: Axes, x: float, y: float, text: str, colour: str) -> None:
    """Write a curve's name beside its last point, in its colour."""
    axes.annotate(
        text, (x, y), xytext=(6, 0), textcoords="offset points", color=colour, va="center",
        annotation_clip=False, gid=_END,
    )  # fmt: skip


def spread_labels(axes: Axes) -> None:
    """Move the labels of curves up or down until no two at about the same x cover each other.

    Call it when limits and scales of the axes are final.
    """
    every = [text for text in axes.texts if text.get_gid() == _END and isinstance(text, Annotation)]
    points = 72.0 / axes.get_figure(root=True).dpi  # type: ignore[union-attr]
    low, high = axes.get_xlim()
    every.sort(key=lambda text: text.xy[0])
    while every:
        here = [text for text in every if text.xy[0] - every[0].xy[0] < (high - low) / 3]
        every = every[len(here) :]
        here.sort(key=lambda text: text.xy[1])
        heights = axes.transData.transform([text.xy for text in here])[:, 1] * points
        # The least squares fit that increases by ``_APART`` from one label to the next.
        steps = _APART * np.arange(len(here))
        targets = isotonic_regression(heights - steps).x + steps
        for text, height, target in zip(here, heights, targets, strict=True):
            text.xyann = (6, float(target - height))


def note_point(axes: Axes, x: float, y: float, text: str, colour: str) -> None:
    """Write a small note at a point; :func:`place_notes` finds room for it."""
    axes.annotate(
        text, (x, y), xytext=_NOTE_SIDES[0], textcoords="offset points", ha="center",
        color=colour, fontsize=6, gid=_NOTE,
        path_effects=[withStroke(linewidth=1.5, foreground="white")],  # readable across a curve
    )  # fmt: skip


def place_notes(axes: Axes) -> None:
    """Move notes to a side of their points inside the axes that is free of text and markers.

    Notes without a free side are removed.

    Call it after :func:`spread_labels`, when limits and scales of the axes are final.
    """
    every = [text for text in axes.texts if isinstance(text, Annotation)]
    taken = [text.get_window_extent() for text in every if text.get_gid() != _NOTE]
    taken += _marker_boxes(axes)
    for note in (text for text in every if text.get_gid() == _NOTE):
        for side in _NOTE_SIDES:
            note.xyann = side
            box = note.get_window_extent()
            inside = axes.bbox.x0 < box.x0 and box.x1 < axes.bbox.x1
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
        else:
            note.remove()


def _marker_boxes(axes: Axes) -> list[Bbox]:
    """Return the boxes of all markers, in pixels."""
    scale = axes.get_figure(root=True).dpi / 72.0  # type: ignore[union-attr]
    found = []
    for line in axes.get_lines():
        if line.get_marker() not in ("", "None", None, "_"):  # "_" ends an error bar
            half = scale * line.get_markersize() / 2.0
            for x, y in axes.transData.transform(line.get_xydata()):
                found.append(Bbox([[x - half, y - half], [x + half, y + half]]))
    return found


def plain_ticks(axes: Axes, ticks: Sequence[float]) -> None:
    """Set the ticks of a logarithmic axis, with plain numbers instead of powers."""
    axes.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def render(figure: Figure, suffixes: Sequence[str] = ("png", "pdf")) -> dict[str, bytes]:
    """Return a figure in several formats, by suffix, and close it."""
    rendered = {}
    with warnings.catch_warnings():
        # Characters that the font lacks are drawn as boxes; this needs no warning.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        for suffix in suffixes:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=suffix, dpi=_DPI)
            rendered[suffix] = buffer.getvalue()
            figure.set_layout_engine("none")  # further files keep the layout of the first
    plt.close(figure)
    return rendered


def save_figure(figure: Figure, path: Path) -> None:
    """Save a figure as PNG and PDF, each atomically, and close it."""
    for suffix, raw in render(figure).items():
        write_atomically(path.with_name(f"{path.name}.{suffix}"), raw)
