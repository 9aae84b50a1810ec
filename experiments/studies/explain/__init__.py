"""``wdro explain``: which settings, of those that the paper leaves open, explain its tables.

grid.py says what is tried, trial.py learns and scores one graph, scores.py stacks the trials,
settings.py searches, columns.py picks in three ways, claims.py puts the paper's sentences to each
(verdicts.py has the words);
run.py runs both stages, drawing.py draws and report.py tells.
"""
