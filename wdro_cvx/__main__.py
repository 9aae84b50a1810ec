"""Run the ``wdro`` command with ``python -m wdro_cvx``.

Python puts the working directory first on its path. A folder ``solvers`` or ``experiments`` there
would hide the installed package, so the entry is replaced.
"""

import sys
from importlib import import_module
from pathlib import Path

if not sys.flags.safe_path:
    sys.path[0] = str(Path(__file__).parents[1])
# Imported by name, because wdro_cvx must not depend on the other packages.
sys.exit(import_module("experiments.__main__").main())
