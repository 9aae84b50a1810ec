"""Let the inner loops of a run notice its time limit, without passing a clock to each of them."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

_CHECK: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


class watched:  # noqa: N801 - it is used like a function
    """Call ``check`` at every :func:`tick` inside the block; it raises to end the run.

    It is a class because it is entered once for every request of a stack, and a context manager
    made from a generator would take longer.
    """

    __slots__ = ("_check", "_token")

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check

    def __enter__(self) -> None:
        self._token = _CHECK.set(self._check)

    def __exit__(self, *error: object) -> None:
        _CHECK.reset(self._token)


def tick() -> None:
    """Check the time limit of the current run, if it has one; called before expensive steps."""
    check = _CHECK.get()
    if check is not None:
        check()
