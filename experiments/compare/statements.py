"""Check the paper's statements on run time, each under several conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.compare.grid import (
    BETAS,
    ERRORS,
    FIGURE_BETA,
    GAUSSIAN,
    SCENARIO_TARGET,
    SCENARIOS,
    Scenario,
)
from experiments.measuring.growth import Growth, fit_growth
from experiments.measuring.methods import at_tolerance
from experiments.measuring.outcome import Outcome
from experiments.measuring.text import markdown_table

GENERAL_SCENARIO, GAUSSIAN_SCENARIO = SCENARIOS
HOLDS, FAILS, UNDECIDED, DEPENDS = "holds", "fails", "undecided", "depends"
UNTESTED = "not tested"
#: A run that stops by its own rule counts as accurate below this gap.
ACCURATE = 1e-3


@dataclass(frozen=True)
class Statement:
    """A statement on run times and the verdict of the numbers.

    Attributes
    ----------
    place : str
        Its place in the paper, or the contest that it is about.
    text : str
        The statement in short.
    verdict, evidence : str
        What was found, and the numbers behind it.
    """

    place: str
    text: str
    verdict: str
    evidence: str


def statement_table(statements: Sequence[Statement]) -> str:
    """Return statements with their verdicts as a Markdown table."""
    rows = [[s.place, s.text, f"**{s.verdict}**", s.evidence] for s in statements]
    return markdown_table(["", "statement", "verdict", "evidence"], rows)


@dataclass(frozen=True)
class Condition:
    """How projected gradient is run: the weight β, and an error or None for a judged gap."""

    beta: float
    error: float | None

    def method(self, scenario: Scenario) -> str:
        """Return the name of the printed method."""
        if self.error is None:
            return scenario.printed
        return at_tolerance(scenario.printed, self.error)

    def __str__(self) -> str:
        rule = f"gap {SCENARIO_TARGET:g}" if self.error is None else f"error {self.error:g}"
        return f"β = {self.beta:g}, {rule}"


CONDITIONS = tuple(Condition(beta, error) for beta in BETAS for error in (*ERRORS, None))


def curve(rows: pd.DataFrame, panel: str, method: str) -> pd.DataFrame:
    """Return the answered runs of a method; those that reach a judged gap only if it was asked."""
    found = rows[(rows["panel"] == panel) & (rows["method"] == method)]
    found = found[found["outcome"] == Outcome.OK]
    return found if "@" in method else found[found["is_solved"].astype(bool)]


def timed(rows: pd.DataFrame, panel: str, method: str) -> pd.DataFrame:
    """Return the same runs and those stopped at a time limit, which count with that limit."""
    found = rows[(rows["panel"] == panel) & (rows["method"] == method)]
    stopped = found[found["outcome"] == Outcome.TIME_OUT]
    limits = stopped.assign(total_s=stopped["limit_s"], solve_s=stopped["limit_s"], gap=np.nan)
    return pd.concat([curve(rows, panel, method).assign(stopped=False),
                      limits.assign(stopped=True)])  # fmt: skip


def growth_of(found: pd.DataFrame, column: str = "total_s") -> Growth | None:
    """Return the fitted growth of some runs."""
    return fit_growth(found["d"].to_numpy(float), found[column].to_numpy(float))


def compare_times(slow: pd.DataFrame, fast: pd.DataFrame, column: str = "total_s") -> pd.DataFrame:
    """Return one row per common size: whether ``fast`` is faster on every data set, and the ratio.

    The verdict is ``holds`` if it is faster on all data sets that both have, ``fails`` if it is
    slower on all of them, and otherwise ``undecided``. A run that was stopped took at least its
    limit, so its ratio is a bound; it counts if the bound decides.

    Parameters
    ----------
    slow, fast : DataFrame
        Runs as :func:`timed` returns them.
    column : str
        The time of ``slow`` that is compared with the whole time of ``fast``.
    """
    pairs = slow.merge(fast, on=["d", "seed"], suffixes=("_slow", "_fast"))
    pairs["ratio"] = pairs[f"{column}_slow"] / pairs["total_s_fast"]
    at_least = pairs["stopped_slow"] & ~pairs["stopped_fast"] & (pairs["ratio"] > 1.0)
    at_most = pairs["stopped_fast"] & ~pairs["stopped_slow"] & (pairs["ratio"] < 1.0)
    pairs["sign"] = np.where(at_least, "> ", np.where(at_most, "< ", ""))
    pairs = pairs[at_least | at_most | ~(pairs["stopped_slow"] | pairs["stopped_fast"])]
    lines = []
    for d in sorted(pairs["d"].unique()):
        part = pairs[pairs["d"] == d]
        ratios = part["ratio"]
        verdict = HOLDS if ratios.min() > 1.0 else FAILS if ratios.max() < 1.0 else UNDECIDED
        middle = part.iloc[(ratios - ratios.median()).abs().argmin()]
        lines.append({"d": int(d), "verdict": verdict, "ratio": float(ratios.median()),
                      "sign": middle["sign"], "gap": float(part["gap_fast"].median())})  # fmt: skip
    return pd.DataFrame(lines, columns=["d", "verdict", "ratio", "sign", "gap"])


def check_statements(rows: pd.DataFrame) -> list[Statement]:
    """Return the paper's statements on run time with verdicts, one entry per statement."""
    return [
        _all_grow(rows),
        _interior_grows_faster(rows, GAUSSIAN_SCENARIO),
        _interior_grows_faster(rows, GENERAL_SCENARIO),
        _gradient_is_faster(rows, GAUSSIAN_SCENARIO),
        _gradient_is_faster(rows, GENERAL_SCENARIO),
        _gaussian_costs_more(rows),
        _sdp_is_slowest(rows),
        _memory(rows),
        _cost_of_a_step(rows, GAUSSIAN_SCENARIO, 3),
        _cost_of_a_step(rows, GENERAL_SCENARIO, 2),
    ]


