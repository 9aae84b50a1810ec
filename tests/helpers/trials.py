"""Trials for the tests of the runner, in a module that worker processes can import."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Task:
    seed: int
    log: str = ""


def draw(task):
    """Return a random number; seed 13 raises, 14 kills the process, 15 hangs."""
    if task.log:
        with Path(task.log).open("a") as file:
            file.write(f"{task.seed}\n")
    if task.seed == 13:
        raise RuntimeError("unlucky")
    if task.seed == 14:
        os._exit(7)
    if task.seed == 15:
        time.sleep(3600)
    return {"value": float(np.random.default_rng(task.seed).standard_normal())}


def slow(task):
    """Return the seed after 0.3 s."""
    time.sleep(0.3)
    return {"value": task.seed}
