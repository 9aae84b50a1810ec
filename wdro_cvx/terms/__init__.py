"""Terms: convex functions of the Laplacian beside the worst-case risk."""

import importlib
import pkgutil

from wdro_cvx.terms.base import Term, register_term, registered_terms
from wdro_cvx.terms.known_graph import KnownEdges, KnownGraph
from wdro_cvx.terms.log_det import LogDet
from wdro_cvx.terms.residuals import Residuals
from wdro_cvx.terms.stationarity import Stationarity

# Import all modules, so that new files register their terms.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "KnownEdges",
    "KnownGraph",
    "LogDet",
    "Residuals",
    "Stationarity",
    "Term",
    "register_term",
    "registered_terms",
]
