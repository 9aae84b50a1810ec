"""How much memory this process has, and has had since it was asked to look.

A peak that the making of the data left behind would hide what the solver takes, so that it is
forgotten first, where the system can.
"""

from __future__ import annotations

import resource
from pathlib import Path

_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_KIB = 1024.0


def current_mb(fresh_peak: bool = False) -> float:
    """Return the memory in MiB; with ``fresh_peak`` forget what the peak was before."""
    if not _STATUS.exists():
        return _highest()
    if fresh_peak:
        try:
            _FORGET.write_text("5")
        except OSError:  # not allowed here: then only what exceeds the old peak shows
            return _highest()
    return _field("VmRSS")


def peak_mb() -> float:
    """Return the most memory in MiB since the peak was forgotten, or since the start."""
    return _field("VmHWM") if _STATUS.exists() else _highest()


def _field(name: str) -> float:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return float(line.split()[1]) / _KIB
    return _highest()


def _highest() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KIB