def _all_grow(rows: pd.DataFrame) -> Statement:
    """All four run times increase with d."""
    found = {}
    for scenario in SCENARIOS:
        for method in (scenario.interior, *scenario.by_own_rule):
            times = curve(rows, scenario.title(FIGURE_BETA), method).groupby("d")["total_s"]
            medians = times.median().to_numpy(float)
            if medians.size > 1:
                found[f"{method}, {scenario.name}"] = bool((np.diff(medians) > 0.0).all())
    falling = [name for name, grows in found.items() if not grows]
    evidence = f"β = {FIGURE_BETA:g}. "
    evidence += f"Does not increase everywhere: {'; '.join(falling)}." if falling else "All do."
    return Statement(
        "Section VI", "The run times of all four algorithms increase with d.",
        _verdict(list(found.values())), evidence,
    )  # fmt: skip


def _interior_grows_faster(rows: pd.DataFrame, scenario: Scenario) -> Statement:
    """Compare fitted exponents; confidence intervals that overlap decide nothing."""
    text = f"Interior point grows faster with d than projected gradient ({scenario.name} scenario)."

    def check(condition: Condition) -> tuple[str, str] | None:
        panel = scenario.title(condition.beta)
        ours = growth_of(curve(rows, panel, condition.method(scenario)))
        theirs = growth_of(curve(rows, panel, scenario.interior))
        if ours is None or theirs is None:
            return None
        verdict = UNDECIDED
        if theirs.low > ours.high:
            verdict = HOLDS
        elif theirs.high < ours.low:
            verdict = FAILS
        return verdict, f"{theirs} against {ours}"

    return _by_condition("Section VI", text, check)


def _gradient_is_faster(rows: pd.DataFrame, scenario: Scenario) -> Statement:
    text = f"Projected gradient is faster than interior point ({scenario.name} scenario)."

    def check(condition: Condition) -> tuple[str, str] | None:
        panel = scenario.title(condition.beta)
        fast = timed(rows, panel, condition.method(scenario))
        found = compare_times(timed(rows, panel, scenario.interior), fast)
        if found.empty:
            return None
        return _verdict_by_size(found), _told(found)

    return _by_condition("Sections IV, V, VI", text, check)


def _gaussian_costs_more(rows: pd.DataFrame) -> Statement:
    text = "Projected gradient takes longer in the Gaussian scenario than in the general one."

    def check(condition: Condition) -> tuple[str, str] | None:
        slow, fast = (
            timed(rows, scenario.title(condition.beta), condition.method(scenario))
            for scenario in (GAUSSIAN_SCENARIO, GENERAL_SCENARIO)
        )
        found = compare_times(slow, fast)
        return None if found.empty else (_verdict_by_size(found), _told(found))

    return _by_condition("Section VI", text, check)


def _sdp_is_slowest(rows: pd.DataFrame) -> Statement:
    text = "Interior point on the SDP takes the longest of the four."

    def check(condition: Condition) -> tuple[str, str] | None:
        sdp = timed(rows, GAUSSIAN_SCENARIO.title(condition.beta), GAUSSIAN_SCENARIO.interior)
        others = [
            timed(rows, scenario.title(condition.beta), method)
            for scenario in SCENARIOS
            for method in (condition.method(scenario), scenario.interior)
            if method != GAUSSIAN_SCENARIO.interior
        ]
        found = [compare_times(sdp, other) for other in others if not other.empty]
        found = [part for part in found if not part.empty]
        if not found:
            return None
        worst = pd.concat(found).sort_values("ratio").drop_duplicates("d").sort_values("d")
        return _verdict_by_size(worst), _told(worst)

    return _by_condition("Section VI", text, check)


