"""The hard case at scale: a splitting whose dual is a coupling, in factors of low rank."""

from solvers.large.coupled.admm import Splitting

__all__ = ["Splitting"]
