"""The pages of a comparison and of the ledger, in a real browser."""

from dataclasses import replace

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


def runs():
    """Two problems, three methods, times that are known: d, d²/10 and 10d milliseconds."""
    seconds = {"CertifiedSolver": lambda d: d / 1e3, "BlockDescent": lambda d: d * d / 1e4,
               "GaussianSDP:SCS": lambda d: d / 1e2}  # fmt: skip
    rows = []
    for panel in ("first", HOSTILE):
        for d in (10, 20, 40, 80):
            for method, time in seconds.items():
                stopped = method == "GaussianSDP:SCS" and d == 80
                rows.append({
                    "panel": panel, "method": method, "d": d, "total_s": time(d), "gap": 1e-8,
                    "outcome": "time-out" if stopped else "ok", "is_solved": not stopped,
                    "said_solved": not stopped, "limit_s": 60.0, "limit_mb": 1e4, "peak_mb": 200.0,
                    "tol": 1e-6, "build_s": np.nan, "message": HOSTILE if stopped else np.nan,
                })  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture
def report(browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(comparison_page(runs(), "compared", 1e-6, ["a note"]), encoding="utf-8")
    watched = Watched(browser, path)
    yield watched
    watched.check()
    watched.context.close()


def test_what_was_not_measured_is_null_and_limits_are_runs():
    data = comparison_data(runs(), "t", 1e-6)
    assert len(data["runs"]) == 24
    assert all(run["build_s"] is None and run["wall_s"] is None for run in data["runs"])
    assert data["methods"][0]["family"] == "our solvers"
    assert sum(run["outcome"] == "time-out" for run in data["runs"]) == 2


def drawn(page):
    """Return the points of the chart by what they are called."""
    return page.eval_on_selector_all(
        "#chart [aria-label=dot] title", "all => all.map((e) => e.textContent)"
    )


def test_the_report_draws_times_ratios_and_limits(report):
    page = report.page
    assert sum("time-out" in text for text in drawn(page)) == 1
    assert page.get_attribute("#panel", "aria-labelledby") == page.get_attribute(
        "[role=tab][aria-selected=true]", "id"
    )
    assert "CertifiedSolver, d = 40: 0.04" in drawn(page)
    page.select_option("#measure", "ratio")
    assert "BlockDescent, d = 40: 4" in drawn(page)
    assert "CertifiedSolver, d = 40: 1" in drawn(page)
    page.select_option("#measure", "memory")
    assert "BlockDescent, d = 10: 200" in drawn(page)
    page.select_option("#measure", "gap")
    assert "BlockDescent, d = 10: 1e-8" in drawn(page)


def test_chips_tabs_and_sizes_change_chart_and_table(report):
    page = report.page
    assert page.locator("#rows tr").count() == 12
    page.click("[data-method=BlockDescent]")
    assert page.get_attribute("[data-method=BlockDescent]", "aria-pressed") == "false"
    assert page.locator("#rows tr").count() == 8
    assert not any("BlockDescent" in text for text in drawn(page))
    page.fill("#from", "20")
    page.press("#from", "Tab")
    assert page.locator("#rows tr").count() == 6
    page.click("#all")
    box = page.locator("#brush svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.85, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 21, box["y"] + 14, steps=4)
    page.mouse.up()
    assert page.input_value("#from") == "80"
    assert page.locator("#rows tr").count() == 2
    page.click("#all")
    page.locator("[role=tab]").nth(1).press("Enter")
    assert page.locator("[role=tab]").nth(1).get_attribute("aria-selected") == "true"
    assert page.locator("[role=tab]").nth(1).inner_text() == HOSTILE
    assert HOSTILE in page.inner_text("#rows")


def test_the_runs_sort_and_a_link_brings_back_the_view(browser, report):
    page = report.page
    page.click("th[data-name=total_s] button")
    times = [float(text) for text in page.locator("#rows td:nth-child(12)").all_inner_texts()]
    assert times == sorted(times)
    page.click("[data-method=BlockDescent]")
    page.select_option("#measure", "ratio")
    address = page.url
    again = Watched(browser, address.removeprefix("file://"))
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
