"""The common parts of a solver run: a bracket of the optimum, a clock, a display, threads."""
