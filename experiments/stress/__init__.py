"""``wdro stress``: test ``solve`` on extreme problems.

grid.py draws the problems, study.py solves them, and conic.py compares times with conic forms.
"""
