"""End processes when the process that started them ends, for whatever reason."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable

_POLL_S = 0.5
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def end_with_parent(parent: int, how: signal.Signals = signal.SIGKILL) -> None:
    """Send this process a signal as soon as ``parent`` is gone.

    On Linux the kernel sends it at once; elsewhere a thread checks every half second.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, how)
        if os.getppid() != parent:  # the parent ended before prctl was called
            os.kill(os.getpid(), how)
    else:
        threading.Thread(target=_watch, args=(parent, how), daemon=True).start()


def _watch(parent: int, how: signal.Signals) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_S)
    os.kill(os.getpid(), how)


def kill_groups(leaders: Iterable[int]) -> None:
    """Kill the leaders of process groups and their groups."""
    for leader in leaders:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(leader, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