def _memory(rows: pd.DataFrame) -> Statement:
    """Return where interior point on the SDP ran out of memory or time."""
    found = rows[rows["method"].str.startswith("GaussianSDP:CLARABEL") & (rows["seed"] == 0)]
    done = found[found["outcome"] == Outcome.OK]
    stopped = found[found["outcome"].isin([Outcome.TIME_OUT, Outcome.OUT_OF_MEMORY])]
    told = []
    if not done.empty:
        largest = done.sort_values("d").iloc[-1]
        told.append(f"Clarabel needs {largest['peak_mb'] / 1024:.1f} GiB at d = {largest['d']}")
    told += [
        f"{row['outcome']} at d = {row['d']} ({row['message']})"
        for _, row in stopped.sort_values("limit_s").drop_duplicates("d", keep="last").iterrows()
    ]
    out = stopped[stopped["outcome"] == Outcome.OUT_OF_MEMORY]
    verdict = UNTESTED if out.empty else HOLDS
    return Statement(
        "Sections V, VI", "The SDP runs out of memory beyond d = 150.", verdict,
        "; ".join(told) + ".",
    )  # fmt: skip


def _cost_of_a_step(rows: pd.DataFrame, scenario: Scenario, power: int) -> Statement:
    """Fit the time of one step, which the complexity analysis bounds."""
    found = rows[rows["method"].str.partition("@")[0] == scenario.printed]
    found = found[(found["outcome"] == Outcome.OK) & (found["iterations"] > 0)]
    found = found[found["panel"].isin([scenario.title(beta) for beta in BETAS])]
    fitted = growth_of(found.assign(step_s=found["total_s"] / found["iterations"]), "step_s")
    algorithm = "Algorithm 3" if power == 3 else "Algorithm 4"
    text = f"A step of {algorithm} costs O(d^{power})."
    if fitted is None:
        return Statement("Sections IV, V", text, UNTESTED, "The sizes are too few for a fit.")
    verdict = FAILS if fitted.low > power else HOLDS
    evidence = f"CPU time per step, all β and stopping rules: {fitted}"
    return Statement("Sections IV, V", text, verdict, evidence)


def _by_condition(
    place: str, text: str, check: Callable[[Condition], tuple[str, str] | None]
) -> Statement:
    """Return a statement with one line of evidence for every condition that was measured."""
    found = {condition: result for condition in CONDITIONS if (result := check(condition))}
    lines = [f"{condition}: {verdict}, {told}" for condition, (verdict, told) in found.items()]
    verdicts = {verdict for verdict, _ in found.values()}
    verdict = DEPENDS if len(verdicts) > 1 else next(iter(verdicts), UNTESTED)
    return Statement(place, text, verdict, "<br>".join(lines))


def _verdict(found: Sequence[bool]) -> str:
    if not found:
        return UNTESTED
    return HOLDS if all(found) else FAILS if not any(found) else DEPENDS


def _verdict_by_size(found: pd.DataFrame) -> str:
    verdicts = list(dict.fromkeys(found["verdict"]))
    return str(verdicts[0]) if len(verdicts) == 1 else DEPENDS


def _told(found: pd.DataFrame) -> str:
    """Return ratios by size; a gap is added where the faster run stopped far from the optimum."""
    return ", ".join(
        f"{row['sign']}{_figures(row['ratio'])}× at d = {row['d']}"
        + ("" if row["verdict"] != UNDECIDED else " (undecided)")
        + (f" (stops at a gap of {row['gap']:.1%})" if row["gap"] > ACCURATE else "")
        for row in found.to_dict("records")
    )


def _figures(ratio: float) -> str:
    """Return a ratio with two significant digits, without an exponent."""
    return f"{float(f'{ratio:.2g}'):,g}"


def our_statements(rows: pd.DataFrame) -> list[Statement]:
    """Return statements beyond the paper: which opponents matter."""
    return [
        _faster(rows, "SCS on the premium form beats interior point on the SDP.", GAUSSIAN,
                "GaussianSDP:CLARABEL", "RobustPremium:SCS"),
        _faster(rows, "Improved Algorithm 3 beats SCS on the premium form.", GAUSSIAN,
                "RobustPremium:SCS", "BlockDescent"),
        _faster(rows, "`solve` beats improved Algorithm 3.", GAUSSIAN, "BlockDescent", "solve"),
        _faster(rows, "`solve` beats improved projected gradient.", GAUSSIAN, "ProjectedGradient",
                "solve"),
    ]  # fmt: skip


def _faster(rows: pd.DataFrame, text: str, panel: str, slow: str, fast: str) -> Statement:
    found = compare_times(timed(rows, panel, slow), timed(rows, panel, fast))
    if found.empty:
        return Statement(panel, text, UNTESTED, "No common size was solved.")
    return Statement(panel, text, _verdict_by_size(found), _told(found))
