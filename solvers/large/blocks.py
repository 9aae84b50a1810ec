"""Price blocks of pairs, locally or on an executor; lost workers lose no block.

Every worker receives all columns; a block names two strips of them. If a worker is lost, its
blocks go to other workers. Blocks that the cluster never returns are computed locally. The caller
decides in double precision which pairs to keep.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvers.bracket.run import Executor
from solvers.large.charges import Charges

Single = NDArray[np.float32]
Found = NDArray[np.intp]

_TILE = 768  # vertices per tile; the fastest with 50 and with 200 columns
_AHEAD = 64  # blocks submitted to an executor in advance
_LOOK_S = 5.0  # seconds without an answer before checking that workers are alive


_ambient: ContextVar[Executor | None] = ContextVar("executor", default=None)


@contextmanager
def price_on(executor: Executor | None) -> Iterator[None]:
    """Price the blocks of all large graphs solved within this context on an executor.

    Use it for solves that other functions make, such as the estimator's.

    Parameters
    ----------
    executor : optional
        A ``concurrent.futures`` executor or a Dask client; None computes locally.

    Returns
    -------
    context manager

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from solvers import price_on
    >>> with ThreadPoolExecutor() as executor, price_on(executor):
    ...     pass  # RobustGraph().fit(X), solve(problem), ...
    """
    token = _ambient.set(executor)
    try:
        yield
    finally:
        _ambient.reset(token)


def ambient_executor() -> Executor | None:
    """Return the executor of the innermost :func:`price_on`."""
    return _ambient.get()


def price_block(
    rows: Single, others: Single, diagonal: bool, charges: Single | None = None
) -> Found:
    """Return the flat indices of the pairs in the block ``rows × others`` that may pay.

    ``charges`` lower the prices; the sign of a difference in single precision is exact.

    The product is computed tile by tile in one buffer that stays in the cache. With few columns,
    a new array per tile would cost more than the arithmetic.
    """
    left = np.empty_like(rows)
    np.multiply(rows[:, :-2], 2.0, out=left[:, :-2])
    left[:, -2], left[:, -1] = rows[:, -1], rows[:, -2]
    buffer = np.empty((_TILE, _TILE), dtype=np.float32)
    found = [np.empty(0, dtype=np.intp)]
    for top in range(0, len(rows), _TILE):
        for side in range(top if diagonal else 0, len(others), _TILE):
            first, second = left[top : top + _TILE], others[side : side + _TILE]
            tile = np.matmul(first, second.T, out=buffer[: len(first), : len(second)])
            if charges is not None:
                tile -= charges[top : top + _TILE, side : side + _TILE]
            if tile.max() <= 0.0:
                continue
            row, other = np.divmod(np.flatnonzero(tile > 0.0), len(second))
            if diagonal and side == top:  # each pair once, and no vertex with itself
                row, other = row[row < other], other[row < other]
            found.append((row + top) * len(others) + (other + side))
    return np.concatenate(found)


def priced_blocks(
    columns: Single, side: int, executor: Executor | None, charges: Charges | None = None
) -> Iterator[tuple[int, int, Found]]:
    """Yield the first row, the first column and the paying pairs of every block."""
    starts = range(0, columns.shape[0], side)
    places = np.arange(columns.shape[0])

    def beyond(first: int, second: int) -> Single | None:
        if charges is None:
            return None
        return charges.beyond(places[first : first + side], places[second : second + side])

    def local(first: int, second: int) -> Found:
        extra = beyond(first, second)
        return price_block(parts[first], parts[second], first == second, extra)

    tasks = deque((first, second) for first in starts for second in starts if second >= first)
    parts = {first: columns[first : first + side] for first in starts}
    if executor is None or not _anybody(executor):
        for first, second in tasks:
            yield first, second, local(first, second)
        return
    sent = _sent(parts, executor)
    waiting: deque[tuple[int, int, Any]] = deque()
    there = True
    while tasks or waiting:
        while there and tasks and len(waiting) < _AHEAD:
            first, second = tasks.popleft()
            task = sent[first], sent[second], first == second, beyond(first, second)
            waiting.append((first, second, _submitted(executor, task)))
        first, second, future = waiting.popleft() if waiting else (*tasks.popleft(), None)
        found = _awaited(executor, future) if there else None
        if found is None:  # the executor did not return it
            there = there and _anybody(executor)
            found = local(first, second)
        yield first, second, found


def _sent(parts: dict[int, Single], executor: Executor) -> dict[int, Any]:
    """Send every part to every worker of a cluster once; tasks then refer to the parts."""
    scatter = getattr(executor, "scatter", None)
    if scatter is None:
        return dict(parts)
    try:
        return {key: scatter(part, broadcast=True) for key, part in parts.items()}
    except Exception:  # no workers to send to; each task then carries its own data
        return dict(parts)


def _submitted(executor: Executor, task: tuple[Any, ...]) -> Any:
    try:
        return executor.submit(price_block, *task)
    except Exception:  # the client's scheduler is gone
        return None


def _awaited(executor: Executor, future: Any) -> Found | None:
    """Return a block's result; None if it is lost or no worker is left."""
    while future is not None:
        try:
            found: Found = future.result(timeout=_LOOK_S)
        except TimeoutError:
            if _anybody(executor):
                continue
            return None
        except Exception:  # lost with its worker or with the scheduler
            return None
        return found
    return None


def _anybody(executor: Executor) -> bool:
    """Return whether an executor still has workers; assume so if it cannot tell."""
    tell = getattr(executor, "scheduler_info", None)
    if tell is None:
        return True
    try:
        return getattr(executor, "status", "") == "running" and bool(tell(n_workers=-1)["workers"])
    except Exception:
        return False
