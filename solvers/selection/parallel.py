"""Run independent pieces of work in several processes, in the manner of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import Any, TypeVar

from wdro_cvx import ProblemError

T = TypeVar("T")


def check_jobs(n_jobs: int | None) -> None:
    """Check a number of processes.

    Raises
    ------
    ProblemError
        If it is not a whole number, or 0.
    """
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ProblemError(
            f"n_jobs must be a number of processes, or -1 for one per core; it is {n_jobs!r}."
        )


def in_processes(
    function: Callable[..., T], calls: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[T]:
    """Return an iterator of the results of calls; a single process makes each call on demand.

    Parameters
    ----------
    function : callable
    calls : iterable of tuples
        The arguments of every call. They are drawn in order, in this process.
    n_jobs : int, optional
        The number of processes, as joblib counts them: by default 1, and -1 for one per core.
    """
    from joblib import Parallel, delayed  # slow to import, and only needed here

    found: Iterator[T] = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(function)(*arguments) for arguments in calls
    )
    return found
