"""``wdro propositions``: every claim of the paper put to the test.

claims.py says what a claim is and when it holds; gaussian.py, convexity.py, general.py, norms.py,
algorithms.py, omissions.py, errata.py and worst.py hold one function per claim; run.py tries them,
finding.py and report.py say what came of it.
"""
