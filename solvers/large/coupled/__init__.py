"""The hard case at scale: an ADMM whose dual is a coupling in low-rank factors."""

from solvers.large.coupled.admm import LowRankADMM

__all__ = ["LowRankADMM"]
