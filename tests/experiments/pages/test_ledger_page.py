"""The page of the ledger, in a real browser."""

from dataclasses import replace

import numpy as np
import pytest
from browser import Watched

from experiments.propositions.page import ledger_page
from experiments.propositions.proposition import Attempt, Finding
from experiments.propositions.trial import PROPOSITIONS

HOSTILE = "</script><img src=x onerror=alert(1)>"


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


@pytest.fixture
def watched(browser, tmp_path):
    path = tmp_path / "ledger.html"
    path.write_text(ledger(), encoding="utf-8")
    found = Watched(browser, path)
    yield found
    found.check()
    found.context.close()


def test_the_ledger_shows_every_trial_and_opens_every_claim(browser, watched):
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
    again.check()
    again.context.close()


def test_a_row_of_the_picture_opens_its_claim(watched):
    box = watched.page.locator("#chart [aria-label=dot]").first.locator("path, circle").first
    box.click(force=True)
    assert watched.page.locator("#list details[open]").count() == 1


def test_findings_become_entries_with_their_counterexample():
    attempts = Attempt(0.5, {"A": np.eye(2)}), Attempt(0.4, {"A": np.eye(3)})
    found = replace(finding("lemma-9", "", "", *attempts), dimensions=(20,))
    text = ledger_page([found], "tried", "", "wdro propositions --seed 7")
    assert "counterexamples/lemma-9.npz" in text
    assert '"verdict":"fails"' in text
    assert "--seed 7" in text
    assert "20 vertices" in text  # those that were asked for, not the proposition's own
