"""``python -m experiments`` is the ``wdro`` command."""

import sys

from experiments.cli import main

sys.exit(main())
