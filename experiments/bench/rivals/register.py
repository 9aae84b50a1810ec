"""Register the rivals by name; only the processes that measure them run this file."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.bench.rivals.fdpg import FDPG
from experiments.bench.rivals.low_rank import LowRank
from experiments.bench.rivals.primal_dual import PrimalDual
from solvers import register

register(PrimalDual)
register(FDPG)
register(LowRank)


@register
@dataclass(frozen=True)
class RestartedFDPG(FDPG):
    """FDPG with restart."""

    restart: bool = True


@register
@dataclass(frozen=True)
class LocalFDPG(RestartedFDPG):
    """FDPG with restart and a step size for the edges in use."""

    local: bool = True
