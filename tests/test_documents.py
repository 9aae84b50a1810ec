"""The code blocks of the README and the documents run as they are printed."""

import re
import tomllib
from pathlib import Path

import pytest

import formulations
import solvers
import wdro_cvx
import wdro_cvx.ambiguity

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WITH_CODE = [path for path in DOCUMENTS if "```python" in path.read_text()]


@pytest.mark.parametrize("path", WITH_CODE, ids=lambda path: path.name)
def test_code_blocks_run(path, capsys, own_registries, tmp_path, monkeypatch, few_halves):
    monkeypatch.chdir(tmp_path)  # some of them write files, and some read our results
    (tmp_path / "results").symlink_to(ROOT / "results")
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(), flags=re.DOTALL)
    namespace = {"__name__": path.stem}
    for block in blocks:
        exec(compile(block, path.name, "exec"), namespace)
    assert "FAILED" not in capsys.readouterr().out  # of checks that are printed


def test_routes_of_the_quick_start_agree(capsys):
    text = (ROOT / "docs" / "quick-start.md").read_text()
    namespace = {}
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(compile(block, "quick-start.md", "exec"), namespace)
        if "answers" in namespace:
            break
    assert len({round(answer.value, 5) for answer in namespace["answers"]}) == 1


def test_the_readme_shows_what_its_snippet_prints(capsys):
    text = (ROOT / "README.md").read_text()
    code, shown = re.search(r"```python\n(.*?)```\s+```\n(.*?)```", text, flags=re.DOTALL).groups()
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    # Weights have six digits; the gap and q-values depend on the last bits.
    for line, expected in zip(printed.splitlines(), shown.splitlines(), strict=True):
        for word, told in zip(line.split(), expected.split(), strict=True):
            if re.fullmatch(r"[\d.]+", told):
                assert float(word) == pytest.approx(float(told), rel=1e-4)
            elif not re.fullmatch(r"[\d.]+e-\d+", told):
                assert word == told


@pytest.mark.parametrize("room", [wdro_cvx, wdro_cvx.ambiguity, formulations, solvers])
def test_every_public_name_is_in_the_reference(room):
    page = (ROOT / "docs/api" / f"{room.__name__.partition('.')[0]}.md").read_text()
    described = set(re.findall(r"^\.\. auto\w+:: (\w+)", page, flags=re.MULTILINE))
    assert set(room.__all__) <= described


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_named_files_exist(path):
    text = path.read_text()
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (path.parent / target).exists(), target
    named = r"`((?:wdro_cvx|formulations|solvers|experiments|tests|docs)/[\w/.-]+\.\w+)"
    for target in re.findall(named, text):
        assert (ROOT / target).exists(), target


def test_the_version_is_the_same_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    date = re.search(
        rf"^## {re.escape(version)}, (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M
    )
    assert date, f"CHANGELOG.md has no heading of {version}"
    cited = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {version}\ndate-released: {date[1]}\n" in cited
    told = (ROOT / "docs/citing.md").read_text()
    assert f"version = {{{version}}},\n  date    = {{{date[1]}}}," in told
