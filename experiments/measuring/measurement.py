"""Measure one method on one instance at a given accuracy.

Times are CPU times of one thread, because other programs disturb them least. Their parts are
building a model, compiling it, and solving, which is the remainder. Each row also records the wall
time and the load from other programs.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import psutil
import scipy.linalg  # noqa: F401 - it brings a BLAS that threadpool_limits must find
from threadpoolctl import threadpool_limits

from experiments.measuring.extensions import load_extension, load_installed
from experiments.measuring.instances import Instance
from experiments.measuring.methods import Method, find_method
from wdro_cvx import GraphProblem, Solution, SolverError, Status, Verdict, judge
from wdro_cvx.validation import Array

#: The value that a method reports may be off by this many times the target gap.
VALUE_SLACK = 10.0

_REPEAT_S = 0.5  # for all repeats together; longer runs are not repeated
_WARM_S = 0.05  # most CPU time of the warm-up, which does not count
_STEADY = 0.05  # two runs in a row that differ by less end the warm-up


@dataclass(frozen=True)
class Cell:
    """What to measure: ``target`` is the judged gap to reach, ``repeats`` the timed runs."""

    instance: Instance
    method: str
    target: float = 1e-6
    repeats: int = 3
    threads: int = 1


@dataclass(frozen=True)
class Assignment:
    """A cell with the extensions to load, the best lower bound so far, and its time limit."""

    cell: Cell
    extensions: tuple[str, ...] = ()
    bound: float = -np.inf
    limit_s: float = np.inf


@dataclass(frozen=True)
class Timed:
    """A solution with its CPU and wall seconds."""

    solution: Solution
    cpu_s: float
    wall_s: float


def carry_out(assignment: Assignment) -> tuple[dict[str, Any], Array]:
    """Load the extensions, then measure; this runs in its own process."""
    load_installed()
    for path in assignment.extensions:
        load_extension(path)
    return measure(assignment.cell, assignment.bound, assignment.limit_s)


def measure(
    cell: Cell, bound: float = -np.inf, limit_s: float = np.inf
) -> tuple[dict[str, Any], Array]:
    """Measure a cell in this process; return its row and the Laplacian.

    Parameters
    ----------
    cell : Cell
    bound : float
        A lower bound that the judge derived from another method's certificate. It can confirm an
        answer that has no certificate.
    limit_s : float
        The CPU seconds after which the process is stopped; repeats take at most half of the rest.
    """
    started = _cpu_s()
    problem = cell.instance.problem()
    method = find_method(cell.method)
    method.check(problem)
    with threadpool_limits(cell.threads):
        before, others = _peak_mb(), _Others()
        first, verdict, tol = _reach(problem, method, cell.target, bound)
        peak = _peak_mb()
        spare_s = min(_REPEAT_S, (limit_s - (_cpu_s() - started)) / 2)
        repeats = min(cell.repeats, int(spare_s / max(first.cpu_s, 1e-9)))
        runs = _steady(lambda: method.run(problem, tol), first, repeats)
        busy = others.cores()
    solution = first.solution
    seconds = [run.cpu_s for run in runs]
    build_s = float(np.median([run.solution.build_s for run in runs]))
    compile_s = float(np.median([run.solution.compile_s for run in runs]))
    row = {
        "said": solution.status.value,
        "said_solved": solution.status is Status.SOLVED,
        "is_solved": _solved(verdict, cell.target, bound),
        "value": float(solution.value),
        "judged_value": verdict.value,
        "bound": verdict.bound,
        "gap": verdict.gap,
        "residual": verdict.residuals.largest,
        "oracle_error": verdict.oracle_error,
        "constant": verdict.constant,
        "floor": verdict.floor,
        "tol": tol,
        "iterations": int(solution.iterations),
        "build_s": build_s,
        "compile_s": compile_s,
        "solve_s": float(np.median(seconds)) - build_s - compile_s,
        "total_s": float(np.median(seconds)),
        "fastest_s": min(seconds),
        "slowest_s": max(seconds),
        "wall_s": float(np.median([run.wall_s for run in runs])),
        "runs": len(runs),
        "others": busy,
        "peak_mb": peak,
        "solver_mb": peak - before,
    }
    return row, np.asarray(solution.laplacian, dtype=float)


def _reach(
    problem: GraphProblem, method: Method, target: float, bound: float
) -> tuple[Timed, Verdict, float]:
    """Run at ever tighter tolerances until the judge accepts the answer and its reported value.

    Some backends raise an error at a tolerance that is too tight for them. The answer at the
    previous tolerance is then returned.
    """
    found: tuple[Timed, Verdict, float] | None = None
    for tol in method.tolerances(target):
        try:
            timed = _timed(lambda tol=tol: method.run(problem, tol))  # type: ignore[misc]
        except SolverError:
            if found is None:
                raise
            return found
        answer = timed.solution
        verdict = judge(problem, answer.laplacian, answer.certificate)
        found = timed, verdict, tol
        misstated = abs(answer.value - verdict.value) / max(abs(verdict.value), verdict.floor)
        if _solved(verdict, target, bound) and misstated <= VALUE_SLACK * target:
            break
    assert found is not None  # every method has a tolerance
    return found


def _steady(run: Callable[[], Solution], first: Timed, repeats: int) -> list[Timed]:
    """Return runs repeated once times are steady, or the first run if there is no time to repeat.

    The first runs of a process are slower: caches are empty and the processor's clock is low.
    """
    if repeats <= 0:
        return [first]
    spent, last = first.cpu_s, first.cpu_s
    while spent < _WARM_S:
        now = _timed(run).cpu_s
        spent += now
        if abs(now - last) <= _STEADY * now:
            break
        last = now
    return [_timed(run) for _ in range(repeats)]


def _solved(verdict: Verdict, target: float, bound: float) -> bool:
    """Return whether the answer's own certificate or another bound confirms it."""
    return replace(verdict, bound=max(verdict.bound, bound)).solved(target)


def _timed(run: Callable[[], Solution]) -> Timed:
    wall, cpu = time.perf_counter(), _cpu_s()
    solution = run()
    return Timed(solution, _cpu_s() - cpu, time.perf_counter() - wall)


def _cpu_s() -> float:
    """Return the CPU seconds of this process and its finished children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class _Others:
    """Measures how many cores other programs use."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), self._elsewhere()

    @staticmethod
    def _elsewhere() -> float:
        used = psutil.cpu_times()
        return used.user + used.system - _cpu_s()

    def cores(self) -> float:
        started, before = self._start
        elapsed = time.perf_counter() - started
        return max(self._elsewhere() - before, 0.0) / max(elapsed, 1e-9)


def _peak_mb() -> float:
    """Return the peak memory of this process in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024.0**2 if sys.platform == "darwin" else 1024.0)
