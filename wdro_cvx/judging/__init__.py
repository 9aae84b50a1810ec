"""The judge's two back ends: one for d × d matrices, one for edge lists.

Their interface and shared rules are in wdro_cvx/judging/court.py and wdro_cvx/judge.py.
"""
