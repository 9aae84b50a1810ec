"""``python -m wdro_cvx`` is the ``wdro`` command, whatever folders the working directory has.

Python puts that directory first on its path, where a folder ``solvers`` or ``experiments`` of the
user's would take the place of ours.
"""

import sys
from importlib import import_module
from pathlib import Path

if not sys.flags.safe_path:
    sys.path[0] = str(Path(__file__).parents[1])
# By name: this room imports no other, and this is no part of its vocabulary.
sys.exit(import_module("experiments.__main__").main())
