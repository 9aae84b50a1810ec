"""Limit BLAS to one thread for graphs that are too small to gain from more.

The matrices of a graph with a few hundred vertices are too small for several threads. On a busy
machine several threads were slower than one up to 5000 vertices, because they wait for each other.
On an idle machine this was not measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

#: Up to this many vertices, one thread was at least as fast as several.
ONE_THREAD_UP_TO = 5000


@cache
def _controller() -> ThreadpoolController:
    """Return BLAS's thread controller; finding the libraries takes longer than a small problem."""
    import scipy.linalg  # noqa: F401 - it brings a BLAS of its own, which must be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def right_threads(d: int) -> Iterator[None]:
    """Limit BLAS to one thread if the number of vertices d is small."""
    controller = _controller()
    # Asking is far cheaper than setting the limit again, inside a caller's limit.
    if d > ONE_THREAD_UP_TO or all(lib.num_threads == 1 for lib in controller.lib_controllers):
        yield
        return
    with controller.limit(limits=1):
        yield
