"""``wdro study shift``: test whether balls pay, and which second moment stands which trouble.

trouble.py spoils training signals, risks.py tests a graph, trial.py learns one table with every
candidate, tuning.py chooses and compares, study.py reports. docs/experiments.md fixes question,
settings and decision before the run.
"""
