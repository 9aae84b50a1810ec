"""Run the ``wdro`` command with ``python -m wdro_cvx``.

Python puts the working directory first on its path. A folder ``solvers`` or ``experiments`` there
would hide the installed package, so the entry is replaced.
"""

import sys
from importlib import import_module
from pathlib import Path

if not sys.flags.safe_path:
    sys.path[0] = str(Path(__file__).parents[1])
# By name: this room imports no other, and this is no part of its vocabulary.
sys.exit(import_module("experiments.__main__").main())
