"""Let the inner loops of a run notice its time limit, without passing a clock to each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CHECK: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


@contextmanager
def watched(check: Callable[[], None]) -> Iterator[None]:
    """Call ``check`` at every :func:`tick` inside the block; it raises to end the run."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def tick() -> None:
    """Check the time limit of the current run, if it has one; called before expensive steps."""
    check = _CHECK.get()
    if check is not None:
        check()
