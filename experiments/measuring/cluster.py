"""Run trials on a Dask cluster; detect a lost scheduler or lost workers within seconds."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from experiments.measuring.outcome import Answer, Outcome
from wdro_cvx import WdroError

#: The address of a Dask cluster that is started on this machine.
LOCAL_CLUSTER = "local"
_CONNECT_S = 20.0
_PATIENCE_S = 5.0  # how long the workers or the scheduler may be missing
_POLL_S = 1.0
_FETCH_S = 5.0  # to fetch a finished answer


@contextmanager
def connected(scheduler: str) -> Iterator[Any]:
    """Yield a client of a Dask scheduler (``tcp://host:port``, or ``local`` to start one here).

    Raises
    ------
    WdroError
        If Dask is not installed or no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise WdroError(
            "Running on a cluster needs Dask: pip install 'wdro-cvx[cluster]'."
        ) from None
    # Dask logs every lost connection with a traceback; we report one sentence.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        if scheduler == LOCAL_CLUSTER:
            # Port 0 picks any free port; the dashboard's default port may be taken.
            client = Client(threads_per_worker=1, dashboard_address=":0")
        else:
            client = Client(scheduler, timeout=_CONNECT_S)
    except (OSError, ValueError) as error:
        raise WdroError(
            f"No Dask scheduler answers at {scheduler!r} ({error}). Start one with "
            "`dask scheduler`, or use --dask local."
        ) from None
    with client:
        yield client


@contextmanager
def pricing_cluster(scheduler: str | None) -> Iterator[None]:
    """Make the sparse solver price its blocks on a cluster, or locally if there is none."""
    if scheduler is None:
        yield
        return
    from solvers import price_on

    with connected(scheduler) as client, price_on(client):
        yield


def on_cluster(
    numbered: Sequence[tuple[int, Any]],
    function: Callable[[Any], Any],
    scheduler: str,
    saved: Path,
) -> Iterator[tuple[int, Answer]]:
    """Yield answers as they arrive; other workers take over the tasks of a lost worker."""
    with connected(scheduler) as client:
        from distributed import wait

        futures = {client.submit(function, work, pure=False): place for place, work in numbered}
        deadline = time.monotonic() + _CONNECT_S  # workers may still be starting
        while futures:
            answers: list[tuple[Any, Answer]] = []
            try:
                done = wait(list(futures), timeout=_POLL_S, return_when="FIRST_COMPLETED").done
                for future in done:
                    answers.append((future, _answer(future)))
                lost = None
            except TimeoutError:
                lost = _lost(client)
            except (CancelledError, OSError):  # how the client reports a lost connection
                lost, deadline = "The Dask scheduler is gone.", 0.0
            if lost is None:
                deadline = time.monotonic() + _PATIENCE_S
            elif time.monotonic() > deadline:
                raise WdroError(
                    f"{lost} {len(numbered) - len(futures)} of {len(numbered)} trials came back "
                    f"and are saved in {saved}; the same command resumes."
                )
            for future, answer in answers:
                yield futures.pop(future), answer
                future.release()


def _lost(client: Any) -> str | None:
    """Return a sentence about what is lost, or None if the cluster is alive."""
    if client.status != "running":
        return "The Dask scheduler is gone."
    return None if client.scheduler_info(n_workers=-1)["workers"] else "All Dask workers are gone."


def _answer(future: Any) -> Answer:
    """Fetch an answer, with time-outs because the worker may die before it sends it."""
    reason = future.exception(timeout=_FETCH_S)
    if reason is None:
        return Answer(Outcome.OK, future.result(timeout=_FETCH_S))
    return Answer(Outcome.CRASH, message=f"{type(reason).__name__}: {reason}")
