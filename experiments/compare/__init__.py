"""``wdro compare``: every formulation and solver, cross-checked and timed against d.

grid.py says what is compared, crosscheck.py who agrees, figure7.py draws the paper's runtime
figure; run.py runs them and report.py tells.
"""
