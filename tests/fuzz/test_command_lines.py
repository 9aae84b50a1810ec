"""Random command lines: refused with a sentence, or accepted and carried out by stand-ins."""

from dataclasses import replace

import pytest
from fuzzing import FUZZ, run_command
from hypothesis import event, given
from hypothesis import strategies as st

NUMBERS = [
    "1", "2", "3", "0", "-1", "1.5", "nan", "inf", "-inf", "1e400", "1e-9", "99999999999999999999",
    "1_0", "１", "", " ", "x", "0x2", "1e3", "+2", "1e-400",
]  # fmt: skip
LISTS = [
    "5",
    "5,6",
    "5,,6",
    ",",
    "1",
    "2,99999999999999999999",
    "a,b",
    "5,5",
    "-5",
    "１０",
    "5;6",
    " 5 ",
]
METHODS = [
    "CertifiedSolver", "Magic", "GaussianSDP", "GaussianSDP:SCS", "GaussianSDP:magic", ":SCS", ",",
    "", "PIQP:SCS", "KLDual:CLARABEL", "Liar", "CertifiedSolver,CertifiedSolver",
]  # fmt: skip
SETS = ["GaussianBall", "KLBall", "Ball", "", "GaussianBall,KLBall", "Singleton"]
PLUGINS = {
    "good.py": "x = 1",
    "syntax.py": "def (:",
    "missing.py": "import no_such_module",
    "raises.py": "raise ValueError('no')",
    "leaves.py": "raise SystemExit(0)",
    "wrong.py": "from solvers import register\n@register\nclass Wrong: pass",
    "wrongset.py": "from wdro_cvx import register_ambiguity\nregister_ambiguity(int)",
    "wrongform.py": "from formulations import register\nregister(3)",
    "binary.py": "\x00\x01",
}


@pytest.fixture(scope="module", autouse=True)
def stand_ins():
    """Commands that do everything but compute."""
    from experiments.study import Report, Study

    carry_out = Study.carry_out

    def without_an_answer(study, options, command):
        return carry_out(replace(study, answer=lambda *_: Report("Nothing", [])), options, command)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Study, "carry_out", without_an_answer)
        yield


def some(values):
    return st.sampled_from(values) | st.text(
        st.characters(blacklist_characters="\x00", blacklist_categories=("Cs",)), max_size=6
    )


@st.composite
def command_lines(draw):
    """A command with options of its own and of others, and values good and bad."""
    options = {
        "--dimensions": some(LISTS), "--methods": some(METHODS), "--sets": some(SETS),
        "--time-limit": some(NUMBERS), "--memory-limit": some(NUMBERS), "--seeds": some(NUMBERS),
        "--samples": some(NUMBERS), "--repeats": some(NUMBERS), "--target": some(NUMBERS),
        "--figure7-limit": some(NUMBERS), "--preset": some(["quick", "paper"]),
        "--instances": some(NUMBERS), "--cells": some(NUMBERS), "--trials": some(NUMBERS),
        "--seed": some(NUMBERS), "--search": some(NUMBERS), "--graphs": some(NUMBERS),
        "--tuned": some(NUMBERS),
        "--with": st.sampled_from([*PLUGINS, "nowhere.py", "", "."]), "--fresh": st.none(),
        "--reference": st.none(), "--dask": some(["local"]), "--log-degree": st.none(),
        "--scale": st.none(), "--largest": some(NUMBERS),
    }  # fmt: skip
    own = {
        "compare": ["--dimensions", "--methods", "--sets", "--time-limit", "--memory-limit",
                    "--seeds", "--samples", "--repeats", "--target", "--figure7-limit", "--preset",
                    "--with", "--fresh", "--reference"],
        "bench": ["--time-limit", "--memory-limit", "--fresh", "--log-degree", "--scale",
                  "--largest"],
        "stress": ["--dimensions", "--cells", "--fresh"],
        "propositions": ["--instances", "--seed", "--fresh", "--dimensions"],
        "study explain": ["--search", "--graphs", "--seed", "--fresh", "--dask"],
        "study shift": ["--tuned", "--graphs", "--seed", "--fresh", "--dask"],
        "figures": ["--trials", "--seed", "--preset", "--fresh", "--dask"],
        "study temperature": ["--seed"],
        "study": [],
    }  # fmt: skip
    command = draw(st.sampled_from([*own, "compare", "compare", "magic", ""]))
    known = own.get(command, [])
    chosen = draw(st.lists(st.sampled_from(known or list(options)), max_size=3, unique=True))
    if draw(st.integers(0, 9)) == 0:
        chosen.append(draw(st.sampled_from(list(options))))
    line = command.split(" ")
    for name in chosen:
        value = draw(options[name])
        line += [name] if value is None else [f"{name}={value}"]
    if command == "figures":
        line += draw(st.lists(some(["gamma", "radius", "none"]), max_size=2))
    if command == "propositions":
        line += draw(st.lists(some(["Lemma 1", "lemma", "Lemma 9", ""]), max_size=2))
    place = draw(st.sampled_from(["out", "out", "file/below", "file", "deep/er", "x" * 300, ""]))
    return line, place


@FUZZ
@given(command_lines())
def test_a_command_line_is_carried_out_or_refused_with_a_sentence(tmp_path_factory, drawn):
    line, place = drawn
    folder = tmp_path_factory.mktemp("line")
    (folder / "file").write_text("")
    for name, code in PLUGINS.items():
        (folder / name).write_text(code)
    line = [
        f"--with={folder / part.removeprefix('--with=')}" if part.startswith("--with=") else part
        for part in line
    ]
    said = run_command([*line, f"--output={folder / place}"])
    event("carried out" if said.code < 2 else "refused")
