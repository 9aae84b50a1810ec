"""A real browser for the tests of pages, if one is installed."""

import shutil
from contextlib import contextmanager

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = (
    "--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@contextmanager
def started_browser():
    """Yield a browser; skip the test if none is installed."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium is installed: pages were not opened")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=list(_ARGUMENTS))
        yield browser
        browser.close()


class Watched:
    """An open page that records its requests, console messages, errors and dialogs."""

    def __init__(self, browser, path, fragment="", **context):
        self.context = browser.new_context(accept_downloads=True, **context)
        self.page = self.context.new_page()
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._refuse)
        self.page.goto(f"file://{path}{fragment}")
        self.page.wait_for_selector("html[data-ready]", timeout=60_000)

    def _refuse(self, dialog):
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def check(self):
        """Assert that it requested only its file and its worker, and reported nothing."""
        outside = [url for url in self.requests[1:] if not url.startswith("blob:null/")]
        assert self.requests[0].startswith("file://")
        assert outside == []
        assert self.complaints == []
