"""``wdro study shift``: tune all models alike and test under shifts whether robustness pays.

trial.py learns and tests one graph, tuning.py chooses and compares, study.py reports.
"""
