"""Check the paper's statements on run time, each under several conditions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from experiments.compare.grid import (
    AVERAGE,
    BETAS,
    ERRORS,
    GAUSSIAN,
    MIDDLE_BETA,
    SCENARIO_TARGET,
    SCENARIOS,
    Scenario,
)
from experiments.measuring.growth import Growth, fit_growth
from experiments.measuring.methods import at_tolerance
from experiments.measuring.outcome import Outcome
from experiments.measuring.text import markdown_table
from experiments.measuring.words import method_words

GENERAL_SCENARIO, GAUSSIAN_SCENARIO = SCENARIOS
HOLDS, FAILS, UNDECIDED, DEPENDS = "holds", "fails", "undecided", "depends"
UNTESTED = "not tested"
#: A run that stops by its own rule counts as accurate below this gap.
ACCURATE = 1e-3
#: A method is faster if the other one takes this many times as long; less may be chance.
MARGIN = 1.25
#: Growth is compared from this size on: below, the interpreter takes most of the time.
_GROWTH_FROM = 20
#: Sizes that count as large, where there are any.
LARGE = 40
_PRACTICAL_MB = 16384.0
_PAPERS_LIMIT = 150
_STOPPED = (Outcome.TIME_OUT, Outcome.OUT_OF_MEMORY)


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


def of_method(rows: pd.DataFrame, panel: str, method: str) -> pd.DataFrame:
    """Return all runs of a method in one panel."""
    return rows[(rows["panel"] == panel) & (rows["method"] == method)]


def curve(rows: pd.DataFrame, panel: str, method: str) -> pd.DataFrame:
    """Return the completed runs; without ``@``, only those that reach the judged gap."""
    found = of_method(rows, panel, method)
    found = found[found["outcome"] == Outcome.OK]
    return found if "@" in method else found[found["is_solved"].astype(bool)]


def timed(rows: pd.DataFrame, panel: str, method: str) -> pd.DataFrame:
    """Return the completed runs, and those that were stopped with a lower bound of their time.

    A run at one tolerance took at least its limit. A search over tolerances shares the limit, so
    nothing is known of the run that would count: its bound is zero.
    """
    found = of_method(rows, panel, method)
    stopped = found[found["outcome"].isin(_STOPPED)]
    is_bound = (stopped["outcome"] == Outcome.TIME_OUT) & ("@" in method)
    least = stopped["limit_s"].where(is_bound, 0.0)
    return pd.concat([
        curve(rows, panel, method).assign(stopped=False),
        stopped.assign(total_s=least, solve_s=least, gap=np.nan, stopped=True),
    ])  # fmt: skip


def growth_of(found: pd.DataFrame, column: str = "total_s") -> Growth | None:
    """Return the fitted growth of some runs."""
    return fit_growth(found["d"].to_numpy(float), found[column].to_numpy(float))


def compare_times(slow: pd.DataFrame, fast: pd.DataFrame) -> pd.DataFrame:
    """Return one row per common size: whether ``fast`` is faster, and by which factor.

    The verdict is ``holds`` if ``slow`` takes more than 1.25 times as long on every data set, both
    in total and without modelling, and ``fast`` is accurate. It is ``fails`` if ``fast`` takes more
    than 1.25 times as long on every data set. Otherwise it is ``undecided``.

    Parameters
    ----------
    slow, fast : DataFrame
        Runs as :func:`timed` returns them.

    Returns
    -------
    DataFrame
        With ``d``, ``verdict``, the median ``ratio`` in total and ``solving`` alone, its ``sign``
        (``>`` or ``<`` if a run was stopped), the ``gap`` of ``fast``, and the ``count`` of data
        sets.
    """
    pairs = slow.merge(fast, on=["d", "seed"], suffixes=("_slow", "_fast"))
    pairs["ratio"] = pairs["total_s_slow"] / pairs["total_s_fast"]
    pairs["solving"] = pairs["solve_s_slow"] / pairs["solve_s_fast"]
    lines = [_compare_at(part) for _, part in pairs.groupby("d")]
    columns = ["d", "verdict", "ratio", "solving", "sign", "gap", "count"]
    return pd.DataFrame(lines, columns=columns)


def _compare_at(part: pd.DataFrame) -> dict[str, object]:
    """Return the comparison of two methods at one size."""
    # Arrays: a report compares hundreds of such small parts, and columns of pandas are slow.
    late_slow, late_fast = (part[f"stopped_{name}"].to_numpy(bool) for name in ("slow", "fast"))
    ratio, solving = (part[name].to_numpy(float) for name in ("ratio", "solving"))
    both, low, high = late_slow & late_fast, np.fmin(ratio, solving), np.fmax(ratio, solving)
    gap = float(part["gap_fast"].median())
    faster = ~both & ~late_fast & (low > MARGIN)
    slower = ~both & ~late_slow & (high < 1 / MARGIN)
    verdict = HOLDS if faster.all() else FAILS if slower.all() else UNDECIDED
    if verdict == HOLDS and gap > ACCURATE:
        verdict = UNDECIDED
    known = part[~both]
    sign = "< " if late_fast[~both].any() else "> " if late_slow[~both].any() else ""
    return {
        "d": int(part["d"].iloc[0]), "verdict": verdict, "ratio": float(known["ratio"].median()),
        "solving": float(known["solving"].median()), "sign": sign, "gap": gap, "count": len(part),
    }  # fmt: skip


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
        _cost_of_a_step(rows, GAUSSIAN_SCENARIO),
        _cost_of_a_step(rows, GENERAL_SCENARIO),
    ]


def _all_grow(rows: pd.DataFrame) -> Statement:
    def check(condition: Condition) -> tuple[str, str] | None:
        falling = []
        compared = 0
        for scenario in SCENARIOS:
            for method in (scenario.interior, condition.method(scenario)):
                found = curve(rows, scenario.title(condition.beta), method)
                medians = found.groupby("d")["total_s"].median()
                compared += max(len(medians) - 1, 0)
                falls = medians.to_numpy(float)[1:] * MARGIN < medians.to_numpy(float)[:-1]
                falling += [f"{method_words(method)} at d = {d}" for d in medians.index[1:][falls]]
        if not compared:
            return None
        return (FAILS, f"falls: {', '.join(falling)}") if falling else (HOLDS, "all do")

    return _by_condition("Section VI", "The run times of all four algorithms increase.", check)


def _interior_grows_faster(rows: pd.DataFrame, scenario: Scenario) -> Statement:
    """Compare exponents on common sizes; confidence intervals that overlap decide nothing."""
    text = f"Interior point grows faster than projected gradient ({scenario.name} scenario)."

    def check(condition: Condition) -> tuple[str, str] | None:
        panel = scenario.title(condition.beta)
        ours = curve(rows, panel, condition.method(scenario))
        theirs = curve(rows, panel, scenario.interior)
        common = set(ours["d"]) & set(theirs["d"])
        sizes = [d for d in common if d >= _GROWTH_FROM]
        ours, theirs = (found[found["d"].isin(sizes)] for found in (ours, theirs))
        # Modelling takes the same time at small sizes; it would hide the growth of solving.
        fits = [
            fit_growth(found["d"].to_numpy(float), found["solve_s"].to_numpy(float), overhead=False)
            for found in (theirs, ours)
        ]
        if fits[0] is None or fits[1] is None:
            return None
        point, gradient = fits[0], fits[1]
        verdict = UNDECIDED
        if point.low > gradient.high:
            verdict = HOLDS
        elif point.high < gradient.low:
            verdict = FAILS
        return verdict, f"{point} against {gradient}"

    return _by_condition("Section VI", text, check)


def _gradient_is_faster(rows: pd.DataFrame, scenario: Scenario) -> Statement:
    text = f"For large d, projected gradient is faster than interior point ({scenario.name})."

    def check(condition: Condition) -> tuple[str, str] | None:
        panel = scenario.title(condition.beta)
        fast = timed(rows, panel, condition.method(scenario))
        found = compare_times(timed(rows, panel, scenario.interior), fast)
        judged, large = _judged(found), _judged(found[found["d"] >= LARGE])
        return judged if judged is None or large is None else (large[0], judged[1])

    return _by_condition("Sections IV, VII", text, check)


def _gaussian_costs_more(rows: pd.DataFrame) -> Statement:
    text = "Projected gradient takes longer in the Gaussian scenario than in the general one."

    def check(condition: Condition) -> tuple[str, str] | None:
        slow, fast = (
            timed(rows, scenario.title(condition.beta), condition.method(scenario))
            for scenario in (GAUSSIAN_SCENARIO, GENERAL_SCENARIO)
        )
        return _judged(compare_times(slow, fast))

    return _by_condition("Section VI", text, check)


def _sdp_is_slowest(rows: pd.DataFrame) -> Statement:
    """Compare the SDP with each of the three others; it must be slower than all of them."""
    text = "Interior point on the SDP takes the longest of the four."

    def check(condition: Condition) -> tuple[str, str] | None:
        sdp = timed(rows, GAUSSIAN_SCENARIO.title(condition.beta), GAUSSIAN_SCENARIO.interior)
        found = pd.concat([
            compare_times(sdp, timed(rows, scenario.title(condition.beta), method))
            for scenario in SCENARIOS
            for method in (condition.method(scenario), scenario.interior)
            if method != GAUSSIAN_SCENARIO.interior
        ])  # fmt: skip
        complete = found.groupby("d").filter(lambda part: len(part) == 3)
        worst = complete.sort_values("ratio").groupby("d", as_index=False).first()
        for d, part in complete.groupby("d"):
            worst.loc[worst["d"] == d, "verdict"] = _overall(set(part["verdict"]))
        return _judged(worst)

    return _by_condition("Section VI", text, check)


def _memory(rows: pd.DataFrame) -> Statement:
    """Return where interior point on the SDP ran out of memory or time."""
    text = "The SDP runs out of memory beyond d = 150."
    found = rows[rows["method"].str.startswith("GaussianSDP:CLARABEL") & (rows["seed"] == 0)]
    done = found[found["outcome"] == Outcome.OK]
    stopped = found[found["outcome"].isin(_STOPPED)].sort_values(["d", "limit_s"])
    told = []
    if not done.empty:
        largest = done.sort_values("d").iloc[-1]
        told.append(
            f"Clarabel adds {largest['solver_mb'] / 1024:.2g} GiB to its process at "
            f"d = {largest['d']}"
        )
    told += [
        f"{row['outcome']} at d = {row['d']} ({row['message']})"
        for _, row in stopped.drop_duplicates("d", keep="last").iterrows()
    ]
    out = stopped[stopped["outcome"] == Outcome.OUT_OF_MEMORY]
    practical = out[out["limit_mb"] >= _PRACTICAL_MB]
    verdict = UNTESTED
    if (done["d"] > _PAPERS_LIMIT).any():
        verdict = FAILS
    elif (practical["d"] <= _PAPERS_LIMIT).any():
        verdict = HOLDS  # already below the paper's size
    return Statement("Sections V, VI", text, verdict, "; ".join(told or ["not measured"]) + ".")


def _cost_of_a_step(rows: pd.DataFrame, scenario: Scenario) -> Statement:
    """Fit the time of one step, which the complexity analysis bounds, under one condition."""
    condition = Condition(MIDDLE_BETA, ERRORS[0])
    is_gaussian = scenario is GAUSSIAN_SCENARIO
    power = 3 if is_gaussian else 2
    place = "Section III" if is_gaussian else "Section IV"
    text = f"A step of Algorithm {'2 in 3' if is_gaussian else '4'} costs O(d^{power})."
    found = curve(rows, scenario.title(condition.beta), condition.method(scenario))
    found = found[(found["iterations"] > 0) & (found["d"] >= _GROWTH_FROM)]
    seconds = (found["total_s"] / found["iterations"]).to_numpy(float)
    fitted = fit_growth(found["d"].to_numpy(float), seconds, overhead=False)
    if fitted is None:
        return Statement(place, text, UNTESTED, "Too few sizes for a fit.")
    verdict = HOLDS if fitted.high <= power else FAILS if fitted.low > power else UNDECIDED
    return Statement(place, text, verdict, f"CPU time per step, {condition}: {fitted}.")


def _judged(found: pd.DataFrame) -> tuple[str, str] | None:
    """Return the verdict over all sizes, with the ratios as evidence."""
    return None if found.empty else (_overall(set(found["verdict"])), _told(found))


def _by_condition(
    place: str, text: str, check: Callable[[Condition], tuple[str, str] | None]
) -> Statement:
    """Return a statement with one line of evidence for every condition."""
    checked = {condition: check(condition) for condition in CONDITIONS}
    found = {condition: result for condition, result in checked.items() if result is not None}
    lines = [f"{condition}: {verdict}, {told}" for condition, (verdict, told) in found.items()]
    missing = [str(condition) for condition, result in checked.items() if result is None]
    if found and missing:
        lines.append(f"not compared: {'; '.join(missing)}")
    verdict = _overall({verdict for verdict, _ in found.values()})
    return Statement(place, text, verdict, "<br>".join(lines) or "Not measured.")


def _overall(verdicts: set[str]) -> str:
    """Return one verdict for several sizes or conditions."""
    if not verdicts:
        return UNTESTED
    if DEPENDS in verdicts or {HOLDS, FAILS} <= verdicts:
        return DEPENDS
    return next(verdict for verdict in (FAILS, UNDECIDED, HOLDS) if verdict in verdicts)


def _told(found: pd.DataFrame) -> str:
    """Return the ratios by size, with the gap of the faster method if it exceeds ACCURATE."""
    return ", ".join(map(_told_at, found.to_dict("records")))


def _told_at(row: Mapping[Hashable, Any]) -> str:
    notes = []
    if not 0.0 < row["ratio"] < np.inf:  # both were stopped, or one at an unknown time
        return f"a limit was hit at d = {row['d']}"
    if not row["sign"] and abs(row["solving"] / row["ratio"] - 1.0) > 0.1:
        notes.append(f"solving {_figures(row['solving'])}×")
    if row["gap"] > ACCURATE:
        notes.append(f"gap {row['gap']:.1%}" if np.isfinite(row["gap"]) else "gap unknown")
    if row["count"] == 1:
        notes.append("one data set")
    told = f"{row['sign']}{_figures(row['ratio'])}× at d = {row['d']}"
    return told + (f" ({', '.join(notes)})" if notes else "")


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
        _faster(rows, "`solve` beats PIQP, called directly.", AVERAGE, "PIQP", "solve"),
    ]  # fmt: skip


def _faster(rows: pd.DataFrame, text: str, panel: str, slow: str, fast: str) -> Statement:
    found = compare_times(timed(rows, panel, slow), timed(rows, panel, fast))
    verdict, told = _judged(found) or (UNTESTED, "No common size.")
    return Statement(panel, text, verdict, told)
