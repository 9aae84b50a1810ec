"""``wdro stress``: test ``solve`` on extreme problems, and the judge on forged certificates.

grid.py draws the problems, study.py solves them, conic.py compares times with conic forms, and
adversarial/ attacks the judge.
"""
