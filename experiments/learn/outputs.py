"""Choose and check the folders of results, before slow libraries are imported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.measuring.files import RUNS, check_writable
from wdro_cvx import DataError

FILES = ("edges.csv", "laplacian.npz", "graph.graphml", "graph.png", "graph.pdf", "graph.html",
         "summary.md", "proof.json")  # fmt: skip


def folders_for(tables: Sequence[Path], output: Path | None) -> dict[Path, Path]:
    """Return the folder of each table's graph; several tables share a parent folder."""
    if len(tables) == 1 and output is not None:
        return {tables[0]: output}
    folders = {table: (output or RUNS / "learn") / table.stem for table in tables}
    if len(set(folders.values())) < len(tables):
        raise DataError("Two tables have the same name; learn them one by one, with --output.")
    return folders


def check_output(folder: Path, inputs: Sequence[Path], force: bool) -> None:
    """Refuse a folder that holds an input or, unless forced, results."""
    targets = [folder / name for name in FILES]
    for path in inputs:
        if path.resolve() in [target.resolve() for target in targets]:
            raise DataError(f"The output would overwrite the input {path}; use another --output.")
    check_writable(folder)
    found = [target.name for target in targets if target.exists()]
    if found and not force:
        raise DataError(
            f"{folder} already holds {', '.join(found)}. Use --force to replace them, or another "
            "--output."
        )
