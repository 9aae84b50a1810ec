"""Takes the picture of ``graph.html``: ``python docs/pictures/graph_page.py`` (needs Chromium)."""

import shutil
import tempfile
from pathlib import Path

import pandas as pd
from playwright.sync_api import sync_playwright

from experiments.learn.graph import LearnOptions
from experiments.learn.run import run_learn
from experiments.studies.temperature.stations import load_stations


def main() -> None:
    """Learn a graph of weather stations, open its page, pick its strongest edge."""
    stations = load_stations("us")
    names = list(stations.table.names)
    places = {"name": names, "lat": stations.places.latitude, "lon": stations.places.longitude,
              "elevation (m)": stations.elevation}  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "weekly temperatures, 144 stations, 2025.csv"
        pd.DataFrame(stations.table.signals, columns=names).to_csv(table, index=False)
        pd.DataFrame(places).to_csv(folder / "places.csv", index=False)
        options = LearnOptions()
        run_learn(table, options, folder / "out", folder / "places.csv")
        with sync_playwright() as driver:
            browser = driver.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 1080})
            page.goto(f"file://{folder / 'out' / 'graph.html'}")
            page.locator("#rows td.number button").nth(3).click()
            page.wait_for_selector("#verified[data-gap]")
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=Path(__file__).with_name("graph-page.png"))
            browser.close()


if __name__ == "__main__":
    main()
