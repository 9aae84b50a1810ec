"""``wdro study coverage``: how often the set with the bootstrap's radius contains the truth.

trial.py counts the tables of one batch; study.py reports the shares.
"""
