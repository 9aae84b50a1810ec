"""``wdro study edges``: compare defaults of RobustGraph by the edges that they select.

docs/validation.md fixes data, rules, score and decision before the first run.
"""
