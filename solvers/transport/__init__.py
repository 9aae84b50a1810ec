"""Solvers for transport sets with a nonsmooth risk: an interior point, and ADMM for many edges."""
