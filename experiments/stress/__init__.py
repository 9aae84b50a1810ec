"""``wdro stress``: extreme problems for ``solve``, and forgeries for the judge.

grid.py draws the problems, study.py solves them, conic.py times them against conic forms, and
adversarial/ attacks the judge.
"""
