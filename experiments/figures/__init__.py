"""``wdro figures``: the paper's experiments on synthetic data, one file each.

experiment.py says what an experiment is, learning.py holds the models and the choice of their
parameters, statistics.py the comparison of means, drawing.py the look; run.py runs them and
report.py puts the numbers beside the paper's.
"""
