"""``wdro bench --scale``: time and memory against the number of vertices and of signals.

grid.py says what is measured, measure.py measures one cell in a process of its own, report.py draws
and writes; run.py runs them.
"""
