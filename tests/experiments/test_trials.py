"""Trials: saved one by one, resumed, the same for any number of processes."""

import pytest
from trials import Task, draw

from experiments.measuring.parallel import run_trials
from experiments.measuring.store import Store
from wdro_cvx import WdroError


@pytest.mark.slow
def test_rows_do_not_depend_on_the_number_of_processes(tmp_path):
    tasks = [Task(seed) for seed in range(6)]
    one = run_trials(tasks, draw, Store(tmp_path / "one", "code"), "test", jobs=1)
    two = run_trials(tasks, draw, Store(tmp_path / "two", "code"), "test", jobs=2)
    assert one == two == [draw(task) for task in tasks]


@pytest.mark.parametrize(("bad", "reason"), [(13, "RuntimeError: unlucky"), (14, "exit code 7")])
def test_a_trial_that_fails_stops_no_other_and_the_rest_is_kept(bad, reason, tmp_path):
    log = tmp_path / "log"
    store = Store(tmp_path, "code")
    tasks = [Task(seed, str(log)) for seed in (1, 2, bad, 3)]
    with pytest.raises(WdroError, match=f"1 of 4 trials failed.*seed={bad}.*{reason}"):
        run_trials(tasks, draw, store, "test", jobs=1)
    good = [task for task in tasks if task.seed != bad]
    rows = run_trials(good, draw, store, "test", jobs=1)
    assert [row["value"] for row in rows] == [draw(Task(seed))["value"] for seed in (1, 2, 3)]
    assert log.read_text().split() == ["1", "2", str(bad), "3"]  # nothing was computed twice


def test_other_code_computes_again_and_says_so(tmp_path, capsys):
    log = tmp_path / "log"
    tasks = [Task(1, str(log))]
    for code in ("before", "after", "before"):
        run_trials(tasks, draw, Store(tmp_path, code), "test", jobs=1)
    assert log.read_text().split() == ["1", "1"]
    assert "1 stored results were made with other code" in capsys.readouterr().err
