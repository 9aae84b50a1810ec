"""Solvers for transport sets with a nonsmooth risk: interior point, and ADMM for many edges."""
