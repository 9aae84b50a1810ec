"""Time small problems: one by one, together, and beside other methods.

``python -m experiments.bench.small`` prints CPU times on one thread. Problems are new in every
round, because a problem keeps what has been computed of it. Times are minima of several rounds,
which vary least on a busy machine; compare ratios within one run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from experiments.measuring.instances import Instance
from experiments.measuring.methods.quadratic import missing_module, solve_quadratic
from experiments.measuring.text import markdown_table
from solvers import ProjectedGradient, solve, solve_many
from solvers.bracket.threads import right_threads
from wdro_cvx import GraphProblem, Nominal, Solution

_RADIUS, _ETA, _TOL = 0.5, 0.3, 1e-6
_ROUNDS, _FEW = 5, 10
#: Model → its samples for d vertices, and the shape of its log-degree prior.
_MODELS: dict[str, tuple[str, Callable[[int], int], float | None]] = {
    "average": ("average", lambda d: 2 * d, None),
    "Gaussian ball": ("gaussian", lambda d: 2 * d, None),
    "moment ball": ("moment", lambda d: 2 * d, None),
    "KL ball": ("KLBall", lambda d: 30, None),
    "Wasserstein ball, log-degree": ("wasserstein", lambda d: 2 * d, 0.1),
}
_OTHERS: dict[str, tuple[str, Callable[[GraphProblem], Solution]]] = {
    "average": ("PIQP, called directly", lambda problem: solve_quadratic("PIQP", problem, _TOL)),
    "Gaussian ball": ("ProjectedGradient", lambda problem: ProjectedGradient(_TOL).solve(problem)),
    "moment ball": ("ProjectedGradient", lambda problem: ProjectedGradient(_TOL).solve(problem)),
}


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20, 40])
    parser.add_argument("--count", type=int, default=100, help="problems that are solved together")
    options = parser.parse_args(arguments)
    header = [
        "model",
        "d",
        "one by one",
        "together",
        "a second",
        "ratio",
        "other method",
        "its time",
    ]
    with right_threads(max(options.sizes)):
        lines = [
            _line(model, d, options.count) for d in options.sizes for model in _MODELS
        ]  # fmt: skip
    print(markdown_table(header, lines))


def _line(model: str, d: int, count: int) -> list[object]:
    name, samples, shape = _MODELS[model]
    problems = [
        Instance(name, d, samples(d), _RADIUS, _ETA, seed, shape=shape).problem()
        for seed in range(count)
    ]
    few = problems[:_FEW]
    alone = _seconds(few, lambda some: [solve(problem, _TOL) for problem in some])
    together = _seconds(problems, lambda some: solve_many(some, _TOL))
    line = [model, d, _ms(alone), _ms(together), f"{1 / together:.0f}", f"{alone / together:.1f}×"]
    if model not in _OTHERS or (model == "average" and missing_module("PIQP")):
        return [*line, "", ""]
    other, method = _OTHERS[model]
    return [*line, other, _ms(_seconds(few, lambda some: [method(one) for one in some]))]


def _seconds(
    problems: list[GraphProblem], run: Callable[[list[GraphProblem]], list[Solution]]
) -> float:
    """Return the CPU seconds per problem: the least of several rounds."""
    best = float("inf")
    for _ in range(_ROUNDS):
        new = [_new(problem) for problem in problems]
        started = time.process_time()
        run(new)
        best = min(best, time.process_time() - started)
    return best / len(problems)


def _new(problem: GraphProblem) -> GraphProblem:
    """Return the problem without what has been computed of it."""
    nominal = Nominal(problem.nominal.mean, samples=problem.nominal.samples)
    return GraphProblem(nominal, problem.ambiguity, prior=problem.prior)


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.2f} ms"


if __name__ == "__main__":
    main()
