"""``wdro propositions``: every claim of the paper put to the test.

claims.py says what a claim is and when it holds; gaussian.py, convexity.py, general.py, norms.py,
algorithms.py, errata.py and worst.py hold one function per claim; run.py tries them all, finding.py
and report.py say what came of it.
"""
