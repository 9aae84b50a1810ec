"""``wdro validate``: data of which the graph is known, ours against what others would use.

sources.py has the data, methods.py the methods, scoring.py the scores; rules.py compares ways to
choose the radius, coverage.py checks what the bootstrap promises. docs/validation.md says what was
fixed before anything ran.
"""
