"""The field's algorithms for log-degree graphs, written from their papers: opponents, not solvers.

They are given what they lack at home: the duality gap as their stopping rule, in place of relative
changes, and step sizes that were tuned on the bench's own instances (docs/log-degree.md).
"""
