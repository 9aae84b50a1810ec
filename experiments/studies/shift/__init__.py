"""``wdro study shift``: does robustness pay? All models tuned alike, then tested under shifts.

trial.py learns and tests one graph, tuning.py chooses and compares, study.py reports.
"""
