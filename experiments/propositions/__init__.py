"""``wdro propositions``: every statement of the paper, tried on random instances.

proposition.py says what a proposition is and when it holds, drawn.py draws instances, and routes.py
holds the computations that several propositions share. gaussian.py, convexity.py, general.py,
algorithms.py, errata.py and estimators.py hold one function for each proposition. trial.py tries
one of them, and study.py runs them all and writes the ledger.
"""
