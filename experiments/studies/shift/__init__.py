"""``wdro shift``: does robustness pay? Models tuned alike, then tested on what they did not see.

grid.py holds models, candidates and what shifts, trial.py learns and scores one graph, tuning.py
chooses and compares; run.py runs, drawing.py draws and report.py tells.
"""
