"""Results on disk: one small file per measurement, written at once and atomically.

A run that is killed loses the measurement under way and nothing else; the next run takes up where
it was.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.cell import Cell


class Store:
    """The measurements below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cells = folder / "cells"
        self.cells.mkdir(parents=True, exist_ok=True)

    def clear(self) -> None:
        """Forget all measurements."""
        shutil.rmtree(self.cells)
        self.cells.mkdir()

    def load(self, cell: Cell) -> dict[str, Any] | None:
        """Return the stored row of a cell, None if there is none."""
        path = self.cells / f"{cell.key}.json"
        return json.loads(path.read_text()) if path.exists() else None

    def laplacian(self, cell: Cell) -> np.ndarray | None:
        """Return the stored Laplacian of a cell, None if there is none."""
        path = self.cells / f"{cell.key}.npy"
        return np.load(path) if path.exists() else None

    def save(self, cell: Cell, row: dict[str, Any], laplacian: np.ndarray | None) -> dict[str, Any]:
        """Store a row, with the cell that it belongs to; return it."""
        full = flatten(cell, row)
        if laplacian is not None:
            part = self.cells / f"{cell.key}.npy.part"
            with part.open("wb") as file:
                np.save(file, laplacian)
            os.replace(part, self.cells / f"{cell.key}.npy")
        write_atomically(self.cells / f"{cell.key}.json", json.dumps(full, indent=1))
        return full


def flatten(cell: Cell, row: dict[str, Any]) -> dict[str, Any]:
    """Return one flat row: what was measured and what came of it."""
    flat = asdict(cell)
    instance: dict[str, Any] = flat.pop("instance")
    return instance | flat | row


def write_atomically(path: Path, text: str) -> None:
    """Write a text file so that readers see the old one or the new one, never half of it."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table as CSV, atomically."""
    write_atomically(path, table.to_csv(index=False, float_format="%.10g"))
