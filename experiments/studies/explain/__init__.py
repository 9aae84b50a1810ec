"""``wdro study explain``: find settings, unstated in the paper, that reproduce its tables.

trial.py learns and scores one graph, settings.py searches, choices.py has three ways to choose eta
and radius, study.py tests the paper's statements, reports and draws.
"""
