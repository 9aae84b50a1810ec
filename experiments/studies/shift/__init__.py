"""``wdro study shift``: test whether balls pay, and which robust moment helps with which trouble.

tables.py draws signals, trouble.py spoils them, risks.py tests a graph, trial.py learns a table
with every candidate, tuning.py chooses and compares, study.py reports. docs/experiments.md fixes
question, settings and decision before the run.
"""
