"""Place names beside points without overlap, in fonts that contain their letters.

matplotlib is imported when first used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from wdro_cvx.validation import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox, BboxBase

_PLAIN = "DejaVu Sans"  # comes with matplotlib
_LONGEST = 40
_SIDES = ((4, 2), (4, -7), (-4, 2), (-4, -7), (0, 6), (0, -11))
_MOST = 400  # largest number of names to place


def fonts_for(names: Sequence[str]) -> list[str]:
    """Return font families that cover the letters of all names, as far as installed ones do."""
    from matplotlib import font_manager

    wanted = {ord(letter) for name in names for letter in name} - _letters(
        font_manager.findfont(_PLAIN)
    )
    families = [_PLAIN]
    if not wanted:
        return families
    for font in font_manager.fontManager.ttflist:
        found = wanted & _letters(font.fname)
        if found:
            families.append(font.name)
            wanted -= found
        if not wanted:
            break
    return families


@lru_cache(maxsize=512)
def _letters(path: str) -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(FT2Font(path).get_charmap())
    except (OSError, RuntimeError):  # an unreadable font has no letters
        return frozenset()


def place_labels(
    axes: Axes, names: Sequence[str], points: Array, importance: Array, size: float
) -> None:
    """Write names beside their points, important ones first; omit those without room."""
    figure = axes.get_figure()
    assert figure is not None
    figure.canvas.draw()
    spots = axes.transData.transform(points)
    radius = 3.0 * figure.dpi / 72
    taken = np.column_stack([spots - radius, spots + radius])
    families = fonts_for(names)
    for place in np.argsort(-importance, kind="stable")[:_MOST]:
        name = names[place]
        short = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
        text = axes.annotate(
            short, points[place], xytext=_SIDES[0], textcoords="offset points", fontsize=size,
            fontfamily=families, color="#222222",
            parse_math=False,  # a dollar sign in a name is a dollar sign
        )  # fmt: skip
        text.set_in_layout(False)  # another layout would move points apart from their names
        others = np.delete(taken, place, axis=0) if place < len(points) else taken
        for side in _SIDES:
            text.xyann = side
            text.set_horizontalalignment(("center", "left", "right")[int(np.sign(side[0]))])
            box = text.get_window_extent()
            if _inside(box, figure.bbox) and not _covers(box, others):
                taken = np.vstack([taken, [box.x0, box.y0, box.x1, box.y1]])
                break
        else:
            text.remove()


def _inside(box: Bbox, whole: BboxBase) -> bool:
    return bool(
        whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1
    )


def _covers(box: Bbox, others: Array) -> bool:
    apart = (
        (others[:, 0] >= box.x1) | (others[:, 2] <= box.x0)
        | (others[:, 1] >= box.y1) | (others[:, 3] <= box.y0)
    )  # fmt: skip
    return not bool(apart.all())
