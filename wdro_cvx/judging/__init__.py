"""The judge's two back ends: one for matrices of d × d numbers, one for lists of edges.

What they share, and what the rules are, is in wdro_cvx/judging/court.py and wdro_cvx/judge.py.
"""
