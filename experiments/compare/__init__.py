"""``wdro compare``: every formulation and solver, cross-checked and timed against d.

grid.py lists problems and methods, crosscheck.py compares the answers, report.py describes them.
"""
