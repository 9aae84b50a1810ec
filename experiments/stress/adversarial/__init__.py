"""Attacks on the judge and the solvers: hostile data and forged certificates, with exact truth."""
