"""Try one proposition on one instance; importing this module registers all propositions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Imported because these modules, and those that they import, register the propositions.
from experiments.propositions import algorithms, errata, estimators, general  # noqa: F401
from experiments.propositions.proposition import PROPOSITIONS


@dataclass(frozen=True)
class PropositionTask:
    """One proposition on one instance; if ``dimensions`` are given, they are taken in turn."""

    proposition: str
    index: int
    seed: int
    dimensions: tuple[int, ...] = ()


def try_task(task: PropositionTask) -> dict[str, object]:
    """Try one proposition on one instance."""
    found = PROPOSITIONS[task.proposition].attempt(task.seed, task.index, task.dimensions)
    data = {name: np.asarray(value).tolist() for name, value in found.data.items()}
    return {"printed": found.printed, "corrected": found.corrected, "data": data}
