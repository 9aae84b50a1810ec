"""One measurement: an instance, a method, an accuracy; and what came of it."""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.instances import Instance
from experiments.methods import Method, find_method
from wdro_cvx import GraphProblem, Solution, Status, Verdict, judge

#: A method's own value may be off by this many times the gap that its Laplacian must reach.
VALUE_SLACK = 10.0

_LONG_S = 5.0  # a run this long is its own warm-up, and is not repeated


@dataclass(frozen=True)
class Cell:
    """What to measure.

    ``target`` is the judged gap that the method must reach; ``repeats`` the number of timed runs.
    """

    instance: Instance
    method: str
    target: float = 1e-6
    repeats: int = 3
    threads: int = 1

    @property
    def key(self) -> str:
        """A name for the result, the same for the same measurement."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Cell:
        """Rebuild a cell from ``dataclasses.asdict``."""
        return cls(**data | {"instance": Instance(**data["instance"])})


def measure(cell: Cell) -> tuple[dict[str, Any], np.ndarray]:
    """Run a cell here and now; return the row of its result and the Laplacian."""
    problem = cell.instance.problem()
    method = find_method(cell.method)
    method.check(problem)
    with threadpool_limits(cell.threads):
        before = _peak_mb()
        solution, verdict, tol, first_s = _reach(problem, method, cell.target)
        peak = _peak_mb()
        runs = [solution]
        seconds = [first_s]
        if first_s < _LONG_S:
            runs, seconds = [], []
            for _ in range(cell.repeats):
                started = time.perf_counter()
                runs.append(method.run(problem, tol))
                seconds.append(time.perf_counter() - started)
    row = {
        "said": solution.status.value,
        "said_solved": solution.status is Status.SOLVED,
        "is_solved": verdict.solved(cell.target),
        "value": solution.value,
        "judged_value": verdict.value,
        "bound": verdict.bound,
        "gap": verdict.gap,
        "residual": verdict.residuals.largest,
        "tol": tol,
        "iterations": solution.iterations,
        "build_s": float(np.median([run.build_s for run in runs])),
        "compile_s": float(np.median([run.compile_s for run in runs])),
        "solve_s": float(np.median([run.solve_s for run in runs])),
        "total_s": float(np.median(seconds)),
        "fastest_s": min(seconds),
        "slowest_s": max(seconds),
        "runs": len(runs),
        "peak_mb": peak,
        "solver_mb": peak - before,
    }
    return row, solution.laplacian


def _reach(
    problem: GraphProblem, method: Method, target: float
) -> tuple[Solution, Verdict, float, float]:
    """Run at the loosest tolerance whose answer is accepted, else at the tightest.

    Accepted is an answer that the judge confirms and whose own value is right as well.
    """
    for tol in method.tolerances(target):
        started = time.perf_counter()
        solution = method.run(problem, tol)
        seconds = time.perf_counter() - started
        verdict = judge(problem, solution.laplacian, solution.certificate)
        misstated = abs(solution.value - verdict.value) / abs(verdict.value)
        if verdict.solved(target) and misstated <= VALUE_SLACK * target:
            break
    return solution, verdict, tol, seconds


def _peak_mb() -> float:
    """Return the peak memory of this process in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024.0**2 if sys.platform == "darwin" else 1024.0)
