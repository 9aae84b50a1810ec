"""``wdro study validate``: compare RobustGraph with common methods on data with a known graph.

sources.py has the data, methods.py the methods and their scores, trials.py the trials, study.py the
report. docs/validation.md records what was fixed before the first run.
"""
