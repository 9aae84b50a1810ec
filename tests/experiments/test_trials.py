"""Trials: saved one by one, resumed, the same for any number of processes."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from experiments.trials import forget, run_trials


@dataclass(frozen=True)
class Task:
    seed: int
    log: str = ""

    @property
    def key(self):
        return f"task-{self.seed}"


def trial(task):
    if task.log:
        with open(task.log, "a") as file:
            file.write(f"{task.seed}\n")
    if task.seed == 13:
        raise RuntimeError("unlucky")
    return {"value": float(np.random.default_rng(task.seed).standard_normal())}


def test_rows_do_not_depend_on_the_number_of_processes(tmp_path):
    tasks = [Task(seed) for seed in range(6)]
    one = run_trials(tasks, trial, tmp_path / "one", "test", jobs=1)
    two = run_trials(tasks, trial, tmp_path / "two", "test", jobs=2)
    assert one == two == [trial(task) for task in tasks]


def test_a_broken_run_resumes_where_it_was(tmp_path):
    log = tmp_path / "log"
    tasks = [Task(seed, str(log)) for seed in (1, 2, 13, 3)]
    with pytest.raises(RuntimeError, match="unlucky"):
        run_trials(tasks, trial, tmp_path / "cells", "test", jobs=1)
    assert sorted(path.stem for path in (tmp_path / "cells").iterdir()) == ["task-1", "task-2"]
    tasks = [task for task in tasks if task.seed != 13]
    rows = run_trials(tasks, trial, tmp_path / "cells", "test", jobs=1)
    assert [row["value"] for row in rows] == [trial(Task(seed))["value"] for seed in (1, 2, 3)]
    assert log.read_text().split() == ["1", "2", "13", "3"]  # nothing was computed twice
    assert json.loads((tmp_path / "cells" / "task-3.json").read_text()) == rows[-1]
    forget(tmp_path / "cells")
    assert not (tmp_path / "cells").exists()
