"""Attack the judge and the solvers with hostile data and forged certificates."""
