"""``wdro figures``: the paper's experiments on synthetic data.

learning.py is shared with ``wdro study explain``: models, one learned graph and its scores, and the
printed tables. statements.py tests the statements of the paper, and chosen.py chooses candidates.
trials.py has the settings and trials of the experiments, and catalogue.py their figures. study.py
runs and reports them.
"""
