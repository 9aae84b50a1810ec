"""``wdro study explain``: find settings, unstated in the paper, that reproduce its tables.

trial.py learns and scores one graph, settings.py searches, choices.py has three ways to choose eta
and radius, statements.py tests the paper's statements, study.py reports and drawing.py draws.
"""
