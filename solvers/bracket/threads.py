"""BLAS on one thread where more of them only wait for each other.

The matrices of graphs of a few hundred vertices are too small to be shared. On a two-core machine
that others used as well, one run each, two threads took 1.8 to 78 times as long as one in ten
problems of 100 to 5000 vertices; on an idle machine it was not measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

#: Up to this many vertices one thread is at least as fast.
ONE_THREAD_UP_TO = 5000


@cache
def _controller() -> ThreadpoolController:
    """Find the libraries once: looking for them takes longer than solving a small problem."""
    return ThreadpoolController()


@contextmanager
def right_threads(d: int) -> Iterator[None]:
    """Hold BLAS to one thread for graphs of d vertices, if they are few."""
    if d > ONE_THREAD_UP_TO:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield
