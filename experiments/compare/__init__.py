"""``wdro compare``: cross-check every formulation and solver, and time them against d.

grid.py lists problems and methods, crosscheck.py compares the answers, report.py describes them.
"""
