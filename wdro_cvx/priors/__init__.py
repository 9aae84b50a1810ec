"""Priors: constraints and costs of a graph that do not depend on the data."""

from wdro_cvx.priors.base import DegreePrior, stack_priors
from wdro_cvx.priors.frobenius import Frobenius, frobenius_of
from wdro_cvx.priors.log_degree import LogDegree
from wdro_cvx.priors.trace import TraceRule

__all__ = ["DegreePrior", "Frobenius", "LogDegree", "TraceRule", "frobenius_of", "stack_priors"]
