"""Terms: convex functions of the Laplacian beside the worst-case risk, one file each."""

import importlib
import pkgutil

from wdro_cvx.terms.base import Term, register_term, registered_terms
from wdro_cvx.terms.log_det import LogDet

# Import all modules, so that new files register their terms.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["LogDet", "Term", "register_term", "registered_terms"]
