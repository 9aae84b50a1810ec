"""``wdro figures``: the paper's experiments on synthetic data.

learning.py holds the models and trials.py what is tried with them. curves.py (Figures 2 to 6) and
tables.py (Figure 1, Tables 2 and 3, priors) draw the results and check what the paper says of them,
with the statistics and the look of comparison.py. study.py runs and reports.
"""
