"""The pages of a comparison and of the ledger, in a real browser."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from browser import Watched, started_browser

from experiments.page.comparison import comparison_data, comparison_page
from experiments.propositions.page import ledger_page
from experiments.propositions.proposition import Attempt, Finding
from experiments.propositions.trial import PROPOSITIONS

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def browser():
    with started_browser() as found:
        yield found


CERTIFIED, DESCENT, SDP = "CertifiedSolver", "BlockDescent", "GaussianSDP:SCS"
OWN_RULE = "PrintedDescent@0.001"
WORDS = {
    DESCENT: "Algorithm 3 improved", SDP: "SCS on the paper's SDP",
    OWN_RULE: "Algorithm 3 as printed, ∇ corrected, error 1e-3",
}  # fmt: skip


def one_run(panel, method, d, total_s, seed=0, **more):
    return {
        "panel": panel, "method": method, "d": d, "seed": seed, "total_s": total_s, "gap": 1e-8,
        "outcome": "ok", "is_solved": True, "said_solved": True, "limit_s": 60.0,
        "limit_mb": 16384.0, "peak_mb": 200.0, "tol": 1e-6, "build_s": np.nan, "message": np.nan,
        "target": 1e-6, "trace_penalty": np.nan, **more,
    }  # fmt: skip


def stopped(outcome, message=np.nan):
    """What differs in a run that hit a limit."""
    return {
        "outcome": outcome, "message": message, "is_solved": False, "said_solved": False,
        "total_s": np.nan, "peak_mb": np.nan, "gap": np.nan,
    }  # fmt: skip


def runs():
    """Two problems with known times, d, d²/10 and 10d milliseconds; one method stops at d = 80."""
    seconds = {CERTIFIED: lambda d: d / 1e3, DESCENT: lambda d: d * d / 1e4,
               SDP: lambda d: d / 1e2}  # fmt: skip
    rows = []
    for panel in ("first", HOSTILE):
        for d in (10, 20, 40, 80):
            for method, time in seconds.items():
                late = stopped("time-out", HOSTILE) if method == SDP and d == 80 else {}
                rows.append(one_run(panel, method, d, time(d)) | late)
    return pd.DataFrame(rows + own_rule_runs())


def own_rule_runs():
    """A penalised problem on three data sets, whose medians are known, and two limits."""
    here = {"panel": "own", "target": 1e-4, "trace_penalty": 1.0}
    rows = []
    for seed, (ours, theirs) in enumerate([(1.0, 2.0), (2.0, 12.0), (30.0, 90.0)]):
        rows += [one_run(method=CERTIFIED, d=d, total_s=ours, seed=seed, **here) for d in (20, 40)]
        for d, gap in ((20, 5e-4), (40, 2e-3 * (1 + seed))):
            found = one_run(method=OWN_RULE, d=d, total_s=theirs, seed=seed, **here)
            rows.append(found | {"gap": gap, "is_solved": False})
    rows.append(one_run(method=SDP, d=20, total_s=4.0, **here))
    rows.append(one_run(method=SDP, d=40, total_s=0.0, **here) | stopped("out of memory"))
    rows += [
        one_run(method=method, d=40, total_s=0.0, **here) | stopped("time-out")
        for method in (DESCENT, "ProjectedGradient")
    ]
    rows.append(one_run("varied", CERTIFIED, 30, 1.0, trace_penalty=1.0, target=1e-4))
    return rows


@pytest.fixture(scope="module")
def report_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(comparison_page(runs(), "compared", ["a note"]), encoding="utf-8")
    return path


@pytest.fixture
def report(browser, report_file):
    watched = Watched(browser, report_file)
    yield watched
    watched.check()
    watched.context.close()


def test_what_was_not_measured_is_null_and_limits_are_runs():
    data = comparison_data(runs(), "t")
    assert len(data["runs"]) == len(runs())
    assert all(run["build_s"] is None and run["wall_s"] is None for run in data["runs"])
    assert sum(run["outcome"] == "time-out" for run in data["runs"]) == 4


def test_panels_have_targets_and_groups():
    panels = comparison_data(runs(), "t")["panels"]
    assert {panel["title"]: panel["target"] for panel in panels} == {
        "first": 1e-6, HOSTILE: 1e-6, "own": 1e-4, "varied": 1e-4,
    }  # fmt: skip
    assert [panel["group"] for panel in panels] == [
        "fixed trace, d = 10 to 80", "fixed trace, d = 10 to 80",
        "penalised trace, d = 20 to 40", "penalised trace, d = 30",
    ]  # fmt: skip


def test_a_stopping_rule_changes_only_the_line_of_a_solver():
    names = ["solve", "PrintedGradient", "PrintedGradient@0.001", "PrintedGradient@0.0001",
             "GeneralRegularized:CLARABEL", "GeneralRegularized:CLARABEL@1e-08"]  # fmt: skip
    rows = pd.DataFrame([one_run("first", name, 10, 1.0) for name in names])
    ours, judged, rough, fine, conic, conic_own = comparison_data(rows, "t")["methods"]
    assert ours["family"] == "our solvers"
    for own in (rough, fine):
        assert own["own_rule"]
        assert all(own[key] == judged[key] for key in ("colour", "symbol", "family"))
    assert len({judged["dash"], rough["dash"], fine["dash"]}) == 3
    assert conic["dash"] == conic_own["dash"]
    assert not judged["own_rule"]


def texts(page, selector):
    return page.eval_on_selector_all(selector, "all => all.map((e) => e.textContent)")


def drawn(page):
    """Return the points of the chart by what they are called."""
    return texts(page, "#chart [aria-label=dot] title")


def hollow(page):
    return texts(page, "#chart [aria-label=dot][fill='var(--card)'] title")


def chooser(page, name):
    """Return the select with an accessible name."""
    return page.get_by_role("combobox", name=name, exact=True)


def limits(page):
    """Return the limits in the chart as text → x, and what they are called."""
    found = page.eval_on_selector_all(
        "#chart [aria-label=limits] text",
        "all => all.map((e) => [e.firstChild.data, Number(e.getAttribute('x')), "
        "e.querySelector('title').textContent])",
    )
    return {text: (x, title) for text, x, title in found}


def tick(page, d):
    """Return the x of a size on the axis."""
    return page.eval_on_selector_all(
        "#chart [aria-label='x-axis tick label'] text",
        f"all => all.filter((e) => e.textContent === '{d}')"
        ".map((e) => e.getBoundingClientRect()).map((box) => box.x + box.width / 2)[0]"
        " - document.querySelector('#chart svg').getBoundingClientRect().x",
    )


def test_the_report_draws_times_ratios_memory_and_gaps(report):
    page = report.page
    assert f"{CERTIFIED}, d = 40: 0.04 CPU s" in drawn(page)
    chooser(page, "Show").select_option("ratio")
    assert f"{WORDS[DESCENT]}, d = 40: 4 times ours" in drawn(page)
    assert f"{CERTIFIED}, d = 40: 1 times ours" in drawn(page)
    page.select_option("#measure", "memory")
    assert f"{WORDS[DESCENT]}, d = 10: 200 MiB" in drawn(page)
    page.select_option("#measure", "gap")
    assert f"{WORDS[DESCENT]}, d = 10: 1.00e-8" in drawn(page)


def test_limits_are_text_at_their_size(report):
    page = report.page
    ((text, (x, title)),) = limits(page).items()
    assert text == "> 60 s"
    assert title == f"{WORDS[SDP]}, d = 80: > 60 s"
    assert x == pytest.approx(tick(page, 80), abs=2)
    page.select_option("#problem", label="own")
    found = limits(page)
    assert set(found) == {"> 60 s", "out of 16 GiB"}
    assert found["out of 16 GiB"][1] == f"{WORDS[SDP]}, d = 40: out of 16 GiB"
    # One text for all methods that hit one limit at one size.
    assert len(found["> 60 s"][1].splitlines()) == 2
    assert all(x == pytest.approx(tick(page, 40), abs=2) for x, _ in found.values())
    assert page.locator("#chart [aria-label=limits] text").count() == 2
    page.click("[data-method=BlockDescent]")
    page.click("[data-method=ProjectedGradient]")
    assert set(limits(page)) == {"out of 16 GiB"}


def test_own_rules_are_drawn_unsolved_and_hollow_where_the_gap_is_large(report):
    page = report.page
    page.select_option("#problem", label="own")
    name = WORDS[OWN_RULE]
    accurate = f"{name}, d = 20: 12 CPU s, judged gap 0.05 %, median of 3 data sets"
    rough = f"{name}, d = 40: 12 CPU s, judged gap 0.4 %, median of 3 data sets"
    assert accurate in drawn(page)
    assert hollow(page) == [rough]
    # Ratios are of runs on the same data: 2, 6 and 3, not 12 / 2.
    page.select_option("#measure", "ratio")
    assert any(text.startswith(f"{name}, d = 20: 3 times ours") for text in drawn(page))
    page.select_option("#measure", "gap")
    assert hollow(page) == [f"{name}, d = 40: 0.004, median of 3 data sets"]


def test_every_curve_is_named_at_its_end_without_overlaps(browser, report_file):
    for width in (1440, 390):
        size = {"width": width, "height": 900}
        watched = Watched(browser, report_file, "#t=2", viewport=size)
        page = watched.page
        labels = page.locator("#chart [aria-label=ends] text")
        assert set(texts(page, "#chart [aria-label=ends] title")) == {
            CERTIFIED, *WORDS.values(), "projected gradient improved",
        }  # fmt: skip
        boxes = sorted((label.bounding_box() for label in labels.all()), key=lambda box: box["y"])
        for above, below in pairwise(boxes):
            assert above["y"] + above["height"] <= below["y"] + 1
        chart = page.locator("#chart svg").bounding_box()
        assert all(box["x"] + box["width"] <= chart["x"] + chart["width"] for box in boxes)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.click(f"[data-method='{SDP}']")
        assert WORDS[SDP] not in texts(page, "#chart [aria-label=ends] title")
        watched.check()
        watched.context.close()


def test_problems_are_grouped_and_have_their_own_target(report):
    page = report.page
    assert page.eval_on_selector_all("#problem optgroup", "all => all.map((e) => e.label)") == [
        "fixed trace, d = 10 to 80", "penalised trace, d = 20 to 40", "penalised trace, d = 30",
    ]  # fmt: skip
    problem = chooser(page, "Problem")
    assert "first: solved means a judged gap of at most 1e-6." in page.inner_text("#reading")
    assert "own rule" not in page.inner_text("#reading")
    problem.focus()
    problem.press("ArrowDown")
    assert page.locator("#problem option:checked").inner_text() == HOSTILE
    assert HOSTILE in page.inner_text("#rows")
    problem.press("ArrowDown")
    assert "own: solved means a judged gap of at most 1e-4." in page.inner_text("#reading")
    assert "own rule" in page.inner_text("#reading")


def test_chips_and_sizes_change_chart_and_table(report):
    page = report.page
    rows = page.locator("#rows tr")
    assert rows.count() == 12
    chip = page.get_by_role("button", name=WORDS[DESCENT], exact=True)
    chip.click()
    assert chip.get_attribute("aria-pressed") == "false"
    assert rows.count() == 8
    assert not any(WORDS[DESCENT] in text for text in drawn(page))
    first, last = chooser(page, "d from"), chooser(page, "to")
    first.focus()
    first.press("ArrowDown")
    assert rows.count() == 6
    assert not any("d = 10:" in text for text in drawn(page))
    last.select_option("40")
    assert rows.count() == 4
    # The other end follows: a range is never empty.
    first.select_option("80")
    assert last.input_value() == "80"
    assert rows.count() == 2
    last.select_option("20")
    assert first.input_value() == "20"
    # Sizes that another problem lacks do not limit it; one size leaves no choice.
    page.select_option("#problem", label="varied")
    assert rows.count() == 1
    assert not first.is_visible()


def test_the_table_has_words_data_sets_and_units(report):
    page = report.page
    page.select_option("#problem", label="own")
    heads = page.locator("#head th").all_inner_texts()
    for name in ("data set", "build CPU s", "compile CPU s", "solve CPU s", "total CPU s"):
        assert name in heads
    cell = page.locator(f"#rows td.name [title='{OWN_RULE}']").first
    assert cell.inner_text() == WORDS[OWN_RULE]
    sets = page.locator(f"#rows td:nth-child({heads.index('data set') + 1})").all_inner_texts()
    assert set(sets) == {"0", "1", "2"}


def test_the_runs_sort_and_a_link_brings_back_the_view(browser, report):
    page = report.page
    page.click("th[data-name=total_s] button")
    column = page.locator("#head th").all_inner_texts().index("total CPU s") + 1
    cells = page.locator(f"#rows td:nth-child({column})").all_inner_texts()
    assert cells[-1] == "–"
    times = [float(text) for text in cells[:-1]]
    assert times == sorted(times)
    page.click("[data-method=BlockDescent]")
    page.select_option("#measure", "ratio")
    page.select_option("#from", "20")
    address = page.url
    again = Watched(browser, address.removeprefix("file://"))
    assert again.page.input_value("#from") == "20"
    assert again.page.inner_text("#rows") == page.inner_text("#rows")
    assert drawn(again.page) == drawn(page)
    again.check()
    again.context.close()


# --- The ledger ----------------------------------------------------------------------------------


def finding(key, says, finds, *attempts, **more):
    limits = {"within": (1e-8, "rounding"), "refuted": 1e-6, "erratum": "", "ours": False}
    name = key.replace("-", " ").capitalize()
    tried = replace(
        PROPOSITIONS["lemma-1"], key=key, name=name, says=says, finds=finds, **limits | more
    )
    return Finding(tried, attempts)


def ledger():
    hostile = {HOSTILE: [[1.5, 2.5]]}
    findings = [
        finding("lemma-1", "Holds.", "", Attempt(1e-10, {}), Attempt(0.0, {})),
        finding("lemma-2", "printed", HOSTILE, Attempt(np.nan, hostile, 1e-12),
                Attempt(1e-2, hostile, 1e-9), erratum="E3"),
        finding("premium", "(nothing)", "It is one.", Attempt(0.0, {}), ours=True),
    ]  # fmt: skip
    return ledger_page(findings, "tried", "1 × holds", "wdro propositions")


def test_the_ledger_shows_every_trial_and_opens_every_claim(browser, tmp_path):
    path = tmp_path / "ledger.html"
    path.write_text(ledger(), encoding="utf-8")
    watched = Watched(browser, path)
    page = watched.page
    titles = page.eval_on_selector_all("#chart title", "all => all.map((e) => e.textContent)")
    assert "Lemma 1, as printed: 0.01 × tolerance" in titles
    assert "Lemma 2, as printed: undefined" in titles
    assert "Lemma 2, as corrected: 0.1 × tolerance" in titles
    assert len(titles) == 7
    # The headline is the tally, in which an erratum counts once; rows would count it often.
    assert page.inner_text("#subtitle") == "1 × holds"
    assert page.locator("#list > h3").all_inner_texts() == [
        "What the paper says", "What it does not say: findings of ours",
    ]  # fmt: skip
    page.locator("#list summary").nth(1).click()
    opened = page.inner_text("#list details[open]")
    assert HOSTILE in opened
    assert "1.5" in opened
    assert "undefined" in opened
    assert "E3" in opened
    page.click("[data-verdict=holds]")
    assert page.locator("#list details").count() == 1
    again = Watched(browser, page.url.removeprefix("file://"))
    assert again.page.inner_text("#list") == page.inner_text("#list")
    for each in (watched, again):
        each.check()
        each.context.close()


def test_a_row_of_the_picture_opens_its_claim(browser, tmp_path):
    path = tmp_path / "ledger.html"
    path.write_text(ledger(), encoding="utf-8")
    watched = Watched(browser, path)
    box = watched.page.locator("#chart [aria-label=dot]").first.locator("path, circle").first
    box.click(force=True)
    assert watched.page.locator("#list details[open]").count() == 1
    watched.check()
    watched.context.close()


def test_findings_become_entries_with_their_counterexample():
    attempts = Attempt(0.5, {"A": np.eye(2)}), Attempt(0.4, {"A": np.eye(3)})
    found = replace(finding("lemma-9", "", "", *attempts), dimensions=(20,))
    text = ledger_page([found], "tried", "", "wdro propositions --seed 7")
    assert "counterexamples/lemma-9.npz" in text
    assert '"verdict":"fails"' in text
    assert "--seed 7" in text
    assert "20 vertices" in text  # those that were asked for, not the proposition's own
