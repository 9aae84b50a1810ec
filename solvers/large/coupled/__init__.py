"""The hard case at scale: an ADMM whose dual is a coupling, in factors of low rank."""

from solvers.large.coupled.admm import LowRankADMM

__all__ = ["LowRankADMM"]
