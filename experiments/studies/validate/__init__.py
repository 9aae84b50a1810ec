"""``wdro study validate``: data with a known graph, RobustGraph against what others would use.

sources.py has the data, methods.py the methods and their scores, trials.py the trials, study.py the
report. docs/validation.md says what was fixed before anything was run.
"""
