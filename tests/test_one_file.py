"""A new set, formulation or solver needs only one file in the right folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

FILES = {
    "wdro_cvx/ambiguity/mine.py": """
from dataclasses import dataclass
from wdro_cvx.ambiguity.base import register_ambiguity
from wdro_cvx.ambiguity.gelbrich import GaussianBall

@register_ambiguity
@dataclass(frozen=True)
class MySet(GaussianBall):
    pass
""",
    "formulations/mine.py": """
from formulations.base import register
from formulations.robust_premium import RobustPremium
from wdro_cvx.ambiguity import ambiguity_names

@register
class MyForm(RobustPremium):
    claims = (ambiguity_names()["my-set"],)
""",
    "solvers/paper/mine.py": """
from dataclasses import dataclass
from solvers.base import register
from solvers.paper.projected_gradient import ProjectedGradient

@register
@dataclass(frozen=True)
class MySolver(ProjectedGradient):
    pass
""",
}

LOOK = """
import formulations, solvers, wdro_cvx
print(wdro_cvx.__file__)
print("MySet" in wdro_cvx.registered_ambiguities(), "MyForm" in formulations.registered(),
      "MySolver" in solvers.registered())
"""


def test_files_register_themselves(tmp_path):
    for room in ("wdro_cvx", "formulations", "solvers"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", LOOK], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    where, found = done.stdout.splitlines()
    assert Path(where).is_relative_to(tmp_path)
    assert found == "True True True"
