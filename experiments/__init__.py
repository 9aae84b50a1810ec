"""Runs over the formulations and solvers: comparisons, figures, tables, the `wdro` command."""
