"""What any run of a solver has: a bracket of the optimum, a clock, a display, its threads."""
