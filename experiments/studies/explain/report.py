"""The report: the setting that explains most, and every sentence under three ways of choosing."""

from __future__ import annotations

from collections import Counter

from experiments.measuring.provenance import provenance_line
from experiments.measuring.text import markdown_table
from experiments.studies.explain.grid import CAPS, ETAS, RADII, SCALES, THRESHOLDS
from experiments.studies.explain.outcome import Explained
from experiments.studies.explain.verdicts import FAILS, HOLDS, OPEN, SAME

_SHOWN = 12


def describe(result: Explained, seed: int) -> str:
    """Return the report."""
    best = result.fits[0]
    never = [
        sentence.name
        for sentence, findings in result.findings
        if all(finding.verdict != HOLDS for finding in findings)
    ]
    header = ["", "the paper says", *(column.name for column in result.columns)]
    rows = [
        [sentence.place, sentence.text,
         *(f"**{f.verdict}** {f.evidence}" if f.evidence else f.verdict for f in findings)]
        for sentence, findings in result.findings
    ]  # fmt: skip
    fits = [
        [fit.setting, f"{fit.table_2:.3f}", f"{fit.table_3:.3f}",
         f"{fit.both:.3f} ± {fit.error:.3f}", f"{fit.behind:.3f} ± {fit.doubt:.3f}"]
        for fit in result.fits[:_SHOWN]
    ]  # fmt: skip
    caps = ", ".join("none" if cap == CAPS[-1] else f"{cap:g}" for cap in CAPS)
    parts = [
        "# The paper's experiments, explained",
        f"Made by `wdro explain --search {result.searched} --graphs {result.graphs} --seed {seed}`."
        f" {result.unsolved} of all answers were not certified to a gap of 1e-6.",
        "## What the paper leaves open",
        "The paper gives no eta, no candidates for ε and no scale of its graphs. "
        f"{len(result.fits)} settings were compared with all values of its Tables 2 and 3 on "
        f"{result.searched} graphs of each kind: η in {_list(ETAS)}; true graphs "
        f"{' or '.join(SCALES)}; one list of candidates for ε ({_list(RADII)}) for all "
        f"norms, cut at {caps} (none: small norms have larger ones too); edges from "
        f"{_list(THRESHOLDS)}; ε chosen once for a setting or for every trial; Table 3 tuned by "
        "MCC or NMI. Numbers are root mean squares of the difference from the printed values; "
        "errors are standard errors over resampled graphs.",
        markdown_table(["setting", "Table 2", "Table 3", "both", "behind the best"], fits),
        f"{result.as_near} settings are as near as the nearest, within one standard error. Of "
        "those, most sentences hold at",
        f"> {result.setting}",
        f"The nearest of all is {best.setting}.",
        "![fit](explain.png)",
        "*Left and right*: MCC of similarity graphs (d = 20) and NMI of block models (d = 45) at "
        f"the fitted setting, means over {result.graphs} fresh graphs with bands of one standard "
        "error; dotted, the printed values. *Middle*: distance from Table 2 against the largest "
        f"candidate, one curve for each η ({result.searched} graphs).",
        "## Which settings explain which sentence",
        f"Of the {len(result.fits)} settings, on the {result.searched} graphs of the search: at "
        "how many a sentence holds beyond two standard errors, chosen as the paper chooses, and "
        "how far the nearest of them is from the tables.",
        _explanations(result),
        "## Every sentence, three ways of choosing",
        f"On {result.graphs} fresh graphs of each kind. *{result.columns[0].name}*: as the paper "
        "may have done it, ε by the truth of the graphs that are scored, one eta for all. "
        f"*{result.columns[1].name}*: eta and ε of every model by the metric that is scored, on "
        f"the {result.searched} graphs of the search; SAA has the graphs of p = 2 among its "
        "candidates, which are its own with larger etas, and norms are compared at the fitted eta. "
        f"*{result.columns[2].name}*: both for every graph by how well its neighbours tell a "
        "vertex's signals that were left out. Differences are paired and in favour of the "
        "sentence where positive; ± is a standard error over graphs. *holds* and *fails* are "
        f"beyond two standard errors, *{OPEN}* is not; *{SAME}* is the same model; – was not tried "
        "or does not apply. "
        f"{_tally(result)}",
        markdown_table(header, rows),
        "Under none of the three holds: " + ("; ".join(never) or "nothing") + ".",
        f"Made with {provenance_line()}.",
    ]
    return "\n\n".join(parts) + "\n"


def _explanations(result: Explained) -> str:
    rows = []
    for found in result.explained:
        sentence, nearest = found.sentence, found.nearest
        where = [] if nearest is None else [f"{nearest.both:.3f}", nearest.setting]
        rows.append([sentence.place, sentence.text, found.settings, *(where or ["", "none"])])
    header = ["", "the paper says", "settings", "distance", "the nearest"]
    return markdown_table(header, rows)


def _tally(result: Explained) -> str:
    parts = []
    for place, column in enumerate(result.columns):
        counts = Counter(findings[place].verdict for _, findings in result.findings)
        numbers = ", ".join(f"{counts[word]} {word}" for word in (HOLDS, OPEN, FAILS))
        parts.append(f"{column.name}: {numbers}")
    return "; ".join(parts) + "."


def _list(values: tuple[float, ...] | tuple[str, ...]) -> str:
    return ", ".join(f"{value:g}" if isinstance(value, float) else value for value in values)
