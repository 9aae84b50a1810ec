"""Choosing what the data do not fix: radius, strength of the prior, stability of edges."""
