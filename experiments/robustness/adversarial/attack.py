"""One attack: solve a hostile problem, offer the judge forgeries, compare with the exact truth.

The truth is bracketed from above: the exact objective of the best graph that any route found. No
bound may pass it, and nothing called solved may be further above it than its tolerance.
"""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from typing import Any

import numpy as np

from experiments.robustness.adversarial.cases import Case, build
from experiments.robustness.adversarial.exact import exact_value
from experiments.robustness.adversarial.forgery import forge
from formulations import registered as formulations
from solvers import solve
from wdro_cvx import GraphProblem, Solution, Status, WdroError, judge
from wdro_cvx.graphs.laplacian import laplacian_from_weights
from wdro_cvx.validation import Array

TOL = 1e-6
#: No bound may pass the exact optimum by more than this, relative to the value.
ALLOWED = 1e-9


def attack(case: Case, time_limit: float = 20.0) -> dict[str, Any]:
    """Run one case and return what was found, one row of the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # arithmetic of ours that goes wrong
        return _attack(case, time_limit)


def _attack(case: Case, time_limit: float) -> dict[str, Any]:
    problem, samples = build(case)
    started = time.perf_counter()
    answer = solve(problem, TOL, time_limit=time_limit)
    seconds = time.perf_counter() - started
    verdict = judge(problem, answer)
    truth = _best_known(problem, samples, answer)
    scale = max(abs(truth - problem.constant), abs(verdict.value - problem.constant), 1e-300)
    highest, forger = verdict.bound, "the solver"
    notes = 0
    rng = np.random.default_rng(case.seed)
    shown = problem.prior.repaired(_other_graph(problem, rng))
    for graph in (answer.laplacian, shown):
        for name, certificate in forge(problem, graph, rng):
            found = judge(problem, graph, certificate)
            notes += bool(found.notes)
            if found.bound > highest:
                highest, forger = found.bound, name
    exact = float(exact_value(problem, samples, problem.prior.repaired(answer.laplacian)))
    return {
        "seed": case.seed, "set": case.ambiguity, "data": case.data,
        "constraints": case.constraints, "d": problem.d, "n": len(samples),
        "status": answer.status.value, "gap": answer.gap, "seconds": seconds,
        "value": verdict.value, "bound": verdict.bound, "truth": truth,
        "bound_excess": (highest - truth) / scale, "forger": forger, "refused": notes,
        "value_deficit": (exact - verdict.value) / scale,
        "wrong_claim": bool(
            answer.status is Status.SOLVED
            and (not verdict.solved(TOL) or verdict.value - truth > 2 * TOL * scale)
        ),
        "fooled": bool((highest - truth) / scale > ALLOWED),
    }  # fmt: skip


def _best_known(problem: GraphProblem, samples: Array, answer: Solution) -> float:
    """Return the least exact objective among the graphs of all routes to the problem."""
    graphs = [answer.laplacian]
    with warnings.catch_warnings():  # backends that are in trouble say so; others may not be
        warnings.simplefilter("ignore")
        for form in formulations().values():
            with suppress(WdroError):
                form.check_claim(problem)
                graphs.append(form(problem).solve().laplacian)
    values = [exact_value(problem, samples, problem.prior.repaired(graph)) for graph in graphs]
    return float(min(values))


def _other_graph(problem: GraphProblem, rng: np.random.Generator) -> Array:
    m = problem.d * (problem.d - 1) // 2
    return laplacian_from_weights(rng.exponential(size=m) * (rng.random(m) < 0.6) + 1e-3)
