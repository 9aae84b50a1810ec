"""The code blocks of the README and the documents run as they are printed."""

import re
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


def test_readme_routes_agree(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    (routes,) = [block for block in blocks if "answers = {" in block]
    exec(compile(routes, "README.md", "exec"), {})
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 3
    assert len({row[1] for row in rows}) == 1
    assert all(float(row[-1]) < 1e-7 for row in rows)


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
