"""``wdro figures``: the paper's experiments on synthetic data.

learning.py holds what ``wdro study explain`` shares: models, one learned graph and its scores, the
printed tables. statements.py tests what the paper says, chosen.py chooses candidates. trials.py has
the settings and trials of the experiments, catalogue.py their figures, and study.py runs and
reports.
"""
