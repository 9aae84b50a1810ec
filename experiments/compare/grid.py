"""Define the problems and methods of a comparison.

There are four kinds of problem. *Scenarios* are the paper's and penalise the trace by β; the
paper's algorithm, our improved version of it, interior point and ``solve`` take part. *Variations*
change one setting of a scenario at one size. *Contests* fix the trace; every opponent takes part.
Named sets and terms, for example from a user's file, replace all of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from experiments.measuring.campaign import Planned
from experiments.measuring.extensions import named_sets
from experiments.measuring.instances import Instance
from experiments.measuring.measurement import Cell
from experiments.measuring.methods import at_tolerance, find_method, missing_backend
from experiments.measuring.outcome import Limits
from formulations import registered
from wdro_cvx import ProblemError, registered_ambiguities

GAUSSIAN = "Gaussian scenario"
GENERAL = "general scenario, p = 2"
SIGNALS = "signal space, N = 10"
AVERAGE = "sample average"

#: The weights of the trace penalty; the paper does not say which one it used.
BETAS = (0.1, 1.0, 10.0)
#: The weight in Figure 7a, and the one around which settings are varied.
FIGURE_BETA, MIDDLE_BETA = 10.0, 1.0
#: The errors at which the paper's algorithms stop by their own rule.
ERRORS = (1e-3, 1e-4)
#: Clarabel's own default tolerance.
INTERIOR_TOLERANCE = 1e-8
#: The judged gap of scenarios; the printed algorithms rarely reach a smaller one in time.
SCENARIO_TARGET = 1e-4


@dataclass(frozen=True)
class Scenario:
    """One of the paper's two scenarios with the names of its methods.

    Attributes
    ----------
    name : str
    model : str
        The model of its instances.
    printed, improved, interior : str
        The paper's algorithm, our improved version of it, and interior point.
    """

    name: str
    model: str
    printed: str
    improved: str
    interior: str

    def title(self, beta: float) -> str:
        """Return the title of its panel for one weight of the penalty."""
        return f"{self.name}, β = {beta:g}"

    def instance(self, beta: float) -> Instance:
        """Return its instance, without a size."""
        return Instance(self.model, 0, 0, 0.5, 0.3, 0, trace_penalty=beta)

    @property
    def methods(self) -> tuple[str, ...]:
        """Its methods. ``solve`` is first, because its bound helps to judge the others."""
        return "solve", self.improved, self.printed, *self.by_own_rule, self.interior

    @property
    def by_own_rule(self) -> tuple[str, ...]:
        """The printed algorithm with its own stopping rule, once for each error."""
        return tuple(at_tolerance(self.printed, error) for error in ERRORS)


SCENARIOS = (
    Scenario("general", "moment", "PrintedGradient", "ProjectedGradient",
             at_tolerance("GeneralRegularized:CLARABEL", INTERIOR_TOLERANCE)),
    Scenario("Gaussian", "gaussian", "PrintedDescent", "BlockDescent",
             at_tolerance("GaussianSDP:CLARABEL", INTERIOR_TOLERANCE)),
)  # fmt: skip

#: Setting → values, changed one at a time; ``n`` is per vertex.
VARIATIONS = {"radius": (0.1, 2.0), "eta": (0.03, 3.0), "n": (0.5, 10.0)}
SYMBOLS = {"radius": "ε", "eta": "η", "n": "N/d"}

#: Problems with a fixed trace.
CONTESTS = {
    AVERAGE: Instance("average", 0, 0, 0.0, 0.3, 0),
    GENERAL: Instance("moment", 0, 0, 0.5, 0.3, 0),
    SIGNALS: Instance("wasserstein", 0, 10, 0.5, 0.3, 0),
    GAUSSIAN: Instance("gaussian", 0, 0, 0.5, 0.3, 0),
}

#: The radius of a named set, unless it has its own, and the sets beside which a term is tried.
NAMED_RADIUS = 0.5
BESIDE_TERMS = ("Singleton", "WassersteinBall")
#: Our solvers of named problems; each takes part where it claims the problem.
NAMED_SOLVERS = ("CertifiedSolver", "LikelihoodSolver", "ProjectedGradient")

#: The opponents of the quick preset: every program of the paper, and the best of each kind.
METHODS = (
    "solve", "BlockDescent", "ProjectedGradient",
    "GaussianSDP:CLARABEL", "GaussianClosedForm:CLARABEL", "RobustPremium:CLARABEL",
    "GaussianDual:CLARABEL", "GeneralSDP:CLARABEL", "GeneralRegularized:CLARABEL",
    "SampleAverage:CLARABEL", "GaussianSDP:SCS", "RobustPremium:SCS", "PIQP",
)  # fmt: skip
#: All opponents.
OPPONENTS = (
    *METHODS,
    "GaussianSDP:CVXOPT", "GaussianSDP:SDPA", "RobustPremium:CVXOPT", "GaussianDual:SCS",
    "GeneralRegularized:ECOS", "GeneralRegularized:QOCO", "GeneralRegularized:SCS",
    "OSQP", "HIGHS", "PROXQP", "CLARABEL", "SampleAverage/matrix:CLARABEL", "SampleAverage:PIQP",
    "SampleAverage:OSQP", "SampleAverage:ECOS", "SampleAverage:QOCO",
    "GaussianSDP:MOSEK", "GaussianSDP:COPT",
)  # fmt: skip


@dataclass(frozen=True)
class Preset:
    """The size of a comparison.

    Attributes
    ----------
    dimensions : tuple of int
    limits : Limits
        For each run of a contest or a variation.
    scenario_s : float
        CPU seconds for each run of a scenario.
    seeds : int
        Data sets per size.
    once_s : float
        Sizes that take longer are measured on one data set.
    betas : tuple of float
        The weights of the trace penalty.
    varied_d : int or None
        The size at which settings are varied, or None to vary none.
    methods : tuple of str
        The opponents in the contests.
    sdp_up_to : int
        The largest size at which interior point solves the SDP of a scenario. Its time grows like
        d⁶, so one size more would take longer than all the rest.
    """

    dimensions: tuple[int, ...]
    limits: Limits
    scenario_s: float
    seeds: int
    once_s: float
    betas: tuple[float, ...] = BETAS
    varied_d: int | None = None
    methods: tuple[str, ...] = METHODS
    sdp_up_to: int = 60


PRESETS = {
    "quick": Preset((10, 15, 30), Limits(2.0, 4096.0), 2.0, 3, 0.2, BETAS[1:]),
    "paper": Preset(
        (10, 20, 40, 60, 80, 120), Limits(10.0, 16384.0), 90.0, 5, 5.0, BETAS, 20,
        OPPONENTS,
    ),
}  # fmt: skip


def variation_title(scenario: Scenario, setting: str, value: float) -> str:
    """Return the title of the panel of one varied setting."""
    return f"{scenario.name}, {SYMBOLS[setting]} = {value:g}"


def methods_for(sets: Sequence[str], backends: Sequence[str] = ("CLARABEL",)) -> tuple[str, ...]:
    """Return our solvers and all formulations that claim one of the given ambiguity sets.

    Raises
    ------
    ProblemError
        If a set is neither registered nor named by a file.
    """
    known = registered_ambiguities() | {name: type(one) for name, one in named_sets().items()}
    unknown = [name for name in sets if name not in known]
    if unknown:
        raise ProblemError(
            f"there is no ambiguity set {unknown[0]!r}. Known: {', '.join(sorted(known))}."
        )
    claiming = [
        f"{name}:{backend}"
        for name, formulation in registered().items()
        if any(issubclass(known[item], formulation.claims) for item in sets)
        for backend in backends
    ]
    return (*NAMED_SOLVERS, *claiming)


@dataclass(frozen=True)
class Panel:
    """One problem at several sizes, and the methods to try; ``per_vertex`` signals per vertex."""

    title: str
    instance: Instance
    target: float
    methods: tuple[str, ...]
    dimensions: tuple[int, ...]
    per_vertex: float

    def at(self, d: int, seed: int) -> Instance:
        """Return the instance of one size and data set."""
        n = self.instance.n or max(1, round(self.per_vertex * d))
        return replace(self.instance, d=d, n=n, seed=seed)


@dataclass(frozen=True)
class Grid:
    """The problems and methods to compare.

    ``methods`` replaces all methods; settings are then not varied. ``sets`` and ``terms`` name
    ambiguity sets and terms that replace the paper's problems. Every term is tried beside every
    set, or beside ``BESIDE_TERMS`` if no set is named. ``long_s`` is another time limit for
    interior point in Figure 7.
    """

    preset: Preset
    methods: tuple[str, ...] | None = None
    samples_per_vertex: int = 2
    target: float = 1e-6
    repeats: int = 3
    sets: tuple[str, ...] = ()
    long_s: float | None = None
    terms: tuple[str, ...] = ()

    @property
    def named(self) -> bool:
        """Whether named sets and terms replace the paper's problems."""
        return bool(self.sets or self.terms)

    def panels(self) -> list[Panel]:
        """Return the panels, those with the longest runs last."""
        sizes, each = self.preset.dimensions, float(self.samples_per_vertex)
        chosen = self.methods
        if self.named:
            return self._named(each)
        found = [
            Panel(title, instance, self.target, chosen or self.preset.methods, sizes, each)
            for title, instance in CONTESTS.items()
        ]
        found += self._variations(each)
        for scenario in SCENARIOS:
            found += [
                Panel(scenario.title(beta), scenario.instance(beta), SCENARIO_TARGET,
                      chosen or scenario.methods, sizes, each)
                for beta in self.preset.betas
            ]  # fmt: skip
        return found

    def _named(self, each: float) -> list[Panel]:
        """Return a panel for every set, and one for every term beside a set."""
        alone = methods_for(self.sets)
        # SCS is faster than Clarabel where a term is not quadratic.
        beside = methods_for(self.sets or BESIDE_TERMS, ("CLARABEL", "SCS"))
        found = [(name, "", alone) for name in self.sets]
        found += [(name, term, beside) for term in self.terms for name in self.sets or BESIDE_TERMS]
        named = named_sets()
        return [
            Panel(
                f"{name} with {term}" if term else name,
                Instance(
                    name, 0, 0, named[name].radius if name in named else NAMED_RADIUS, 0.3, 0,
                    term=term,
                ),
                self.target, self.methods or methods, self.preset.dimensions, each,
            )
            for name, term, methods in found
        ]  # fmt: skip

    def _variations(self, each: float) -> list[Panel]:
        size = self.preset.varied_d
        if self.methods is not None or size is None:
            return []
        found = []
        for scenario in SCENARIOS:
            base = scenario.instance(MIDDLE_BETA)
            for setting, values in VARIATIONS.items():
                for value in values:
                    changed: dict[str, Any] = {} if setting == "n" else {setting: value}
                    found.append(
                        Panel(variation_title(scenario, setting, value), replace(base, **changed),
                              SCENARIO_TARGET, scenario.methods, (size,),
                              value if setting == "n" else each)
                    )  # fmt: skip
        return found

    def missing(self) -> dict[str, str]:
        """Return how to install the missing backends, by method."""
        names = {name for panel in self.panels() for name in panel.methods}
        found = {name: missing_backend(name) for name in sorted(names)}
        return {name: reason for name, reason in found.items() if reason is not None}

    def plan(self) -> list[Planned]:
        """Return one measurement per panel, size, data set and method that claims the problem."""
        absent, plan = self.missing(), []
        for panel in self.panels():
            example = panel.at(min(panel.dimensions), 0).problem()
            if panel.instance.model in named_sets():  # it may fit only one number of vertices
                for d in panel.dimensions:
                    problem = panel.at(d, 0).problem()
                    problem.value(problem.prior.start(d))
            methods = [find_method(name) for name in panel.methods if name not in absent]
            claiming = [method.name for method in methods if method.claims(example)]
            plan += [
                Planned(panel.title, Cell(panel.at(d, seed), method, panel.target, self.repeats),
                        self._limits(panel, method), self.preset.once_s)
                for d in panel.dimensions
                for seed in range(self.preset.seeds)
                for method in claiming
                if not (method == SCENARIOS[1].interior and d > self.preset.sdp_up_to)
            ]  # fmt: skip
        if not plan:
            raise ProblemError(
                "none of the named methods claims any of the problems; name others with --methods."
            )
        return plan

    def _limits(self, panel: Panel, method: str) -> Limits:
        limits = self.preset.limits
        for scenario in SCENARIOS:
            if panel.title == scenario.title(FIGURE_BETA) and method == scenario.interior:
                return replace(limits, limit_s=self.long_s or self.preset.scenario_s)
            if panel.title in map(scenario.title, BETAS):
                return replace(limits, limit_s=self.preset.scenario_s)
        return limits
