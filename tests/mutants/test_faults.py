"""The table of planted faults fits the code; ``make mutants`` plants them."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def test_every_fault_has_its_place_in_the_code():
    from faults import FAULTS

    lost = [
        (file, text)
        for file, (_, texts) in FAULTS.items()
        for text, _ in texts
        if (HERE.parents[1] / file).read_text().count(text) != 1
    ]
    assert lost == []
