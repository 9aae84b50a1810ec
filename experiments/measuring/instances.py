"""Generate synthetic problems as in the paper, each described by a few numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wdro_cvx import (
    AmbiguitySet,
    GaussianBall,
    GraphProblem,
    LogDegree,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
    WassersteinBall,
    WdroError,
    registered_ambiguities,
)
from wdro_cvx.generators import rbf_graph, smooth_signals

MODELS = ("average", "gaussian", "wasserstein", "moment")


@dataclass(frozen=True)
class Instance:
    """A random problem: RBF graph, smooth signals, noise 0.1.

    ``model`` is one of ``average``, ``gaussian``, ``wasserstein`` and ``moment`` (with norm ``p``),
    or the name of any registered ambiguity set. ``shape`` selects a log-degree prior with α = 1 and
    αβ = ``shape``; ``eta`` is then unused.
    """

    model: str
    d: int
    n: int
    radius: float
    eta: float
    seed: int
    p: float = 2.0
    trace_penalty: float | None = None
    shape: float | None = None

    def problem(self) -> GraphProblem:
        """Generate the problem; the same numbers give the same problem on every machine."""
        rng = np.random.default_rng([self.seed, self.d, self.n])
        samples = smooth_signals(rbf_graph(self.d, rng), self.n, rng, noise=0.1)
        nominal = Nominal.from_samples(samples)
        if self.shape is not None:
            return GraphProblem(nominal, self._ambiguity(), prior=LogDegree(1.0, self.shape))
        return GraphProblem(nominal, self._ambiguity(), self.eta, trace_penalty=self.trace_penalty)

    def _ambiguity(self) -> AmbiguitySet:
        if self.model == "average":
            return Singleton()
        if self.model == "gaussian":
            return GaussianBall(self.radius)
        if self.model == "wasserstein":
            return WassersteinBall(self.radius)
        if self.model == "moment":
            return MomentBall(self.radius, p=self.p)
        sets = registered_ambiguities()
        if self.model in sets:
            return _example(sets[self.model], self.radius, self.d)
        names = ", ".join([*MODELS, *sorted(sets)])
        raise ProblemError(f"model must be one of {names}; it is {self.model!r}.")


def _example(kind: type[AmbiguitySet], radius: float, d: int) -> AmbiguitySet:
    """Return the example of a set; report errors of a plug-in as ProblemError."""
    try:
        return kind.example(radius, d)
    except WdroError:
        raise
    except Exception as error:
        raise ProblemError(
            f"{kind.__name__}.example({radius:g}, {d}) raises {type(error).__name__}: {error}. "
            "Correct it; comparisons use it."
        ) from error
