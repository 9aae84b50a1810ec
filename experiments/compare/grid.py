"""Define the problems and methods of a comparison.

The paper's problem penalises the trace; ours fixes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from experiments.measuring.campaign import Planned
from experiments.measuring.instances import Instance
from experiments.measuring.measurement import Cell
from experiments.measuring.methods import find_method, missing_backend
from experiments.measuring.outcome import Limits
from formulations import registered
from wdro_cvx import ProblemError, registered_ambiguities

GAUSSIAN = "Gaussian scenario"
GAUSSIAN_PENALISED = "Gaussian, trace penalised"
GENERAL = "general scenario, p = 2"
GENERAL_PENALISED = "general, trace penalised"
SIGNALS = "signal space, N = 10"
AVERAGE = "sample average"

#: Panel title → instance.
PANELS = {
    GAUSSIAN: Instance("gaussian", 0, 0, 0.5, 0.3, 0),
    GAUSSIAN_PENALISED: Instance("gaussian", 0, 0, 0.5, 0.3, 0, trace_penalty=10.0),
    GENERAL: Instance("moment", 0, 0, 0.5, 0.3, 0),
    GENERAL_PENALISED: Instance("moment", 0, 0, 0.5, 0.3, 0, trace_penalty=10.0),
    SIGNALS: Instance("wasserstein", 0, 10, 0.5, 0.3, 0),
    AVERAGE: Instance("average", 0, 0, 0.0, 0.3, 0),
}

# Our solver runs first: its bound helps to judge answers without a certificate.
METHODS = (
    "CertifiedSolver", "MomentNewton", "BlockDescent", "ProjectedGradient",
    "GaussianSDP:CLARABEL", "GaussianClosedForm:CLARABEL", "RobustPremium:CLARABEL",
    "GeneralSDP:CLARABEL", "GeneralRegularized:CLARABEL", "SampleAverage:CLARABEL",
    "GaussianSDP:SCS", "RobustPremium:SCS", "GeneralRegularized:SCS", "PIQP",
)  # fmt: skip


#: Numbers of vertices, and the limits of each run.
PRESETS = {
    "quick": ((10, 15, 20, 50, 100), Limits(5.0, 4096.0)),
    "paper": ((10, 20, 40, 60, 80, 100, 120), Limits(60.0, 16384.0)),
}

#: The curves of the paper's Figure 7 (panel, method, name in the figure), with ours as the fifth.
FIGURE_7 = (
    (GAUSSIAN_PENALISED, "GaussianSDP:CLARABEL", "interior point, Gaussian (SDP)"),
    (GAUSSIAN_PENALISED, "BlockDescent", "projected gradient, Gaussian (improved Algorithm 3)"),
    (GENERAL_PENALISED, "GeneralRegularized:CLARABEL", "interior point, general (p = 2)"),
    (GENERAL_PENALISED, "ProjectedGradient", "projected gradient, general (improved Algorithm 4)"),
    (GAUSSIAN_PENALISED, "CertifiedSolver", "ours, Gaussian, certified"),
)
_LONG = frozenset((panel, method) for panel, method, _ in FIGURE_7)


def methods_for(sets: Sequence[str]) -> tuple[str, ...]:
    """Return our solvers and all formulations that claim one of the given ambiguity sets.

    Raises
    ------
    ProblemError
        If a set is not registered.
    """
    known = registered_ambiguities()
    unknown = [name for name in sets if name not in known]
    if unknown:
        raise ProblemError(
            f"there is no ambiguity set {unknown[0]!r}. Registered: {', '.join(sorted(known))}."
        )
    claiming = [
        f"{name}:CLARABEL"
        for name, formulation in registered().items()
        if any(issubclass(known[item], formulation.claims) for item in sets)
    ]
    return ("CertifiedSolver", "ProjectedGradient", *claiming)


@dataclass(frozen=True)
class Grid:
    """The problems and methods to compare.

    ``sets`` names ambiguity sets that replace the paper's problems. ``figure7_s`` is an optional,
    separate time limit for the methods of the paper's Figure 7.
    """

    dimensions: tuple[int, ...]
    limits: Limits
    methods: tuple[str, ...] = METHODS
    samples_per_vertex: int = 2
    seeds: tuple[int, ...] = (0,)
    target: float = 1e-6
    repeats: int = 3
    sets: tuple[str, ...] = ()
    figure7_s: float | None = None

    @property
    def panels(self) -> dict[str, Instance]:
        """The paper's problems by title, or one problem for every named ambiguity set."""
        if not self.sets:
            return PANELS
        return {name: Instance(name, 0, 0, 0.5, 0.3, 0) for name in self.sets}

    def missing(self) -> dict[str, str]:
        """Return how to install the missing backends, by method."""
        found = {name: missing_backend(name) for name in self.methods}
        return {name: reason for name, reason in found.items() if reason is not None}

    def plan(self) -> list[Planned]:
        """Return one measurement per panel, size, seed and method that claims the problem."""
        absent = self.missing()
        methods = [find_method(name) for name in self.methods if name not in absent]
        plan = []
        for panel, base in self.panels.items():
            claiming = [m for m in methods if m.claims(replace(base, d=4, n=4).problem())]
            for d in self.dimensions:
                n = base.n or self.samples_per_vertex * d
                for seed in self.seeds:
                    instance = replace(base, d=d, n=n, seed=seed)
                    plan += [
                        Planned(panel, Cell(instance, m.name, self.target, self.repeats),
                                self._limits(panel, m.name))
                        for m in claiming
                    ]  # fmt: skip
        if not plan:
            raise ProblemError(
                "none of the named methods claims any of the problems; name others with --methods."
            )
        return plan

    def _limits(self, panel: str, method: str) -> Limits:
        if self.figure7_s is None or (panel, method) not in _LONG:
            return self.limits
        return Limits(self.figure7_s, self.limits.limit_mb)
