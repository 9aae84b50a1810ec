"""Run the ``wdro`` command as a program; Ctrl-C also stops it while libraries load."""

from __future__ import annotations

import contextlib
import signal
import sys


def main() -> int:
    """Run the command line; return its exit code."""
    if sys.argv[1:2] == ["learn"] and not {"-h", "--help"} & set(sys.argv):
        with contextlib.suppress(OSError):
            print("  loading libraries", file=sys.stderr, flush=True)
    try:
        from experiments.cli import main as run
    except KeyboardInterrupt:  # libraries take a second to load
        print("\nwdro: stopped before it began.", file=sys.stderr)
        return 128 + signal.SIGINT
    return run()


if __name__ == "__main__":
    sys.exit(main())
