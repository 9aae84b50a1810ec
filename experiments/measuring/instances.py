"""Generate synthetic problems as in the paper, each described by a few numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from experiments.measuring.extensions import named_sets, named_terms
from wdro_cvx import (
    AmbiguitySet,
    GaussianBall,
    GraphProblem,
    LogDegree,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
    Term,
    WassersteinBall,
    WdroError,
    registered_ambiguities,
    registered_terms,
)
from wdro_cvx.generators import rbf_graph, smooth_signals

T = TypeVar("T")
MODELS = ("average", "gaussian", "wasserstein", "moment")


@dataclass(frozen=True)
class Instance:
    """A random problem: RBF graph, smooth signals, noise 0.1.

    ``model`` is one of ``average``, ``gaussian``, ``wasserstein`` and ``moment`` (with norm ``p``),
    the name of any registered ambiguity set, or of a set in a user's file. ``shape`` selects a
    log-degree prior with α = 1 and αβ = ``shape``; ``eta`` is then unused. ``term`` names a
    registered term, or one in a user's file.
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
    term: str = ""

    def problem(self) -> GraphProblem:
        """Generate the problem; the same numbers give the same problem on every machine."""
        rng = np.random.default_rng([self.seed, self.d, self.n])
        samples = smooth_signals(rbf_graph(self.d, rng), self.n, rng, noise=0.1)
        nominal = Nominal.from_samples(samples)
        if self.shape is not None:
            return GraphProblem(nominal, self._ambiguity(), prior=LogDegree(1.0, self.shape))
        terms = (self._term(),) if self.term else ()
        return GraphProblem(
            nominal, self._ambiguity(), self.eta, trace_penalty=self.trace_penalty, terms=terms
        )

    def _term(self) -> Term:
        named = named_terms()
        if self.term in named:
            return named[self.term]
        terms = registered_terms()
        if self.term in terms:
            return _example(terms[self.term].example, 1.0, self.d)
        names = ", ".join(sorted({**terms, **named}))
        raise ProblemError(f"there is no term {self.term!r}. Known: {names}.")

    def _ambiguity(self) -> AmbiguitySet:
        if self.model == "average":
            return Singleton()
        if self.model == "gaussian":
            return GaussianBall(self.radius)
        if self.model == "wasserstein":
            return WassersteinBall(self.radius)
        if self.model == "moment":
            return MomentBall(self.radius, p=self.p)
        named = named_sets()
        if self.model in named:
            return named[self.model]
        sets = registered_ambiguities()
        if self.model in sets:
            return _example(sets[self.model].example, self.radius, self.d)
        names = ", ".join([*MODELS, *sorted({**sets, **named})])
        raise ProblemError(f"model must be one of {names}; it is {self.model!r}.")


def _example(example: Callable[[float, int], T], size: float, d: int) -> T:
    """Return the example of a set or term; report errors of a plug-in as ProblemError."""
    try:
        return example(size, d)
    except WdroError:
        raise
    except Exception as error:
        kind = getattr(example, "__self__", type(None)).__name__
        raise ProblemError(
            f"{kind}.example({size:g}, {d}) raises {type(error).__name__}: {error}. "
            "Correct it; comparisons use it."
        ) from error
