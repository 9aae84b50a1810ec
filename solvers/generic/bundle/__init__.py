"""A bundle of worst cases, for sets that offer nothing else."""

from solvers.generic.bundle.ascent import bundle_ascent

__all__ = ["bundle_ascent"]
